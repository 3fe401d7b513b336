import { canonicalJson } from "../core/canonical_json.ts";
import { CANONICAL_MATRIX, type MatrixVariantName } from "./canonical_matrix.ts";
import type { ClaimCheckEntry, ClaimEvidence } from "./claim_check.ts";
import { type Rational, rational } from "./rational.ts";

type Comparator = ClaimCheckEntry["comparator"];

const HOLDS: Readonly<Record<Comparator, (actual: number, threshold: number) => boolean>> = {
  "==": (actual, threshold) => actual === threshold,
  ">=": (actual, threshold) => actual >= threshold,
  ">": (actual, threshold) => actual > threshold,
};

/** One check, judged by its own two numbers and the relation between them. */
export function claimCheckEntry(
  name: string,
  { actual, comparator, threshold, detail }: Omit<ClaimCheckEntry, "name" | "passed">,
): ClaimCheckEntry {
  return { name, passed: HOLDS[comparator](actual, threshold), actual, comparator, threshold, detail };
}

/** A check that passes without a fault; the first faults are its detail. */
function faultless(
  name: string,
  { faults, meaning }: { readonly faults: readonly string[]; readonly meaning: string },
): ClaimCheckEntry {
  const shown = faults.toSorted().slice(0, 3).join("; ");
  const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
  return claimCheckEntry(name, {
    actual: faults.length,
    comparator: "==",
    threshold: 0,
    detail: faults.length === 0 ? meaning : shown + more,
  });
}

function countOnce(ids: readonly string[]): number {
  const seen = new Map<string, number>();
  for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1);
  return [...seen.values()].filter((times) => times === 1).length;
}

function definitionFaults(evidence: ClaimEvidence): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const variant of evidence.variants) {
    const frozen = CANONICAL_MATRIX.variants.find(({ name }) => name === variant.name);
    if (frozen === undefined) faults.push(`${variant.name} is not in the matrix`);
    else if (seen.has(variant.name)) faults.push(`${variant.name} is defined twice`);
    else if (canonicalJson(variant) !== canonicalJson(frozen)) {
      faults.push(`${variant.name} is defined otherwise: ${canonicalJson(variant)}`);
    }
    seen.add(variant.name);
  }
  for (const { name } of CANONICAL_MATRIX.variants) if (!seen.has(name)) faults.push(`${name} is missing`);
  return faults;
}

function evidenceFaults(evidence: ClaimEvidence): string[] {
  const expected = new Set<string>(CANONICAL_MATRIX.variants.map(({ name }) => name));
  return (["traces", "outcomes"] as const).flatMap((kind) => {
    const present = new Set(evidence[kind].map(({ variant }) => variant));
    return [
      ...[...expected.difference(present)].map((name) => `no ${kind} of ${name}`),
      ...[...present.difference(expected)].map((name) => `${kind} of ${name}, which is not in the matrix`),
    ];
  });
}

/** Faults of one variant's cells: every seed once, no other seed, and what `fault` finds in a cell. */
function cellFaults<Cell extends { readonly variant: string; readonly seed: number }>(
  cells: readonly Cell[],
  { variant, seeds, fault }: {
    readonly variant: string;
    readonly seeds: readonly number[];
    readonly fault: (cell: Cell) => string | null;
  },
): string[] {
  const faults: string[] = [];
  const seen = new Set<number>();
  for (const cell of cells) {
    if (cell.variant !== variant) continue;
    if (!seeds.includes(cell.seed)) faults.push(`seed ${cell.seed} was not planned`);
    else if (seen.has(cell.seed)) faults.push(`seed ${cell.seed} appears twice`);
    else {
      const found = fault(cell);
      if (found !== null) faults.push(`seed ${cell.seed} ${found}`);
    }
    seen.add(cell.seed);
  }
  for (const seed of new Set(seeds)) if (!seen.has(seed)) faults.push(`seed ${seed} is missing`);
  return faults;
}

/** What keeps a list from being exactly the test set, each case once; the same whatever the order. */
function caseFault(ids: readonly string[], tests: ReadonlySet<string>): string | null {
  const seen = new Set<string>();
  for (const id of ids.toSorted()) {
    if (!tests.has(id)) return `has ${id}, which is no test case`;
    if (seen.has(id)) return `has ${id} twice`;
    seen.add(id);
  }
  const [missing] = [...tests.difference(seen)].sort();
  return missing === undefined ? null : `lacks ${missing}`;
}

function outcomeFault(success: ReadonlyMap<string, unknown>, tests: ReadonlySet<string>): string | null {
  const [other] = [...success.keys()].filter((id) => typeof success.get(id) !== "boolean").sort();
  return other === undefined ? caseFault([...success.keys()], tests) : `has no boolean for ${other}`;
}

function coverageChecks(evidence: ClaimEvidence): ClaimCheckEntry[] {
  const tests = new Set(evidence.test_case_ids);
  const { seeds } = evidence;
  return CANONICAL_MATRIX.variants.flatMap(({ name: variant }) => [
    faultless(`case_coverage_${variant}`, {
      faults: cellFaults(evidence.traces, {
        variant,
        seeds,
        fault: ({ case_ids }) => caseFault(case_ids, tests),
      }),
      meaning: "every seed ran exactly the test cases",
    }),
    faultless(`outcome_coverage_${variant}`, {
      faults: cellFaults(evidence.outcomes, {
        variant,
        seeds,
        fault: ({ success }) => outcomeFault(success, tests),
      }),
      meaning: "every seed has one boolean for each test case",
    }),
  ]);
}

/** Success rate over all outcomes of a variant; null where there is none. */
function recomputedRate(evidence: ClaimEvidence, variant: string): Rational | null {
  let [successes, observations] = [0, 0];
  for (const cell of evidence.outcomes) {
    if (cell.variant !== variant) continue;
    for (const value of cell.success.values()) {
      observations++;
      if (value === true) successes++;
    }
  }
  return observations === 0 ? null : rational(successes, observations);
}

/** Stands for a number that does not exist; no rate is negative. */
export const ABSENT = -1;

function rateCheck(evidence: ClaimEvidence, variant: MatrixVariantName): ClaimCheckEntry {
  const stated = evidence.aggregates.find((aggregate) => aggregate.variant === variant)?.tsr ?? null;
  const recomputed = recomputedRate(evidence, variant);
  const entry = claimCheckEntry(`tsr_recomputes_${variant}`, {
    actual: stated === null ? ABSENT : stated.value,
    comparator: "==",
    threshold: recomputed === null ? ABSENT : recomputed.value,
    detail: "the stated success rate is the share of successes among the outcomes, as a fraction",
  });
  const same = stated !== null && recomputed !== null && stated.numerator === recomputed.numerator &&
    stated.denominator === recomputed.denominator;
  return { ...entry, passed: entry.passed && same };
}

/**
 * The 24 structural checks, in order. Each looks at one thing only, so that one fault fails one check wherever possible.
 * Source: protocol/evaluation-and-evidence.md section 5.
 */
export function structuralChecks(evidence: ClaimEvidence): ClaimCheckEntry[] {
  const exactly = (
    name: string,
    { actual, threshold, detail }: Omit<ClaimCheckEntry, "name" | "passed" | "comparator">,
  ) => claimCheckEntry(name, { actual, comparator: "==", threshold, detail });
  const { action_validity: actions, bootstrap } = evidence;
  const M = CANONICAL_MATRIX;
  return [
    exactly("seed_count", {
      actual: evidence.seeds.length,
      threshold: M.seeds,
      detail: "trained seeds",
    }),
    exactly("distinct_seeds", {
      actual: new Set(evidence.seeds).size,
      threshold: M.seeds,
      detail: "trained seeds, each counted once",
    }),
    faultless("variant_definitions", {
      faults: definitionFaults(evidence),
      meaning: "the six variants are those of the matrix",
    }),
    exactly("distinct_test_cases", {
      actual: countOnce(evidence.test_case_ids),
      threshold: M.test_cases,
      detail: "test cases whose id occurs once",
    }),
    faultless("evidence_variants", {
      faults: evidenceFaults(evidence),
      meaning: "traces and outcomes exist for the six variants and no other",
    }),
    ...coverageChecks(evidence),
    ...[M.total_system_baseline, M.matched_baseline, M.treatment].map((name) => rateCheck(evidence, name)),
    exactly("action_rows", {
      actual: actions.rows,
      threshold: M.action_rows,
      detail: "rows of the action-validity set",
    }),
    exactly("action_rows_per_class", {
      actual: actions.valid_rows === actions.invalid_rows ? actions.valid_rows : ABSENT,
      threshold: M.action_rows_per_class,
      detail: `${actions.valid_rows} valid, ${actions.invalid_rows} invalid`,
    }),
    claimCheckEntry("bootstrap_samples", {
      actual: bootstrap.samples,
      comparator: ">=",
      threshold: M.smallest_samples,
      detail: "replicates behind the interval",
    }),
    exactly("confidence", {
      actual: bootstrap.confidence,
      threshold: M.confidence,
      detail: "of the interval",
    }),
  ];
}
