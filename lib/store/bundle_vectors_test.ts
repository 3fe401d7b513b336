import { deepEqual, equal } from "node:assert/strict";
import { digestOf, toHex } from "../core/digest.ts";
import { parseEnvelope, preAuthEncoding, verifyEnvelope } from "./dsse.ts";
import { readVerifyingKey } from "./signing_key.ts";
import { TarWriter } from "./tar_writer.ts";

interface Vectors {
  readonly archives: readonly {
    readonly members: Readonly<Record<string, string>>;
    readonly size: number;
    readonly digest: string;
    readonly first_header: string;
  }[];
  readonly pre_auth_encodings: readonly {
    readonly type: string;
    readonly payload: string;
    readonly encoding: string;
  }[];
  readonly envelope: { readonly public_key: string; readonly key_id: string; readonly file: string };
}

const path = new URL("../../fixtures/vectors/bundle.json", import.meta.url);
const vectors = JSON.parse(Deno.readTextFileSync(path)) as Vectors;
const encoder = new TextEncoder();

Deno.test("the vectors: archives have the stated bytes", () => {
  for (const { members, size, digest, first_header } of vectors.archives) {
    const parts: Uint8Array[] = [];
    const writer = new TarWriter((bytes) => parts.push(bytes.slice()));
    for (const name of Object.keys(members).sort()) {
      const content = encoder.encode(members[name]);
      writer.add({ name, size: content.length }, [content]);
    }
    const summary = writer.finish();
    deepEqual([summary.digest, summary.size], [digest, size]);
    equal(toHex(parts[0] ?? new Uint8Array()), first_header);
  }
});

Deno.test("the vectors: what is signed has the stated bytes", () => {
  for (const { type, payload, encoding } of vectors.pre_auth_encodings) {
    deepEqual(preAuthEncoding(type, encoder.encode(payload)), encoder.encode(encoding));
  }
});

Deno.test("the vectors: the envelope is signed by the stated key", async () => {
  const { public_key, key_id, file } = vectors.envelope;
  const key = await readVerifyingKey(public_key);
  equal(key.id, key_id);
  const envelope = parseEnvelope(encoder.encode(file));
  await verifyEnvelope(envelope, key);
  equal(
    envelope.keyId,
    digestOf(Uint8Array.from(
      atob(public_key.split("\n").slice(1, -2).join("")),
      (character) => character.charCodeAt(0),
    )).slice("sha256:".length),
  );
});
