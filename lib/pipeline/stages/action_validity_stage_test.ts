import assert from "node:assert/strict";
import { generateSplit } from "../../benchmark/generate.ts";
import { writeTaskLines } from "../../benchmark/task_lines.ts";
import { parseCanonical } from "../../core/canonical_json.ts";
import { digestOf } from "../../core/digest.ts";
import type { ActionValidityEvidence } from "../../evaluate/action_validity_evidence.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { actionValidityStage } from "./action_validity_stage.ts";

const test = writeTaskLines(generateSplit({ split: "test", size: 4, baseSeed: 20260808 }));
const run = (benchmark_seed: number) =>
  runStageInMemory(actionValidityStage, {
    params: { benchmark_seed, bootstrap: { samples: 20, confidence: 0.95, seed: 7 } },
    inputs: { test },
  });

Deno.test("actionValidityStage writes rows, their manifest and the mask's metrics, the same bytes twice", async () => {
  const outputs = await run(20260808);
  assert.deepEqual(await run(20260808), outputs);
  const read = (name: string) => parseCanonical(outputs[name]!);
  const manifest = read("manifest.json") as unknown as ActionValidityEvidence["manifest"];
  const metrics = read("metrics.json") as unknown as ActionValidityEvidence["metrics"];
  assert.equal(manifest.sha256, digestOf(outputs["rows.jsonl"]!));
  assert.deepEqual([manifest.count, metrics.count, metrics.cases], [80, 80, 4]);
  assert.deepEqual([metrics.confusion_matrix.false_positive, metrics.balanced_accuracy?.value], [2, 0.975]);
  const lines = new TextDecoder().decode(outputs["rows.jsonl"]!).split("\n");
  assert.equal(lines.length, 81);
  for (const line of lines.slice(0, -1)) parseCanonical(line);
});

Deno.test("actionValidityStage takes its seed from its parameters", async () => {
  assert.notDeepEqual((await run(1))["rows.jsonl"], (await run(2))["rows.jsonl"]);
});
