import { z } from "zod";
import { canonicalBytes, parseCanonical } from "../core/canonical_json.ts";
import { schemaProblem } from "../core/schema_problem.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { bundleError } from "./bundle_error.ts";
import type { SigningKey, VerifyingKey } from "./signing_key.ts";

/** The payload type of in-toto statements. */
export const IN_TOTO_PAYLOAD = "application/vnd.in-toto+json";
/** Largest envelope, in bytes. */
export const MAX_ENVELOPE = 1024 * 1024;

const encoder = new TextEncoder();

/**
 * What is signed: the pre-authentication encoding of DSSE v1, `DSSEv1 <length> <type> <length> <payload>` with lengths
 * in bytes (secure-systems-lab/dsse, protocol.md, "Signature Definition").
 */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const type = encoder.encode(payloadType);
  const head = encoder.encode(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `);
  const bytes = new Uint8Array(head.length + payload.length);
  bytes.set(head);
  bytes.set(payload, head.length);
  return bytes;
}

const envelopeSchema = z.strictObject({
  payload: z.string(),
  payloadType: z.literal(IN_TOTO_PAYLOAD),
  signatures: z.tuple([z.strictObject({ keyid: z.string().regex(/^[0-9a-f]{64}$/), sig: z.string() })]),
});

/** A signed payload, not yet believed. */
export interface Envelope {
  readonly payload: Uint8Array<ArrayBuffer>;
  /** Which key it says it is signed with. */
  readonly keyId: string;
  /** DER. */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Signs a payload; the result is the file of the envelope, canonical JSON on one line. */
export async function signEnvelope(payload: Uint8Array, key: SigningKey): Promise<Uint8Array<ArrayBuffer>> {
  const signature = await key.sign(preAuthEncoding(IN_TOTO_PAYLOAD, payload));
  return canonicalBytes({
    payload: toBase64(payload),
    payloadType: IN_TOTO_PAYLOAD,
    signatures: [{ keyid: key.verifying.id, sig: toBase64(signature) }],
  });
}

/**
 * Reads an envelope strictly: canonical JSON, exactly these fields, one signature, base64 in its one form.
 *
 * @throws TracewrightError "bad_envelope"
 */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  const refuse = (message: string) => bundleError("bad_envelope", { message });
  if (bytes.length > MAX_ENVELOPE) throw refuse(`an envelope has at most ${MAX_ENVELOPE} bytes`);
  let parsed;
  try {
    parsed = envelopeSchema.parse(parseCanonical(bytes));
  } catch (cause) {
    const { field, message } = schemaProblem(cause);
    throw bundleError("bad_envelope", { message: `this is not an envelope: ${message}`, field, cause });
  }
  const [{ keyid, sig }] = parsed.signatures;
  const payload = fromBase64(parsed.payload);
  const signature = fromBase64(sig);
  if (payload === undefined || signature === undefined) throw refuse("a field is not base64 in its one form");
  return { payload, keyId: keyid, signature };
}

/**
 * Checks who signed an envelope.
 *
 * @throws TracewrightError "unknown_signer" where it says another key, "bad_signature"
 */
export async function verifyEnvelope(envelope: Envelope, key: VerifyingKey): Promise<void> {
  if (envelope.keyId !== key.id) {
    throw bundleError("unknown_signer", {
      message: "the envelope names another key",
      expected: key.id,
      actual: envelope.keyId,
    });
  }
  if (await key.verify(preAuthEncoding(IN_TOTO_PAYLOAD, envelope.payload), envelope.signature)) return;
  throw bundleError("bad_signature", {
    message: "the signature is not this key's over this payload",
    key: key.id,
    hint: "the statement or the signature was changed; believe neither",
  });
}
