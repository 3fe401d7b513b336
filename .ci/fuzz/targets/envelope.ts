import assert from "node:assert/strict";
import { canonicalBytes } from "../../../lib/core/canonical_json.ts";
import { TracewrightError } from "../../../lib/core/error.ts";
import { toBase64 } from "../../../lib/store/base64.ts";
import type { BundleCode } from "../../../lib/store/bundle_error.ts";
import { type Envelope, IN_TOTO_PAYLOAD, parseEnvelope, verifyEnvelope } from "../../../lib/store/dsse.ts";
import { readVerifyingKey } from "../../../lib/store/signing_key.ts";
import { releasedRun, text, textFile } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly BundleCode[] = ["bad_envelope"];
const SEEDS = releasedRun().ending("/envelope.json").map(text);
const SIGNED = SEEDS.map((seed) => (JSON.parse(seed) as { payload: string }).payload);
const key = await readVerifyingKey(textFile("fixtures/release/smoke-v0.1.0.pub.pem"));

async function isSigned(envelope: Envelope): Promise<boolean> {
  try {
    await verifyEnvelope(envelope, key);
    return true;
  } catch (error) {
    if (error instanceof TracewrightError && ["unknown_signer", "bad_signature"].includes(error.code)) {
      return false;
    }
    throw error;
  }
}

/** Signed envelopes, and whether what is changed is still signed. */
export default target<Envelope>({
  codes: CODES,
  make: jsonInputs(SEEDS),
  read: parseEnvelope,
  async hold(envelope, input) {
    const again = canonicalBytes({
      payload: toBase64(envelope.payload),
      payloadType: IN_TOTO_PAYLOAD,
      signatures: [{ keyid: envelope.keyId, sig: toBase64(envelope.signature) }],
    });
    equalBytes(again, input, "written again");
    const payload = toBase64(envelope.payload);
    if (await isSigned(envelope)) assert.ok(SIGNED.includes(payload), "nobody has signed this");
  },
});
