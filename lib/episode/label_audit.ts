import type { Digest } from "../core/digest.ts";
import { episodeError } from "./_error.ts";
import type { ProgressRow } from "./progress_row.ts";

/** Continuations of one kind, and how many of them succeeded. */
export interface OutcomeCount {
  readonly continuations: number;
  readonly successes: number;
}

/** How the labels came out. */
export interface LabelAudit {
  /** Digest of the rule that labelled, which fixes follow probability and trials. */
  readonly policy: Digest;
  /** The labelled cases, sorted. */
  readonly case_ids: readonly string[];
  readonly continuations: number;
  /** Rows of both kinds. */
  readonly rows: number;
  /** Rows of terminal states: one a continuation, or none where the rule keeps no terminal states. */
  readonly terminal_rows: number;
  readonly successes: number;
  readonly families: Readonly<Record<string, OutcomeCount>>;
  readonly prefixes: Readonly<Record<string, OutcomeCount>>;
}

/** What labels made by a rule must look like. */
export interface LabelRule {
  readonly policy: Digest;
  readonly terminalRows: "one_a_continuation" | "none";
  /** `bounded`: a share of successes in [0.20, 0.80] and both outcomes in each family; `both`: both outcomes at all. */
  readonly balance: "bounded" | "both";
}

function countOutcomes(
  rows: readonly ProgressRow[],
  groupOf: (row: ProgressRow) => string,
): Record<string, OutcomeCount> {
  const groups: Record<string, { continuations: number; successes: number }> = {};
  for (const row of rows) {
    const group = groups[groupOf(row)] ??= { continuations: 0, successes: 0 };
    group.continuations++;
    if (row.label) group.successes++;
  }
  return groups;
}

/**
 * Counts outcomes and refuses labels that teach nothing. Source: protocol/policy-and-training.md sections 5.1 and 5.2.
 *
 * @throws TracewrightError "unbalanced_labels" if outcomes are not balanced as the rule asks, or a continuation lacks a row
 * or has one too many
 */
export function auditLabels(rows: readonly ProgressRow[], rule: LabelRule): LabelAudit {
  const prefixRows = rows.filter((row) => !row.terminal);
  const continuations = prefixRows.length;
  const terminalRows = rows.length - continuations;
  const successes = prefixRows.filter((row) => row.label).length;
  const expectedTerminal = rule.terminalRows === "none" ? 0 : continuations;
  if (terminalRows !== expectedTerminal) {
    throw episodeError("unbalanced_labels", {
      message: "a continuation has another number of rows than its rule says",
      expected: `${expectedTerminal} terminal rows`,
      actual: terminalRows,
    });
  }
  const refuse = (expected: string) => {
    throw episodeError("unbalanced_labels", { expected, actual: `${successes} of ${continuations}` });
  };
  const families = countOutcomes(prefixRows, ({ family }) => family);
  if (rule.balance === "both") {
    if (successes === 0 || successes === continuations) refuse("both outcomes");
  } else {
    // The bounds in whole numbers: successes / continuations in [1/5, 4/5].
    if (continuations === 0 || 5 * successes < continuations || 5 * successes > 4 * continuations) {
      refuse("between 20 % and 80 % successes");
    }
    for (const [family, outcome] of Object.entries(families)) {
      if (outcome.successes === 0 || outcome.successes === outcome.continuations) {
        throw episodeError("unbalanced_labels", {
          family,
          expected: "both outcomes",
          actual: `${outcome.successes} of ${outcome.continuations}`,
        });
      }
    }
  }
  return {
    policy: rule.policy,
    case_ids: [...new Set(prefixRows.map((row) => row.case_id))].sort(),
    continuations,
    rows: rows.length,
    terminal_rows: terminalRows,
    successes,
    families,
    prefixes: countOutcomes(prefixRows, ({ prefix }) => prefix),
  };
}
