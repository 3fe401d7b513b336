import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { sha256Hex, toHex } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { derOfSignature, signatureOfDer } from "./_ecdsa_der.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { preAuthEncoding } from "./dsse.ts";
import { generateKeyFiles, readSigningKey, readVerifyingKey } from "./signing_key.ts";

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text) as Uint8Array<ArrayBuffer>;

/** The key pair and signature of the test vectors in DSSE's protocol.md, as numbers there; as files here. */
async function vectorKey(): Promise<string> {
  const coordinate = (decimal: string) => {
    const raw = BigInt(decimal).toString(16).padStart(64, "0").match(/../g) ?? [];
    return Uint8Array.from(raw, (pair) => parseInt(pair, 16));
  };
  const url = (raw: Uint8Array) => toBase64(raw).replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
  const key = await crypto.subtle.importKey(
    "jwk",
    {
      kty: "EC",
      crv: "P-256",
      x: url(coordinate("46950820868899156662930047687818585632848591499744589407958293238635476079160")),
      y: url(coordinate("5640078356564379163099075877009565129882514886557779369047442380624545832820")),
    },
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["verify"],
  );
  const der = new Uint8Array(await crypto.subtle.exportKey("spki", key));
  const lines = toBase64(der).match(/.{1,64}/g)?.join("\n");
  return `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;
}

const VECTOR_SIGNATURE =
  "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==";

Deno.test("preAuthEncoding() gives the bytes of the DSSE specification", () => {
  const text = (type: string, payload: string) =>
    new TextDecoder().decode(preAuthEncoding(type, bytes(payload)));
  equal(
    text("http://example.com/HelloWorld", "hello world"),
    "DSSEv1 29 http://example.com/HelloWorld 11 hello world",
  );
  equal(text("", ""), "DSSEv1 0  0 ");
  equal(text("é", "ü\n"), "DSSEv1 2 é 3 ü\n"); // lengths count bytes
});

Deno.test("VerifyingKey.verify() accepts the signature of the DSSE specification and no other", async () => {
  const key = await readVerifyingKey(await vectorKey());
  const message = preAuthEncoding("http://example.com/HelloWorld", bytes("hello world"));
  const raw = fromBase64(VECTOR_SIGNATURE) ?? new Uint8Array();
  equal(await key.verify(message, derOfSignature(raw)), true);
  for (let at = 0; at < raw.length; at += 9) {
    const wrong = raw.slice();
    wrong[at]! ^= 1;
    equal(await key.verify(message, derOfSignature(wrong)), false);
  }
  equal(await key.verify(bytes("hello world"), derOfSignature(raw)), false);
  equal(await key.verify(message, raw), false); // not DER
});

Deno.test("signatureOfDer() reads what derOfSignature() writes, and no other form of it", () => {
  const cases: [string, string, string][] = [
    // r, s and DER by hand: leading zeros go, a leading bit gets a zero in front
    ["01".padStart(64, "0"), "80".padStart(64, "0"), "30070201010202" + "0080"],
    ["00".repeat(32), "ff".repeat(32), "3026020100022100" + "ff".repeat(32)],
    ["7f" + "00".repeat(31), "0100".padStart(64, "0"), "30260220" + "7f" + "00".repeat(31) + "02020100"],
  ];
  const unhex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  for (const [r, s, der] of cases) {
    equal(toHex(derOfSignature(unhex(r + s))), der);
    equal(toHex(signatureOfDer(unhex(der)) ?? new Uint8Array()), r + s);
  }
  const wrong = [
    "",
    "30",
    "3006",
    "3006020101020180", // negative
    "300802010102030080",
    "300702010102020080" + "00", // something after it
    "31070201010202" + "0080",
    "30080201010203" + "000080", // a zero too many
    "3007020101020200" + "7f", // the same
    "308107020101020200" + "80", // long form of the length
    "3027020100022200" + "01" + "ff".repeat(32), // above 2^256
  ];
  for (const der of wrong) equal(signatureOfDer(unhex(der)), undefined, der);
});

Deno.test("a new key signs what its public half accepts, and has the digest of its DER as its id", async () => {
  const files = await generateKeyFiles();
  const key = await readSigningKey(files.privateKey);
  equal(key.verifying.pem, files.publicKey);
  const der = fromBase64(files.publicKey.split("\n").slice(1, -2).join("")) ?? new Uint8Array();
  equal(key.verifying.id, sha256Hex(der));
  const signature = await key.sign(bytes("message"));
  const verifying = await readVerifyingKey(files.publicKey);
  equal(await verifying.verify(bytes("message"), signature), true);
  equal(await verifying.verify(bytes("massage"), signature), false);
  const other = await readSigningKey((await generateKeyFiles()).privateKey);
  equal(await other.verifying.verify(bytes("message"), signature), false);
});

Deno.test("keys in any other form are refused, and never quoted", async () => {
  const { privateKey, publicKey } = await generateKeyFiles();
  const p384 = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, true, [
    "sign",
    "verify",
  ]);
  const spki = toBase64(new Uint8Array(await crypto.subtle.exportKey("spki", p384.publicKey)));
  const body = privateKey.split("\n").slice(1, -2).join("");
  const wrong = [
    "",
    publicKey.trimEnd(),
    publicKey + "\n",
    " " + publicKey,
    publicKey.replaceAll("\n", "\r\n"),
    publicKey.replace("\n", "\nx"),
    publicKey.replaceAll("PUBLIC", "PRIVATE"),
    publicKey.split("\n").toSpliced(1, 2, publicKey.split("\n").slice(1, 3).join("")).join("\n"),
    publicKey + publicKey,
    `-----BEGIN PUBLIC KEY-----\n${spki.match(/.{1,64}/g)?.join("\n")}\n-----END PUBLIC KEY-----\n`,
    `-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n`,
    privateKey,
  ];
  for (const pem of wrong) await rejects(readVerifyingKey(pem), (error) => hasCode(error, "bad_key"), pem);
  const secrets = [
    publicKey,
    privateKey.replaceAll("PRIVATE", "EC PRIVATE"),
    privateKey.replace("\n", "\nAAAA"),
    privateKey.trimEnd(),
  ];
  for (const pem of secrets) {
    await rejects(readSigningKey(pem), (error) => {
      ok(hasCode(error, "bad_key"));
      ok(!error.message.includes(body.slice(0, 20)) && !error.message.includes(body.slice(-20)));
      return true;
    });
  }
});

Deno.test("fromBase64() takes one form of every byte string", () => {
  const all = Uint8Array.from({ length: 100_000 }, (_, i) => i * 7);
  deepEqual(fromBase64(toBase64(all)), all);
  for (const text of ["YQ", "YQ=", "YR==", "Y Q=", "YQ==\n", "YQ==YQ==", "Y-==", "é", "=", "YQ==="]) {
    equal(fromBase64(text), undefined, text);
  }
});

Deno.test("readVerifyingKey() and readSigningKey() know what to say of a key with any byte changed", async () => {
  // Some of what the library takes in turns out to be no key only when it is given out.
  const { privateKey, publicKey } = await generateKeyFiles();
  const readers = [[publicKey, readVerifyingKey], [privateKey, readSigningKey]] as const;
  for (const [pem, read] of readers) {
    const [head = "", ...rest] = pem.trimEnd().split("\n");
    const der = fromBase64(rest.slice(0, -1).join("")) ?? new Uint8Array();
    for (let at = 0; at < der.length; at++) {
      const changed = der.slice();
      changed[at]! ^= 1;
      const body = toBase64(changed).match(/.{1,64}/g) ?? [];
      const file = [head, ...body, rest.at(-1), ""].join("\n");
      await read(file).catch((error) => ok(hasCode(error, "bad_key"), `byte ${at}: ${error}`));
    }
  }
});
