import { digestOfJson } from "../lib/core/digest.ts";
import { writeAttestation } from "../lib/store/attestations.ts";
import { signEnvelope } from "../lib/store/dsse.ts";
import { readRun } from "../lib/store/read_run.ts";
import { TEST_RESULT, testResultStatement } from "../lib/store/statement.ts";
import { ATTEST } from "./_bundle_specs.ts";
import { currentCodes } from "./_codes.ts";
import { command, executeCommand } from "./_command.ts";
import { loadSigningKey } from "./_key_file.ts";
import { verdictJson, verdictLines } from "./_verify.ts";
import { verifyApart } from "./_verify_apart.ts";
import { VERSION } from "./_version.ts";

/** `attest`: verifies, then states the verdict. A run that does not pass gets no statement. */
export const attest = command(ATTEST, async (options, { progress }) => {
  const key = await loadSigningKey(options.key);
  const run = readRun(options.run, { directory: options.runs });
  const result = await verifyApart({
    reference: `${run.path}/manifest.json`,
    directory: options.runs,
    runtime: "wasm",
    level: options.level,
    otherCode: options.otherCode,
    workers: 2,
  }, progress.verification(options.level));
  const statement = testResultStatement(run, {
    version: VERSION,
    runtime: result.runtime,
    codes: digestOfJson(currentCodes()),
    decisions: result.decisions,
    passed: result.steps.map(({ step }) => step),
    skipped: result.skipped,
    otherCode: result.other_code,
  });
  const path = writeAttestation(run, await signEnvelope(statement, key));
  return {
    json: {
      run_id: run.runId,
      predicate: TEST_RESULT,
      key_id: key.verifying.id,
      path,
      verification: verdictJson(result),
    },
    lines: [
      ...verdictLines(result),
      `attested  ${run.runId}`,
      `key       ${key.verifying.id}`,
      `envelope  ${path}/envelope.json`,
    ],
  };
});

if (import.meta.main) await executeCommand(attest);
