import { readVerifyingKey } from "../../../lib/store/signing_key.ts";
import { bytes, text, textFile } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { target } from "../target.ts";
import { fromBase64, toBase64 } from "../../../lib/store/base64.ts";

const PUBLIC = textFile("fixtures/release/smoke-v0.1.0.pub.pem");
const seeds = [bytes(PUBLIC)];
const der = fromBase64(PUBLIC.split("\n").slice(1, -2).join(""))!;

/** Public keys, and signatures that come with them. */
export default target({
  codes: ["bad_key"],
  make(random) {
    if (random.integer(3) === 0) return mutateBytes(seeds[0]!, seeds, random);
    const lines = toBase64(mutateBytes(der, [der], random)).match(/.{1,64}/g) ?? [];
    return bytes(["-----BEGIN PUBLIC KEY-----", ...lines, "-----END PUBLIC KEY-----", ""].join("\n"));
  },
  read: (input) => readVerifyingKey(text(input)),
  async hold(key, input) {
    equalBytes(bytes(key.pem), input, "written again");
    for (let length = 0; length < 74; length++) {
      const signature = Uint8Array.from({ length }, (_, i) => [0x30, length - 2, 2, 32][i] ?? i);
      if (await key.verify(input, signature)) throw new Error("this is no signature");
    }
  },
});
