/** Bytes of r and of s on P-256. */
const HALF = 32;

function integer(half: Uint8Array): number[] {
  let start = 0;
  while (start < half.length - 1 && half[start] === 0) start++;
  const digits = [...half.subarray(start)];
  if (digits[0]! >= 0x80) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}

/** A P-256 signature as openssl takes it, DER (RFC 3279, section 2.2.3), from r and s side by side, as WebCrypto gives it. */
export function derOfSignature(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const body = [...integer(raw.subarray(0, HALF)), ...integer(raw.subarray(HALF))];
  return new Uint8Array([0x30, body.length, ...body]);
}

/** The reverse; undefined where the bytes are not the one DER form of a pair of numbers below 2^256. */
export function signatureOfDer(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const raw = new Uint8Array(2 * HALF);
  let at = 2;
  for (const end of [HALF, 2 * HALF]) {
    const length = der[at + 1] ?? 0;
    const digits = der.subarray(at + 2, at + 2 + length);
    const value = digits[0] === 0 ? digits.subarray(1) : digits;
    if (value.length > HALF) return undefined;
    raw.set(value, end - value.length);
    at += 2 + length;
  }
  // One way to write a pair: everything else falls out of the comparison.
  const again = derOfSignature(raw);
  return again.length === der.length && again.every((byte, i) => byte === der[i]) ? raw : undefined;
}
