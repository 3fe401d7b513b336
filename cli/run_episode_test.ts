import assert from "node:assert/strict";
import { parseCanonical } from "../lib/core/canonical_json.ts";
import type { FullStep, TraceRecord } from "../lib/episode/trace.ts";
import { contentOf, documented, run, TestBed } from "./_test_bed.ts";
import { runEpisode } from "./run_episode.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const policy = bed.policy("policy", 1);
const estimator = bed.estimator("estimator", 1);
const output = `${bed.folder}/out/episode.json`;
const common = ["-c", config, "--store", bed.store, "-o", output, "--runtime", "reference"];

function written(): TraceRecord<FullStep> {
  const text = Deno.readTextFileSync(output);
  assert.ok(text.endsWith("\n"));
  return parseCanonical(text.slice(0, -1)) as unknown as TraceRecord<FullStep>;
}

Deno.test({
  name: "run-episode writes the full trace of one case, the same one with every runtime",
  permissions: documented(runEpisode.spec, bed.folder),
  fn: async () => {
    const brought = ["--variant", "E", "--checkpoint", policy, "--estimator", estimator];
    const { exit, out, err } = await run(runEpisode, ...common, ...brought, "--case-index", "3", "--json");
    assert.deepEqual([exit, err], [0, ""]);
    const trace = written();
    const { case_id, steps } = JSON.parse(out);
    assert.deepEqual([trace.case_id, trace.steps.length], [case_id, steps]);
    assert.deepEqual([trace.trace_mode, trace.credit_assignment], ["full", "action"]);
    for (const step of trace.steps) {
      assert.equal(step.state_features.length, 64);
      assert.equal(step.candidates.length, step.action_mask.length);
      assert.ok(step.info.progress_potential !== null);
    }
    const candidates = trace.steps.reduce((sum, step) => sum + step.candidates.length, 0);
    assert.equal(trace.action_evaluations.length, candidates);
    const bytes = Deno.readTextFileSync(output);
    for (const runtime of ["wasm", "native"]) {
      const again = await run(runEpisode, ...common, ...brought, "--case-index", "3", "--runtime", runtime);
      assert.equal(again.exit, 0, again.err);
      assert.equal(Deno.readTextFileSync(output), bytes);
    }
  },
});

Deno.test("run-episode follows the variant: the mask, the progress term, the credit", async () => {
  const of = async (variant: string, ...more: string[]) => {
    const { exit, err } = await run(
      runEpisode,
      ...common,
      "--variant",
      variant,
      "--checkpoint",
      policy,
      ...more,
    );
    assert.equal(exit, 0, err);
    const { credit_assignment, steps } = written();
    return {
      credit_assignment,
      masked: steps.some(({ action_mask }) => action_mask.includes(false)),
      progress: steps.some(({ info }) => info.progress_potential !== null),
    };
  };
  assert.deepEqual(await of("A"), { credit_assignment: "action", masked: false, progress: false });
  assert.deepEqual(await of("b-bc-mask"), { credit_assignment: "action", masked: true, progress: false });
  assert.deepEqual(await of("F", "--estimator", estimator), {
    credit_assignment: "sequence",
    masked: true,
    progress: true,
  });
});

Deno.test("run-episode exits 2 for a request that makes no sense, and writes nothing", async () => {
  const nothing = `${bed.folder}/nothing`;
  const wide = bed.policy("wide", 1, 56);
  const cases: readonly [readonly string[], string, RegExp][] = [
    [["--variant", "G", "--checkpoint", policy], "unknown_variant", /A to F/],
    [["--variant", "B", "--checkpoint", policy, "--case-index", "10"], "no_such_case", /expected: 0 to 9/],
    [["--variant", "E", "--checkpoint", policy], "missing_estimator", /--estimator/],
    [["--variant", "B", "--checkpoint", policy, "--estimator", estimator], "needless_estimator", /leave/],
    [["--variant", "B", "--checkpoint", estimator], "wrong_checkpoint", /field kind/],
    [["--variant", "E", "--checkpoint", policy, "--estimator", policy], "wrong_checkpoint", /field kind/],
    [
      ["--variant", "B", "--checkpoint", wide],
      "wrong_checkpoint",
      /field hidden\n {2}seen: +56\n {2}expected: 48/,
    ],
    [["--variant", "B", "--checkpoint", "none.onnx"], "no_such_checkpoint", /seen: +none\.onnx/],
    [["--variant", "B", "--checkpoint", "abcd"], "no_such_checkpoint", /seen: +abcd/],
  ];
  for (const [args, code, detail] of cases) {
    const { exit, out, err } = await run(runEpisode, ...common, "-o", `${nothing}/x.json`, ...args);
    assert.deepEqual([exit, out], [2, ""], err);
    assert.ok(err.includes(`[${code}]`), err);
    assert.match(err, detail);
  }
  assert.deepEqual(contentOf(nothing), {});
});

Deno.test("run-episode refuses a file that is no graph of ours, with exit 1, before any runtime sees it", async () => {
  const bytes = Deno.readFileSync(policy);
  const changed = bytes.slice();
  changed[changed.length - 1]! ^= 1;
  const cases: readonly [string, Uint8Array, RegExp][] = [
    ["text", new TextEncoder().encode("not a graph"), /\[onnx_\w+\]/],
    ["empty", new Uint8Array(), /\[(onnx|graph)_\w+\]/],
    ["cut", bytes.subarray(0, bytes.length - 10), /\[onnx_\w+\]/],
    ["changed", changed, /\[(onnx|graph)_\w+\]/],
    ["longer", Uint8Array.from([...bytes, 0]), /\[onnx_\w+\]/],
    ["huge", new Uint8Array(5 * 1024 * 1024), /\[onnx_too_large\]/],
  ];
  for (const [name, content, code] of cases) {
    const file = `${bed.folder}/${name}.onnx`;
    Deno.writeFileSync(file, content);
    const { exit, err } = await run(runEpisode, ...common, "--variant", "B", "--checkpoint", file);
    assert.equal(exit, 1, name + err);
    assert.match(err, code);
  }
});
