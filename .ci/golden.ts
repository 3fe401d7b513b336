/**
 * Writes fixtures/golden.json: what the smoke experiment of this version gives, as digests, from the run that the last
 * `smoke` left in artifacts/. The commit that changes the file says why the results changed.
 *
 *     deno task golden
 */
import { digestOfJson, hexOf } from "../lib/core/digest.ts";
import { readConfig } from "../lib/pipeline/yaml_config.ts";
import { outputDigests } from "../lib/store/manifest.ts";
import { readRun } from "../lib/store/read_run.ts";
import { Store } from "../lib/store/store.ts";

const ROOT = new URL("../", import.meta.url);
const path = (name: string) => decodeURIComponent(new URL(name, ROOT).pathname);

const config = readConfig(Deno.readTextFileSync(path("configs/smoke.yaml")), "configs/smoke.yaml");
using store = Store.open(path("artifacts/store"));
const runId = store.refs.get("experiments/smoke");
if (runId === undefined) throw new Error("there is no smoke run in artifacts/; run: deno task smoke");
const run = readRun(`${path("artifacts/runs")}/${hexOf(runId).slice(0, 16)}`);
if (run.dag.config !== digestOfJson(config)) {
  throw new Error("the last smoke run in artifacts/ is of another config; run: deno task smoke");
}
const golden = {
  schema: "tracewright.golden.v1",
  result_id: run.resultId,
  outputs: outputDigests(run.dag),
};
Deno.writeTextFileSync(path("fixtures/golden.json"), JSON.stringify(golden, null, 2) + "\n");
console.log(`fixtures/golden.json: ${golden.result_id}, ${Object.keys(golden.outputs).length} outputs`);
