import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { CONTINUATION_RULE } from "./continuation.ts";
import { auditLabels } from "./label_audit.ts";
import { NOISY_RULE } from "./noisy_continuation.ts";
import { PREFIX_NAMES, type ProgressRow } from "./progress_row.ts";

/** Rows of `continuations` runs of a family, the first `successes` of them good. */
function outcomes(family: string, successes: number, continuations: number): ProgressRow[] {
  return Array.from({ length: continuations }, (_, trial) => {
    const row = {
      case_id: `case-${family}-${trial % 2}`,
      family,
      prefix: PREFIX_NAMES[trial % 4]!,
      trial,
      state: new Int32Array(1),
      label: trial < successes,
    };
    return [{ ...row, terminal: false }, { ...row, terminal: true }];
  }).flat();
}

Deno.test("auditLabels() counts continuations by family and by prefix", () => {
  const audit = auditLabels([...outcomes("b", 1, 4), ...outcomes("a", 3, 8)], CONTINUATION_RULE);
  assert.deepEqual(audit, {
    policy: CONTINUATION_RULE.policy,
    case_ids: ["case-a-0", "case-a-1", "case-b-0", "case-b-1"],
    continuations: 12,
    rows: 24,
    terminal_rows: 12,
    successes: 4,
    families: {
      a: { continuations: 8, successes: 3 },
      b: { continuations: 4, successes: 1 },
    },
    prefixes: {
      "0": { continuations: 3, successes: 2 },
      "33": { continuations: 3, successes: 1 },
      "67": { continuations: 3, successes: 1 },
      last_nonterminal: { continuations: 3, successes: 0 },
    },
  });
});

Deno.test("auditLabels() refuses labels that teach nothing", () => {
  const refused = (rows: readonly ProgressRow[]) =>
    assert.throws(() => auditLabels(rows, CONTINUATION_RULE), (error) => hasCode(error, "unbalanced_labels"));
  refused([]);
  refused(outcomes("a", 9, 10));
  refused(outcomes("a", 1, 10));
  // Balanced as a whole, but one family without failures, and one without successes.
  refused([...outcomes("a", 5, 10), ...outcomes("b", 4, 4)]);
  refused([...outcomes("a", 5, 10), ...outcomes("b", 0, 4)]);
  refused(outcomes("a", 5, 10).slice(1));
  refused(outcomes("a", 5, 10).slice(0, -1));
  // The bounds belong to the allowed range.
  assert.equal(auditLabels(outcomes("a", 2, 10), CONTINUATION_RULE).successes, 2);
  assert.equal(auditLabels(outcomes("a", 8, 10), CONTINUATION_RULE).successes, 8);
});

Deno.test("auditLabels() of a rule without terminal rows asks for both outcomes and for nothing else", () => {
  const prefixes = (successes: number, continuations: number) =>
    outcomes("a", successes, continuations).filter((row) => !row.terminal);
  const audit = auditLabels(prefixes(1, 100), NOISY_RULE);
  assert.deepEqual([audit.rows, audit.terminal_rows, audit.continuations, audit.successes], [100, 0, 100, 1]);
  assert.equal(audit.policy, NOISY_RULE.policy);
  const refused = (rows: readonly ProgressRow[]) =>
    assert.throws(() => auditLabels(rows, NOISY_RULE), (error) => hasCode(error, "unbalanced_labels"));
  refused([]);
  refused(prefixes(0, 10));
  refused(prefixes(10, 10));
  refused(outcomes("a", 5, 10));
});
