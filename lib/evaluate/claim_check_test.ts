import assert from "node:assert/strict";
import { canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { CANONICAL_MATRIX } from "./canonical_matrix.ts";
import { type ClaimCheck, claimCheck, type ClaimEvidence } from "./claim_check.ts";
import { pairedComparison } from "./paired_comparison.ts";
import { rational } from "./rational.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

const SEEDS = [17, 29, 43, 71, 101];
const NAMES: readonly string[] = CANONICAL_MATRIX.variants.map(({ name }) => name);
const [A, B, , , E, F] = NAMES as [string, string, string, string, string, string];
const TESTS = Array.from({ length: 1000 }, (_, c) => `case-${String(c).padStart(4, "0")}`);
/** Successes a seed; E is 50 cases ahead of B. */
const WINS: Readonly<Record<string, number>> = { [A]: 70, [B]: 460, [E]: 510 };

/** A complete run in which every seed of a variant succeeds on its first cases. */
function evidence(wins: Readonly<Record<string, number>> = WINS): Mutable<ClaimEvidence> {
  const cells = NAMES.flatMap((variant) => SEEDS.map((seed) => ({ variant, seed })));
  const count = (variant: string) => wins[variant] ?? 100;
  return {
    seeds: [...SEEDS],
    variants: CANONICAL_MATRIX.variants.map((variant) => ({ ...variant })),
    test_case_ids: [...TESTS],
    traces: cells.map((cell) => ({ ...cell, case_ids: TESTS })),
    outcomes: cells.map((cell) => ({
      ...cell,
      success: new Map(TESTS.map((id, c) => [id, c < count(cell.variant)])),
    })),
    aggregates: NAMES.map((variant) => ({
      variant,
      tsr: rational(count(variant), 1000),
      successful_conditional_simulated_service_time_s: count(variant) === 0 ? null : rational(29, 2),
      timeout_penalized_simulated_cost_s: rational(80_000 - 60 * count(variant), 1000),
    })),
    action_validity: {
      rows: 20_000,
      valid_rows: 10_000,
      invalid_rows: 10_000,
      balanced_accuracy: rational(39, 40),
    },
    bootstrap: { samples: 40, confidence: 0.95, seed: 20260808 },
  };
}

function failed({ checks }: ClaimCheck): string[] {
  return checks.filter(({ passed }) => !passed).map(({ name }) => name);
}

/** The structural checks that fail after a change; the hypothesis is then never asked. */
function faults(change: (run: Mutable<ClaimEvidence>) => void): string[] {
  const run = evidence();
  change(run);
  const claim = claimCheck(run);
  const names = failed(claim);
  assert.equal(claim.canonical, false);
  assert.equal(claim.hypothesis_passed, false);
  assert.equal(claim.primary_comparison.interval, null);
  assert.equal(names.at(-1), "hypothesis");
  assert.equal(claim.checks.at(-1)!.actual, -1);
  return names.slice(0, -1);
}

const place = (cells: readonly { variant: string; seed: number }[], variant: string, seed: number) =>
  cells.findIndex((cell) => cell.variant === variant && cell.seed === seed);

Deno.test("claimCheck() of the announced run passes 24 structural checks and the hypothesis", () => {
  const run = evidence();
  const claim = claimCheck(run);
  assert.deepEqual(failed(claim), []);
  assert.deepEqual([claim.checks.length, new Set(claim.checks.map(({ name }) => name)).size], [25, 25]);
  assert.deepEqual([claim.canonical, claim.hypothesis_passed, claim.passed], [true, true, true]);
  assert.equal(claim.primary_comparison.tsr_difference?.value, 0.05);
  assert.ok(claim.primary_comparison.interval!.low > 0);
  assert.equal(claim.total_system_comparison.tsr_difference?.value, 0.44);
  assert.equal(claim.total_system_comparison.interval, null);
  // 80 - 0.06 wins: 49.4 - 52.4.
  assert.equal(claim.primary_comparison.timeout_penalized_simulated_cost_s_difference?.value, -3);
  assert.equal(claim.primary_comparison.successful_conditional_simulated_service_time_s_difference?.value, 0);
  assert.equal(claim.action_validity_balanced_accuracy.value, 0.975);
});

Deno.test("claimCheck() asks about the interval of the protocol's paired comparison", () => {
  const run = evidence();
  const of = (variant: string) =>
    new Map(
      run.outcomes.filter((cell) => cell.variant === variant).map(({ seed, success }) => [seed, success]),
    );
  const { interval } = pairedComparison(of(E), of(B), run.bootstrap);
  assert.deepEqual(claimCheck(run).primary_comparison.interval, interval);
});

Deno.test("claimCheck() of a canonical run without the effect fails the hypothesis and nothing else", () => {
  for (const wins of [{ ...WINS, [E]: WINS[B]! }, { ...WINS, [E]: 400 }]) {
    const run = evidence(wins);
    run.action_validity = { ...run.action_validity, balanced_accuracy: rational(1, 2) };
    const claim = claimCheck(run);
    assert.deepEqual(failed(claim), ["hypothesis"]);
    assert.deepEqual([claim.canonical, claim.hypothesis_passed, claim.passed], [true, false, false]);
    assert.notEqual(claim.primary_comparison.interval, null);
  }
});

Deno.test("claimCheck() has a canonical form, whatever the order of the evidence", () => {
  const run = evidence();
  const text = canonicalJson(claimCheck(run));
  assert.deepEqual(JSON.parse(JSON.stringify(parseCanonical(text))), JSON.parse(text));
  const turned = evidence();
  for (const list of [turned.seeds, turned.variants, turned.test_case_ids, turned.traces, turned.outcomes]) {
    list.reverse();
  }
  turned.outcomes = turned.outcomes.map((cell) => ({
    ...cell,
    success: new Map([...cell.success].reverse()),
  }));
  turned.aggregates.reverse();
  assert.equal(canonicalJson(claimCheck(turned)), text);
});

Deno.test("claimCheck(): six seeds fail the count, a repeated seed is not distinct", () => {
  const add = (run: Mutable<ClaimEvidence>, seed: number) => {
    run.seeds.push(seed);
    for (const variant of NAMES) {
      run.traces.push({ variant, seed, case_ids: TESTS });
      run.outcomes.push({ ...run.outcomes[place(run.outcomes, variant, 17)]!, seed });
    }
  };
  assert.deepEqual(faults((run) => add(run, 107)), ["seed_count", "distinct_seeds"]);
  assert.deepEqual(faults((run) => run.seeds.push(17)), ["seed_count"]);
  assert.deepEqual(
    faults((run) => {
      run.seeds = [17, 29, 43, 71, 71];
      run.traces = run.traces.filter(({ seed }) => seed !== 101);
      run.outcomes = run.outcomes.filter(({ seed }) => seed !== 101);
    }),
    ["distinct_seeds"],
  );
});

Deno.test("claimCheck(): a variant defined otherwise, twice, not at all, or unknown fails the definitions", () => {
  const only = ["variant_definitions"];
  assert.deepEqual(
    faults((run) => run.variants[5] = { ...run.variants[5]!, algorithm: "action_ppo" }),
    only,
  );
  assert.deepEqual(faults((run) => run.variants[0] = { ...run.variants[0]!, action_mask: true }), only);
  assert.deepEqual(faults((run) => run.variants.push(run.variants[0]!)), only);
  assert.deepEqual(faults((run) => run.variants.pop()), only);
  assert.deepEqual(faults((run) => run.variants.push({ ...run.variants[0]!, name: "G" })), only);
});

Deno.test("claimCheck(): 999 test cases, or one that is there twice, fail the number of test cases", () => {
  assert.deepEqual(
    faults((run) => {
      run.test_case_ids.pop();
      run.traces = run.traces.map((cell) => ({ ...cell, case_ids: run.test_case_ids }));
      run.outcomes = run.outcomes.map((cell) => {
        const success = new Map(cell.success);
        success.delete(TESTS[999]!);
        return { ...cell, success };
      });
      run.aggregates = run.aggregates.map((one) => ({
        ...one,
        tsr: rational(WINS[one.variant] ?? 100, 999),
      }));
    }),
    ["distinct_test_cases"],
  );
  assert.deepEqual(faults((run) => run.test_case_ids.push(TESTS[0]!)), ["distinct_test_cases"]);
});

Deno.test("claimCheck(): evidence of another variant fails, and so does a variant without evidence", () => {
  assert.deepEqual(
    faults((run) => run.traces.push({ variant: "G", seed: 17, case_ids: TESTS })),
    ["evidence_variants"],
  );
  assert.deepEqual(
    faults((run) => run.outcomes.push({ variant: "G", seed: 17, success: new Map() })),
    ["evidence_variants"],
  );
  assert.deepEqual(
    faults((run) => run.traces = run.traces.filter(({ variant }) => variant !== F)),
    ["evidence_variants", `case_coverage_${F}`],
  );
  assert.deepEqual(
    faults((run) => run.outcomes = run.outcomes.filter(({ variant }) => variant !== F)),
    ["evidence_variants", `outcome_coverage_${F}`],
  );
});

Deno.test("claimCheck(): each variant's cases must be exactly the test cases, in every seed", () => {
  for (const variant of NAMES) {
    const only = [`case_coverage_${variant}`];
    const withCases = (change: (ids: string[]) => void) =>
      faults((run) => {
        const at = place(run.traces, variant, 43);
        const case_ids = [...run.traces[at]!.case_ids];
        change(case_ids);
        run.traces[at] = { ...run.traces[at]!, case_ids };
      });
    assert.deepEqual(withCases((ids) => ids.pop()), only);
    assert.deepEqual(withCases((ids) => ids.push("another")), only);
    assert.deepEqual(withCases((ids) => ids.push(TESTS[0]!)), only);
    assert.deepEqual(faults((run) => run.traces.splice(place(run.traces, variant, 17), 1)), only);
    assert.deepEqual(faults((run) => run.traces.push({ variant, seed: 17, case_ids: TESTS })), only);
    assert.deepEqual(faults((run) => run.traces.push({ variant, seed: 18, case_ids: TESTS })), only);
  }
});

Deno.test("claimCheck(): each variant's outcomes must be one boolean a test case, in every seed", () => {
  for (const variant of NAMES) {
    const only = [`outcome_coverage_${variant}`];
    // A swap of one id for another keeps the rates as they are.
    const withOutcomes = (change: (success: Map<string, boolean>) => void) =>
      faults((run) => {
        const at = place(run.outcomes, variant, 71);
        const success = new Map(run.outcomes[at]!.success);
        change(success);
        run.outcomes[at] = { ...run.outcomes[at]!, success };
      });
    assert.deepEqual(
      withOutcomes((success) => {
        success.delete(TESTS[999]!);
        success.set("another", false);
      }),
      only,
    );
    assert.deepEqual(withOutcomes((success) => success.set(TESTS[999]!, 0 as never)), only);
  }
  assert.deepEqual(faults((run) => run.outcomes.splice(place(run.outcomes, F, 17), 1)), [
    `outcome_coverage_${F}`,
  ]);
});

Deno.test("claimCheck(): the stated success rates of A, B and E must follow from the outcomes", () => {
  for (const variant of [A, B, E]) {
    const only = [`tsr_recomputes_${variant}`];
    const state = (tsr: typeof run.aggregates[number]["tsr"]) =>
      faults((run) =>
        run.aggregates = run.aggregates.map((one) => one.variant === variant ? { ...one, tsr } : one)
      );
    const run = evidence();
    assert.deepEqual(state(rational(WINS[variant]! + 1, 1000)), only);
    // The same quotient from a fraction that was not reduced is another statement.
    assert.deepEqual(
      state({ numerator: WINS[variant]!, denominator: 1000, value: WINS[variant]! / 1000 }),
      only,
    );
    assert.deepEqual(
      faults((run) => run.aggregates = run.aggregates.filter((one) => one.variant !== variant)),
      only,
    );
  }
});

Deno.test("claimCheck(): rows of the action-validity set, their classes, samples and confidence", () => {
  assert.deepEqual(faults((run) => run.action_validity = { ...run.action_validity, rows: 19_999 }), [
    "action_rows",
  ]);
  assert.deepEqual(
    faults((run) => run.action_validity = { ...run.action_validity, valid_rows: 9999, invalid_rows: 10_001 }),
    ["action_rows_per_class"],
  );
  assert.deepEqual(
    faults((run) => run.action_validity = { ...run.action_validity, valid_rows: 9999, invalid_rows: 9999 }),
    ["action_rows_per_class"],
  );
  assert.deepEqual(faults((run) => run.bootstrap = { ...run.bootstrap, samples: 0 }), ["bootstrap_samples"]);
  assert.deepEqual(faults((run) => run.bootstrap = { ...run.bootstrap, confidence: 0.9 }), ["confidence"]);
});

Deno.test("claimCheck() names the first faults in its detail, and null where a variant never succeeds", () => {
  const run = evidence();
  run.traces.splice(place(run.traces, F, 101), 1);
  const entry = claimCheck(run).checks.find(({ name }) => name === `case_coverage_${F}`)!;
  assert.deepEqual([entry.actual, entry.comparator, entry.threshold], [1, "==", 0]);
  assert.equal(entry.detail, "seed 101 is missing");
  const silent = claimCheck(evidence({ ...WINS, [A]: 0 })).total_system_comparison;
  assert.equal(silent.successful_conditional_simulated_service_time_s_difference, null);
  assert.notEqual(silent.timeout_penalized_simulated_cost_s_difference, null);
});
