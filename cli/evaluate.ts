import { canonicalBytes, type Json, parseCanonical } from "../lib/core/canonical_json.ts";
import { digestOf } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { jsonDifference } from "../lib/core/json_difference.ts";
import { writeTaskLines } from "../lib/benchmark/task_lines.ts";
import { parseMetricsReport } from "../lib/report/metrics_record.ts";
import { setStageRuntime } from "../lib/pipeline/execution.ts";
import { resolveRuntime } from "../lib/policy/open_runtime.ts";
import { runStageInMemory } from "../lib/stage/run_stage.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import { bringCell, type BroughtCell, testSplit } from "./_cell.ts";
import { command, executeCommand } from "./_command.ts";
import { type OutputFile, writeWhole } from "./_output.ts";
import { EVALUATE } from "./_specs.ts";
import { usageError } from "./_usage_error.ts";

/** Schema id of `evaluation.json`, which says what the traces and metrics beside it were made from. */
const SCHEMA = "tracewright.evaluation.v1";
const GUARD = "evaluation.json";

function guardOf(cell: BroughtCell, { seed, test }: { seed: number; test: Uint8Array }): Json {
  return {
    schema: SCHEMA,
    variant: cell.variant.name,
    seed,
    inputs: {
      config: cell.configDigest,
      benchmark: digestOf(test),
      policy: cell.policy.digest,
      estimator: cell.estimator?.digest ?? null,
    },
  };
}

/**
 * Refuses a folder that holds anything but an evaluation of the same inputs.
 *
 * @returns the files of that evaluation that are there already
 */
function checkFolder(folder: string, guard: Json): ReadonlySet<string> {
  const present = new Set(diskLayer.list(folder).map(({ name }) => name));
  if (present.size === 0) return present;
  const hint = "name another folder with --output, or remove this one";
  const bytes = diskLayer.read(`${folder}/${GUARD}`);
  if (bytes === undefined) {
    throw usageError("other_inputs", {
      message: "the output folder holds something that is no evaluation",
      folder,
      expected: GUARD,
      actual: [...present],
      hint,
    });
  }
  const difference = jsonDifference(parseCanonical(bytes), guard);
  if (difference === null) return present;
  throw usageError("other_inputs", {
    message: "the output folder holds the evaluation of something else",
    folder,
    field: difference.path,
    expected: difference.expected,
    actual: difference.actual,
    hint,
  });
}

/** The same inputs give the same bytes; anything else in the folder was edited, or made by other code. */
function compareWith(folder: string, { name, bytes }: OutputFile): void {
  const earlier = diskLayer.read(`${folder}/${name}`);
  if (earlier === undefined || digestOf(earlier) === digestOf(bytes)) return;
  throw new TracewrightError<"cli", "evaluation_mismatch">("evaluation_mismatch", {
    message: "the folder holds other bytes for the same inputs",
    path: `${folder}/${name}`,
    expected: digestOf(bytes),
    actual: digestOf(earlier),
    hint:
      "the file was edited, or made by another version of this program; name another folder with --output",
  });
}

/** `evaluate`: runs a checkpoint over the test split, by the same stages as an experiment, and keeps traces and metrics. */
export const evaluate = command(EVALUATE, async (options, { note }) => {
  const cell = await bringCell(options, options.seed);
  const test = writeTaskLines(testSplit(cell.config));
  const guard = guardOf(cell, { seed: options.seed, test });
  const present = checkFolder(options.output, guard);
  setStageRuntime(resolveRuntime(options.runtime));
  note(`${cell.variant.name}, ${cell.config.benchmark.test_tasks} cases …`);
  const { "traces.jsonl": traces } = await runStageInMemory(cell.evaluate.stage, {
    params: cell.evaluate.params,
    inputs: {
      test,
      policy: cell.policy.bytes(),
      ...(cell.estimator ? { "estimators/progress": cell.estimator.bytes() } : {}),
    },
  });
  const { "metrics.json": metrics } = await runStageInMemory(cell.metrics.stage, {
    params: cell.metrics.params,
    inputs: { test, [cell.tracesInput]: traces! },
  });
  const files = [
    { name: "traces.jsonl", bytes: traces! },
    { name: "metrics.json", bytes: metrics! },
    { name: GUARD, bytes: canonicalBytes(guard) },
  ];
  for (const file of files) compareWith(options.output, file);
  const fresh = files.some(({ name }) => !present.has(name));
  if (fresh) writeWhole(options.output, files);
  const { metrics: numbers } = parseMetricsReport(metrics!).runs[0]!;
  return {
    json: {
      evaluation: guard,
      path: options.output,
      status: fresh ? "written" : "unchanged",
      metrics: parseCanonical(metrics!),
    },
    lines: [
      `${numbers.successful_cases} of ${numbers.cases} cases succeeded, ` +
      `${numbers.executed_actions} actions executed`,
      `traces   ${options.output}/traces.jsonl  ${digestOf(traces!)}`,
      `metrics  ${options.output}/metrics.json  ${digestOf(metrics!)}`,
      ...(fresh ? [] : ["the folder held the same bytes already"]),
    ],
  };
});

if (import.meta.main) await executeCommand(evaluate);
