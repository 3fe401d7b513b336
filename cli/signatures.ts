import type { Json } from "../lib/core/canonical_json.ts";
import { readAttestations } from "../lib/store/attestations.ts";
import { verifyEnvelope } from "../lib/store/dsse.ts";
import { readRun } from "../lib/store/read_run.ts";
import { SIGNATURES } from "./_bundle_specs.ts";
import { command, executeCommand } from "./_command.ts";
import { loadVerifyingKey } from "./_key_file.ts";
import { releaseError } from "./_release_error.ts";

/** `signatures`: who vouches for a run, by a key that its owner gave you. */
export const signatures = command(SIGNATURES, async (options) => {
  const key = await loadVerifyingKey(options.key);
  const run = readRun(options.run, { directory: options.runs });
  const attestations = readAttestations(run);
  if (attestations.length === 0) {
    throw releaseError("missing_attestation", {
      message: "nobody has signed anything about this run",
      folder: run.path,
      hint: "sign and attest make statements",
    });
  }
  for (const { envelope } of attestations) await verifyEnvelope(envelope, key);
  return {
    json: {
      run_id: run.runId,
      key_id: key.id,
      statements: attestations.map(({ name, statement }) => ({
        name,
        statement: statement as unknown as Json,
      })),
    },
    lines: [
      ...attestations.map(({ name, statement }) => `good  ${name}  ${statement.predicateType}`),
      `signed by ${key.id} about ${run.runId}`,
    ],
  };
});

if (import.meta.main) await executeCommand(signatures);
