import { z } from "zod";
import { taskStream } from "../../benchmark/task_stream.ts";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { actionValidityEvidence } from "../../evaluate/action_validity_evidence.ts";
import { defineStage, type InputBlob } from "../../stage/define_stage.ts";
import { MEDIA } from "../media_types.ts";

/** The lines of a blob, telling by their length how far they are. */
function* watched(blob: InputBlob, progress: (fraction: number) => void): Generator<string> {
  let read = 0;
  for (const line of blob.lines()) {
    yield line;
    read += line.length + 1;
    progress(Math.min(1, read / blob.size));
  }
}

/** Labels calls of the test split by dry runs and measures the action mask on them, once per benchmark. */
export const actionValidityStage = defineStage({
  name: "action_validity",
  version: 1,
  params: z.strictObject({
    benchmark_seed: z.int(),
    bootstrap: z.strictObject({ samples: z.int(), confidence: z.number(), seed: z.int() }),
  }),
  inputs: { test: { media_type: MEDIA.tasks } },
  outputs: {
    "rows.jsonl": { media_type: MEDIA.actionValidity },
    "manifest.json": { media_type: MEDIA.actionValidityManifest },
    "metrics.json": { media_type: MEDIA.maskMetrics },
  },
  run({ params: { benchmark_seed: seed, bootstrap }, input, output, progress }) {
    const rows = output("rows.jsonl");
    let count = 0;
    const { manifest, metrics } = actionValidityEvidence(
      taskStream(watched(input("test"), (fraction) => progress(fraction, { unit: "cases", count: ++count }))),
      { seed, bootstrap, onLine: (bytes) => rows.write(bytes) },
    );
    output("manifest.json").write(canonicalBytes(manifest));
    output("metrics.json").write(canonicalBytes(metrics));
  },
});
