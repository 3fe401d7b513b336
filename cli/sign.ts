import { writeAttestation } from "../lib/store/attestations.ts";
import { signEnvelope } from "../lib/store/dsse.ts";
import { checkRunBlobs, readRun } from "../lib/store/read_run.ts";
import { momentSchema, PROVENANCE, provenanceStatement } from "../lib/store/statement.ts";
import { SIGN } from "./_bundle_specs.ts";
import { command, executeCommand } from "./_command.ts";
import { loadSigningKey } from "./_key_file.ts";
import { usageError } from "./_usage_error.ts";
import { VERSION } from "./_version.ts";

/** `sign`: states what a run was made from. */
export const sign = command(SIGN, async ({ run: reference, runs, key: keyFile, finishedOn }) => {
  if (finishedOn !== undefined && !momentSchema.safeParse(finishedOn).success) {
    throw usageError("bad_command_line", {
      message: "a time is written in UTC with whole seconds",
      expected: "such as 2026-01-31T12:00:00Z",
      actual: finishedOn,
    });
  }
  const key = await loadSigningKey(keyFile);
  const run = readRun(reference, { directory: runs });
  checkRunBlobs(run); // nobody should vouch for files that are not there
  const statement = provenanceStatement(run, {
    version: VERSION,
    ...(finishedOn === undefined ? {} : { finishedOn }),
  });
  const path = writeAttestation(run, await signEnvelope(statement, key));
  return {
    json: { run_id: run.runId, predicate: PROVENANCE, key_id: key.verifying.id, path },
    lines: [
      `signed    ${run.runId}`,
      `key       ${key.verifying.id}`,
      `envelope  ${path}/envelope.json`,
      `check it  sh fixtures/verify-signature.sh PUBLIC_KEY.pem ${path}/envelope.json ${run.path}/manifest.json`,
    ],
  };
});

if (import.meta.main) await executeCommand(sign);
