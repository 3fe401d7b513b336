import assert from "node:assert/strict";
import full from "../fixtures/results/full.json" with { type: "json" };
import { digestOfJson } from "../lib/core/digest.ts";
import { readConfig } from "../lib/pipeline/yaml_config.ts";
import { presentCodes, type Results, withResults } from "./results.ts";
import { textOf } from "./_tree.ts";

const README = textOf("README.md");
const RESULTS = full as Results;

Deno.test("the README's result table is the one of the recorded run, and says by which code it was made", () => {
  const expected = withResults(README, { results: RESULTS, present: presentCodes() });
  assert.equal(README, expected, "run: deno task results (without a manifest: from the recorded numbers)");
});

Deno.test("the recorded run is of the present configs/full.yaml", () => {
  const config = readConfig(textOf("configs/full.yaml"), "configs/full.yaml");
  assert.equal(
    RESULTS.config,
    digestOfJson(config),
    "run: deno task ablate, then deno task results --manifest",
  );
});

Deno.test("withResults() writes what a run says, so that an edited table is seen", () => {
  const rows = RESULTS.rows.map((row, i) => (i === 0 ? { ...row, successes: "5000/5000" } : row));
  const present = presentCodes();
  assert.notEqual(withResults(README, { results: { ...RESULTS, rows }, present }), README);
  assert.throws(() => withResults("no markers", { results: RESULTS, present }), /no place/);
});

Deno.test("withResults() names the stages whose code has changed since", () => {
  const present = RESULTS.codes;
  const fresh = withResults(README, { results: RESULTS, present });
  assert.match(fresh, /which is the present code of all \d+ stages\./);
  const { report: _gone, ...others } = present;
  const stale = withResults(README, { results: RESULTS, present: { ...others, bc: "sha256:00" } });
  assert.match(stale, /has changed, and the run was not made again:\n`bc`, `report`\.\n/);
  assert.doesNotMatch(stale, /present code/);
});
