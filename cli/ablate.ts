import { digestOfJson } from "../lib/core/digest.ts";
import type { Json } from "../lib/core/canonical_json.ts";
import { requireCanonical } from "../lib/pipeline/canonical.ts";
import { planExperiment } from "../lib/pipeline/experiment.ts";
import { parseClaimCheck } from "../lib/report/claim_record.ts";
import { readRun } from "../lib/store/read_run.ts";
import { claimLines } from "./_claim_lines.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig, loadPreregistration } from "./_config_file.ts";
import { matrixJson, matrixLines, recordOf, runAndVerify } from "./_matrix_run.ts";
import { ABLATE } from "./_matrix_specs.ts";

/**
 * `ablate`: the registered matrix, verified, and what it claims. Anything but the registered experiment is refused before a
 * byte is written. A null result is good; a run that turns out not to be canonical is not.
 */
export const ablate = command(ABLATE, async (options, context) => {
  const config = await loadConfig({ file: options.config, shipped: "full" });
  const preregistration = await loadPreregistration();
  const plan = planExperiment(config, digestOfJson(config));
  const P = requireCanonical(config, { plan, preregistration });
  const matrix = await runAndVerify(config, options, context);
  const claim = parseClaimCheck(
    recordOf(readRun(matrix.run.path), { node: "statistics", output: "claim.json" }),
  );
  return {
    json: { ...matrixJson(matrix), preregistration: P, claim: claim as unknown as Json },
    lines: [
      ...matrixLines(matrix),
      "",
      `registered  ${P}, benchmark seed ${config.seeds.benchmark_seed}`,
      ...claimLines(claim),
    ],
    verdict: claim.canonical ? "good" : "wrong",
  };
});

if (import.meta.main) await executeCommand(ablate);
