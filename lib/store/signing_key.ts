import { sha256Hex } from "../core/digest.ts";
import { derOfSignature, signatureOfDer } from "./_ecdsa_der.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { bundleError } from "./bundle_error.ts";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const PUBLIC = "PUBLIC KEY";
const PRIVATE = "PRIVATE KEY";

/** A key that checks signatures. */
export interface VerifyingKey {
  /** SHA-256 of the key's DER form (SubjectPublicKeyInfo), 64 hexadecimal digits: what envelopes call the key. */
  readonly id: string;
  /** The key as a file, PEM. */
  readonly pem: string;
  /** Whether a DER signature over a message is this key's. */
  verify(message: Uint8Array<ArrayBuffer>, signature: Uint8Array): Promise<boolean>;
}

/** A key that signs: ECDSA on P-256 over SHA-256. */
export interface SigningKey {
  /** The half that others may know. */
  readonly verifying: VerifyingKey;
  /** A signature over a message, DER, as `openssl dgst -sha256 -verify` takes it. */
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

/** Both halves of a new key as files, PEM. The private one has no password: keep it where others cannot read it. */
export async function generateKeyFiles(): Promise<
  { readonly privateKey: string; readonly publicKey: string }
> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]) as CryptoKeyPair;
  return {
    privateKey: pemOf(PRIVATE, await crypto.subtle.exportKey("pkcs8", pair.privateKey)),
    publicKey: pemOf(PUBLIC, await crypto.subtle.exportKey("spki", pair.publicKey)),
  };
}

/**
 * Reads a public key (SubjectPublicKeyInfo in PEM), in the one form that openssl and this program write.
 *
 * @throws TracewrightError "bad_key"
 */
export async function readVerifyingKey(pem: string): Promise<VerifyingKey> {
  const der = derOfPem(PUBLIC, pem);
  const key = await working(() => crypto.subtle.importKey("spki", der, CURVE, true, ["verify"]));
  const canonical = pemOf(PUBLIC, await working(() => crypto.subtle.exportKey("spki", key)));
  // A second spelling of a key would have a second id.
  if (canonical !== pem) throw badKey("a P-256 point in full, without anything around it");
  return {
    id: sha256Hex(der),
    pem,
    async verify(message, signature) {
      const raw = signatureOfDer(signature);
      return raw !== undefined && await crypto.subtle.verify(SIGNATURE, key, raw, message);
    },
  };
}

/**
 * Reads a private key (PKCS #8 in PEM, without a password).
 *
 * @throws TracewrightError "bad_key"
 */
export async function readSigningKey(pem: string): Promise<SigningKey> {
  const der = derOfPem(PRIVATE, pem);
  const key = await working(() => crypto.subtle.importKey("pkcs8", der, CURVE, true, ["sign"]));
  const { kty, crv, x, y } = await working(() => crypto.subtle.exportKey("jwk", key));
  const half = { kty, crv, x, y } as JsonWebKey;
  const open = await working(() => crypto.subtle.importKey("jwk", half, CURVE, true, ["verify"]));
  return {
    verifying: await readVerifyingKey(
      pemOf(PUBLIC, await working(() => crypto.subtle.exportKey("spki", open))),
    ),
    async sign(message) {
      return derOfSignature(new Uint8Array(await crypto.subtle.sign(SIGNATURE, key, message)));
    },
  };
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines = toBase64(new Uint8Array(der)).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function derOfPem(label: string, pem: string): Uint8Array<ArrayBuffer> {
  const parts = /^-----BEGIN ([A-Z ]+)-----\n([A-Za-z0-9+/=\n]+)-----END ([A-Z ]+)-----\n$/.exec(pem);
  const der = parts?.[1] === label && parts[3] === label
    ? fromBase64(parts[2]!.replaceAll("\n", ""))
    : undefined;
  if (der === undefined) throw badKey(`one "${label}" in PEM`);
  return der;
}

/** Does something with a key. What the library takes in may still be no key: some of it shows only when it is given out. */
async function working<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw badKey("a key on the curve P-256"); // what the library says may quote the key
  }
}

/** Never shows what the file holds: it may be a secret. */
function badKey(expected: string) {
  return bundleError("bad_key", {
    message: "the file is not such a key",
    expected,
    hint:
      "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes a private key, openssl pkey -pubout its public half",
  });
}
