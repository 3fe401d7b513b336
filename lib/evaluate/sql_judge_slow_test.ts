import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { exampleTrace, LOST, WON } from "./_example_trace.ts";
import type { SqlReply } from "./_sql_worker.ts";
import { caseCounts } from "./case_counts.ts";
import { sqlDifference } from "./compare_with_sql.ts";
import { metricsReport } from "./metrics_report.ts";
import type { SqlRun } from "./sql_database.ts";
import { sqlJudge, sqlMetricsJudge } from "./sql_judge.ts";

const TIMEOUT = 30_000;

function line(record: unknown): string {
  return canonicalJson(record as Json);
}

function judge(
  runs: readonly SqlRun[],
  comparisons: readonly { treatment: string; baseline: string }[] = [],
) {
  return sqlJudge({ runs, comparisons, timeoutMs: TIMEOUT });
}

/** The metrics of one run. */
async function measured(...records: readonly unknown[]) {
  const { runs } = await judge([{ variant: "V", seed: 1, lines: records.map(line) }]);
  return runs[0]!.metrics;
}

const fraction = (numerator: number, denominator: number) => ({
  numerator,
  denominator,
  value: numerator / denominator,
});

Deno.test("sqlJudge() gives the hand-computed values of a success and a failure", async () => {
  assert.deepEqual(await measured(WON, LOST), {
    cases: 2,
    successful_cases: 1,
    executed_actions: 6,
    tsr: fraction(1, 2),
    macro_tsr: fraction(1, 2),
    invalid_action_rate: fraction(1, 6),
    forbidden_side_effect_rate: fraction(1, 2),
    steps_efficiency: fraction(1, 2), // (2/2 + 0) / 2
    mean_steps: fraction(3, 1),
    successful_conditional_simulated_service_time_s: fraction(10, 1),
    timeout_penalized_simulated_cost_s: fraction(20, 1), // (10 + 30) / 2
    families: {
      one: { cases: 1, successful_cases: 1, tsr: fraction(1, 1) },
      two: { cases: 1, successful_cases: 0, tsr: fraction(0, 1) },
    },
  });
});

Deno.test("sqlJudge() caps the cost of a slow success, weighs families alike, has no time without a success", async () => {
  const slow = { ...WON, case_id: "slow", simulated_latency_s: 50.005 };
  const { timeout_penalized_simulated_cost_s: cost, ...rest } = await measured(slow, {
    ...LOST,
    family: "one",
  });
  assert.deepEqual(cost, fraction(30, 1));
  assert.deepEqual(rest["successful_conditional_simulated_service_time_s"], fraction(10_001, 200));
  // Rates 1/2 and 0/1 of two families: 1/4, while the rate over the three cases is 1/3.
  const uneven = await measured(WON, { ...LOST, family: "one" }, { ...LOST, case_id: "c" });
  assert.deepEqual([uneven["macro_tsr"], uneven["tsr"]], [fraction(1, 4), fraction(1, 3)]);
  assert.equal((await measured(LOST))["successful_conditional_simulated_service_time_s"], null);
});

Deno.test("sqlJudge() calls no action at all no invalid action", async () => {
  const none = exampleTrace({
    case_id: "none",
    family: "one",
    success: false,
    valid: [],
    seconds: 0,
    forbidden: 0,
    optimal: 1,
  });
  const metrics = await measured(none);
  assert.deepEqual([metrics.executed_actions, metrics["invalid_action_rate"]], [0, fraction(0, 1)]);
});

const E_MINUS_B = [{ treatment: "E", baseline: "B" }];

Deno.test("sqlJudge() pairs treatment and baseline by seed and case, whatever their order", async () => {
  const [a, b] = [WON, { ...LOST, case_id: "b" }];
  const bWon = { ...WON, case_id: "b" };
  const aLost = { ...LOST, case_id: "a" };
  const { comparisons } = await judge([
    { variant: "E", seed: 1, lines: [a, bWon].map(line) }, // 1 1
    { variant: "E", seed: 2, lines: [bWon, a].map(line) }, // 1 1
    { variant: "B", seed: 2, lines: [b, aLost].map(line) }, // 0 0
    { variant: "B", seed: 1, lines: [b, a].map(line) }, // 1 0
  ], E_MINUS_B);
  assert.deepEqual(comparisons, [{
    ...E_MINUS_B[0],
    difference: fraction(3, 4),
    seed_count: 2,
    case_count: 2,
    paired_observations: 4,
  }]);
});

Deno.test("sqlJudge() refuses variants that do not cover the same seeds and cases", async () => {
  const [a, b] = [line(WON), line(LOST)];
  const unpaired: readonly (readonly SqlRun[])[] = [
    [{ variant: "E", seed: 1, lines: [a] }],
    [{ variant: "E", seed: 1, lines: [a] }, { variant: "B", seed: 2, lines: [a] }],
    [{ variant: "E", seed: 1, lines: [a, b] }, { variant: "B", seed: 1, lines: [a] }],
    [
      { variant: "E", seed: 1, lines: [a] },
      { variant: "B", seed: 1, lines: [a] },
      { variant: "E", seed: 2, lines: [b] },
      { variant: "B", seed: 2, lines: [b] },
    ],
  ];
  for (const runs of unpaired) {
    await assert.rejects(judge(runs, E_MINUS_B), (error) => hasCode(error, "sql_unpaired"));
  }
});

Deno.test("sqlJudge() refuses a case or a run that comes twice, and a run without cases", async () => {
  const run = { variant: "V", seed: 1, lines: [line(WON)] };
  const refused: readonly (readonly [readonly SqlRun[], string])[] = [
    [[{ ...run, lines: [line(WON), line(LOST), line(WON)] }], "sql_duplicate"],
    [[run, { ...run, lines: [line(LOST)] }], "sql_duplicate"],
    [[run, { ...run, seed: 2, lines: [] }], "sql_no_cases"],
  ];
  for (const [runs, code] of refused) {
    await assert.rejects(judge(runs), (error) => hasCode(error, code), code);
  }
});

/** A line with one part of its text replaced, which a canonical writer would refuse to write. */
function forged(from: string, to: string): string {
  const text = line(LOST);
  assert.ok(text.includes(from), from);
  return text.replace(from, to);
}

Deno.test("sqlJudge() sees non-finite, mistyped, missing and contradictory fields, and says where", async () => {
  const refused: readonly (readonly [string, string])[] = [
    ...["NaN", "-Infinity", "-5", "-0.0", "1e999", "0.0005", "true", '"5"', "null", "1e13"].map((value) =>
      [forged('"simulated_latency_s":5', `"simulated_latency_s":${value}`), "simulated_latency_s"] as const
    ),
    ...["1", '"false"', "null", "{}"].map((value) =>
      [forged('"success":false', `"success":${value}`), "success"] as const
    ),
    ...["-1", "1.0", "true", "NaN", "99999999999999999999"].map((value) =>
      [
        forged('"forbidden_side_effect_count":1', `"forbidden_side_effect_count":${value}`),
        "forbidden_side_effect_count",
      ] as const
    ),
    [forged('"optimal_steps":2', '"optimal_steps":0'), "optimal_steps"],
    [forged('"optimal_steps":2', '"optimal_steps":20'), "step_count"],
    [forged('"optimal_steps":2', '"optimal_step":2'), "optimal_steps"],
    [forged('"step_count":4', '"step_count":3'), "step_count"],
    [forged('"step_count":4', '"step_count":true'), "step_count"],
    [forged('"family":"two"', '"family":2'), "family"],
    [forged('"family":"two"', '"family":""'), "family"],
    [forged('"case_id":"b"', '"case_id":null'), "case_id"],
    [forged('"executed_valid":true', '"executed_valid":1'), "executed_valid"],
    [forged('"executed_valid":true', '"executed_valid":"true"'), "executed_valid"],
    [line({ ...LOST, executed_actions: [{}, {}, {}, {}] }), "executed_valid"],
    [line({ ...LOST, executed_actions: LOST.executed_actions.slice(1) }), "executed_actions"],
    [line({ ...LOST, executed_actions: {} }), "executed_actions"],
    [line({ ...LOST, steps: null }), "steps"],
    [line({ ...LOST, steps: {}, step_count: 0, executed_actions: [] }), "steps"],
    [line([]), "case_id"],
  ];
  for (const [text, field] of refused) {
    await assert.rejects(
      judge([{ variant: "B", seed: 1, lines: [line(WON)] }, {
        variant: "E",
        seed: 7,
        lines: [line(WON), text],
      }]),
      (error) => {
        assert.ok(hasCode(error, "sql_trace_schema"), `${text}: ${error}`);
        const { variant, seed, line, field: seen } = error.details;
        assert.deepEqual([variant, seed, line, seen], ["E", 7, 2, field], text);
        return true;
      },
      text,
    );
  }
});

Deno.test("sqlJudge() names the line that is no JSON, or more than one", async () => {
  for (const text of ["", "{", `${line(WON)}x`, `${line(WON)}\n${line(LOST)}`]) {
    await assert.rejects(
      judge([{ variant: "E", seed: 7, lines: [line(WON), line(LOST), text] }]),
      (error) => hasCode(error, "sql_trace_schema") && error.details["line"] === 3,
      text,
    );
  }
});

Deno.test("sqlJudge() passes on what the source of the lines throws", async () => {
  const damage = new RangeError("the blob is damaged");
  function* source() {
    yield line(WON);
    throw damage;
  }
  await assert.rejects(judge([{ variant: "E", seed: 7, lines: source() }]), (error) => error === damage);
});

const traces = fc.record({
  family: fc.constantFrom("one", "two", "three"),
  success: fc.boolean(),
  valid: fc.array(fc.boolean(), { maxLength: 19 }),
  ms: fc.integer({ min: 0, max: 60_000 }),
  forbidden: fc.integer({ min: 0, max: 2 }),
  optimal: fc.integer({ min: 1, max: 19 }),
}).map(({ ms, ...fields }) => ({ ...fields, seconds: ms / 1000 }));

/** Two variants, two seeds, the same cases. */
const experiments = fc.integer({ min: 1, max: 8 }).chain((cases) =>
  fc.array(fc.array(traces, { minLength: cases, maxLength: cases }), { minLength: 4, maxLength: 4 })
);

Deno.test("sqlJudge() and the TypeScript metrics agree on random traces, in any order", async () => {
  await fc.assert(
    fc.asyncProperty(experiments, async (rows) => {
      const runs = rows.map((cells, at) => ({
        variant: at < 2 ? "E" : "B",
        seed: 17 + at % 2,
        records: cells.map((fields, c): TraceRecord => exampleTrace({ case_id: `case ${c}`, ...fields })),
      }));
      const stored = metricsReport(
        runs.map(({ records, ...run }) => ({ ...run, rows: records.map((one) => caseCounts(one, TIMEOUT)) })),
        {
          planned: runs[0]!.records.map((record) => record.case_id),
          timeoutMs: TIMEOUT,
          bootstrap: { samples: 0, confidence: 0.95, seed: 1 },
          comparisons: E_MINUS_B,
        },
      );
      const given = runs.map(({ records, ...run }) => ({ ...run, lines: records.map(line).toReversed() }));
      assert.equal(sqlDifference(stored, await judge(given, E_MINUS_B)), null);
    }),
    { numRuns: 12 },
  );
});

Deno.test("sqlMetricsJudge() catches a wrong stored metric by SQL alone", async () => {
  const runs = () => [{ variant: "V", seed: 1, lines: [line(WON), line(LOST)] }];
  const metrics = await measured(WON, LOST);
  const stored = {
    timeout_s: 30,
    runs: [{ variant: "V", seed: 1, denominators: { run: 2, scored: 2 }, metrics }],
    variants: [{ variant: "V", seeds: [1], metrics }],
    comparisons: [],
  };
  const claim = (given: unknown) => ({ stored: given, timeoutMs: TIMEOUT, runs: runs(), comparisons: [] });
  await sqlMetricsJudge(claim(stored));
  const wrong = { ...stored, runs: [{ ...stored.runs[0], metrics: { ...metrics, tsr: fraction(2, 3) } }] };
  await assert.rejects(sqlMetricsJudge(claim(wrong)), (error) => {
    assert.ok(hasCode(error, "metrics_sql_mismatch"), String(error));
    const { variant, seed, metric, expected, actual } = error.details;
    assert.deepEqual([variant, seed, metric, expected, actual], ["V", 1, "tsr.denominator", 2, 3]);
    return true;
  });
});

function inWorker(permissions: Deno.PermissionOptionsObject): Promise<SqlReply> {
  const options: WorkerOptions & { deno: { permissions: Deno.PermissionOptionsObject } } = {
    type: "module",
    deno: { permissions },
  };
  const worker = new Worker(import.meta.resolve("./_sql_worker.ts"), options);
  const reply = new Promise<SqlReply>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<SqlReply>) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
  worker.postMessage([line(WON), line(LOST)]);
  return reply.finally(() => worker.terminate());
}

const NOTHING = { write: false, net: false, env: false, run: false, sys: false, import: false } as const;

Deno.test("sqlJudge() works in a worker that may read and use FFI, and do nothing else", async () => {
  const reply = await inWorker({ ...NOTHING, read: true, ffi: true });
  assert.ok("metrics" in reply, JSON.stringify(reply));
  assert.deepEqual(reply.metrics.runs[0]?.metrics, await measured(WON, LOST));
});

Deno.test("sqlJudge() says what is missing without --allow-ffi", async () => {
  const reply = await inWorker({ ...NOTHING, read: true, ffi: false });
  assert.match("error" in reply ? reply.error : "", /sql_unavailable.*--allow-ffi/);
});
