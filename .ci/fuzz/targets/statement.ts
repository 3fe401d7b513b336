import { canonicalBytes } from "../../../lib/core/canonical_json.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import type { BundleCode } from "../../../lib/store/bundle_error.ts";
import { fromBase64 } from "../../../lib/store/base64.ts";
import { resultId } from "../../../lib/store/manifest.ts";
import { parseStatement } from "../../../lib/store/statement.ts";
import { releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly BundleCode[] = ["bad_attestation"];
const released = releasedRun();
const run = { runId: digestOf(released.manifest), resultId: resultId(released.dag), dag: released.dag };
const seeds = released.ending("/envelope.json")
  .map((envelope) => text(fromBase64((JSON.parse(text(envelope)) as { payload: string }).payload)!));

/** What is said of a run, beside it. */
export default target({
  codes: CODES,
  make: jsonInputs(seeds),
  read: (input) => parseStatement(input, run),
  hold: (statement, input) => equalBytes(canonicalBytes(statement), input, "written again"),
});
