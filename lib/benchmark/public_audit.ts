/**
 * The audit of benchmark v1.3: how far a rule of one line gets that sees nothing but policy inputs. Its trace says every
 * decision and can be replayed by anybody. Source: protocol/evaluation-and-evidence.md section 12.
 */
import { canonicalJson } from "../core/canonical_json.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { Difficulty, WorkflowTask, WorkflowTopology } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputDigest, type PolicyToolCall } from "../world/policy_input.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import type { BenchmarkCode } from "./_error.ts";
import { generateSplit } from "./generate.ts";
import { setDigest } from "./manifest.ts";
import { readyGreedyRule } from "./public_rules.ts";
import { GENERATOR_V13 } from "./task_v13.ts";
import { writeTaskLines } from "./task_lines.ts";

/** Schema of a line of the audit's trace. */
export const AUDIT_TRACE_SCHEMA = "tracewright.public-audit-trace.v1";
/** Schema of the audit's manifest. */
export const AUDIT_MANIFEST_SCHEMA = "tracewright.public-audit.v1";
/** Name of the trace file, as the manifest records it. */
export const AUDIT_TRACE_NAME = "v1.3-public-ready-audit.jsonl";

/** One decision of the rule. The call is the public one: entities are aliased and there is no call id. */
export interface AuditDecision {
  readonly step_index: number;
  readonly policy_input_sha256: string;
  readonly action_index: number;
  readonly selected_tool_call: PolicyToolCall;
  readonly selection_reason: string;
  readonly accepted: boolean;
  readonly done: boolean;
  readonly success: boolean;
}

/** One case, played to its end. */
export interface AuditRow {
  readonly schema: typeof AUDIT_TRACE_SCHEMA;
  readonly case_id: string;
  readonly family: string;
  readonly difficulty: Difficulty;
  readonly topology: WorkflowTopology;
  readonly success: boolean;
  readonly forbidden_side_effect_count: number;
  readonly steps: number;
  readonly optimal_steps: number;
  /** Digest of the decisions' `policy_input_sha256`, joined by newlines. */
  readonly policy_input_sequence_sha256: Digest;
  readonly decisions: readonly AuditDecision[];
}

/** What the audit found, and what it was run on. */
export interface AuditManifest {
  readonly schema: typeof AUDIT_MANIFEST_SCHEMA;
  readonly baseline_id: string;
  readonly generator_version: string;
  readonly split: "test";
  readonly base_seed: number;
  readonly case_count: number;
  readonly successful_cases: number;
  readonly task_success_rate: number;
  readonly total_steps: number;
  readonly mean_steps: number;
  readonly forbidden_side_effect_count: number;
  readonly trace: { readonly path: string; readonly rows: number; readonly sha256: Digest };
  readonly case_ids_sha256: Digest;
  readonly tasks_sha256: Digest;
  /** Digest of each case's line, without its newline. */
  readonly row_sha256: Readonly<Record<string, Digest>>;
}

/** An audit as it is kept: the bytes of the trace, canonical JSON Lines by case id, and the manifest. */
export interface PublicAudit {
  readonly trace: Uint8Array<ArrayBuffer>;
  readonly manifest: AuditManifest;
}

function refuse(code: BenchmarkCode, details: Readonly<Record<string, unknown>>): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, details);
}

/**
 * Sorts tasks by case id and checks that they are the test split of the given seed, all of it and nothing else.
 *
 * @throws TracewrightError "wrong_split", "wrong_version", "duplicate_in_split", or "other_benchmark" where the seed, with as
 * many tasks, generates another task
 */
export function auditedTasks(
  tasks: readonly WorkflowTask[],
  { baseSeed }: { readonly baseSeed: number },
): WorkflowTask[] {
  const sorted = [...tasks].sort((a, b) => a.case_id < b.case_id ? -1 : a.case_id > b.case_id ? 1 : 0);
  for (const [i, task] of sorted.entries()) {
    const place = { case: task.case_id };
    if (task.split !== "test") refuse("wrong_split", { ...place, expected: "test", actual: task.split });
    if (task.generator_version !== GENERATOR_V13) {
      refuse("wrong_version", { ...place, expected: GENERATOR_V13, actual: task.generator_version });
    }
    if (task.case_id === sorted[i - 1]?.case_id) refuse("duplicate_in_split", { ...place, field: "case_id" });
  }
  const generated = generateSplit({ split: "test", size: sorted.length, baseSeed });
  for (const [i, task] of sorted.entries()) {
    if (canonicalJson(task) === canonicalJson(generated[i])) continue;
    refuse("other_benchmark", {
      message: "the tasks are not those that this seed generates",
      case: task.case_id,
      base_seed: baseSeed,
      expected: digestOf(canonicalJson(generated[i])),
      actual: digestOf(canonicalJson(task)),
      hint: "give the seed and the size that the tasks were generated with",
    });
  }
  return sorted;
}

/**
 * Plays one case by the ready-greedy rule.
 *
 * @throws TracewrightError "audit_leak" if the row would hold the entity or a call id
 */
export function auditRow(task: WorkflowTask): AuditRow {
  const env = new WorkflowEnvironment(task);
  const actionMask = new ActionMask(task.tool_schemas);
  const inputs = new PolicyInputBuilder(task.tool_schemas);
  const decisions: AuditDecision[] = [];
  while (!env.done) {
    const observation = env.observe();
    const candidates = env.candidates();
    const input = inputs.build({ observation, candidates, mask: actionMask.mask(observation, candidates) });
    const { actionIndex, reason } = readyGreedyRule.choose(input);
    const { accepted, done, success } = env.step(candidates[actionIndex]!);
    decisions.push({
      step_index: decisions.length,
      policy_input_sha256: policyInputDigest(input),
      action_index: actionIndex,
      selected_tool_call: input.candidates[actionIndex]!.tool_call,
      selection_reason: reason,
      accepted,
      done,
      success,
    });
  }
  const { success, forbidden_side_effect_count } = env.evaluate();
  const row: AuditRow = {
    schema: AUDIT_TRACE_SCHEMA,
    case_id: task.case_id,
    family: task.family,
    difficulty: task.difficulty,
    topology: task.topology,
    success,
    forbidden_side_effect_count,
    steps: decisions.length,
    optimal_steps: task.optimal_steps,
    policy_input_sequence_sha256: digestOf(decisions.map((one) => one.policy_input_sha256).join("\n")),
    decisions,
  };
  const text = canonicalJson(row);
  for (const secret of [task.entity_id, '"call_id"']) {
    if (text.includes(secret)) refuse("audit_leak", { case: task.case_id, actual: secret });
  }
  return row;
}

/**
 * Runs the audit.
 *
 * @param tasks the whole test split of `baseSeed`, in any order
 * @throws TracewrightError as {@link auditedTasks} and {@link auditRow} do; "bad_size" without a task
 */
export function publicAudit(
  tasks: readonly WorkflowTask[],
  { baseSeed }: { readonly baseSeed: number },
): PublicAudit {
  const sorted = auditedTasks(tasks, { baseSeed });
  const rows = sorted.map(auditRow);
  const lines = rows.map((row) => canonicalJson(row));
  const trace = new TextEncoder().encode(lines.map((line) => line + "\n").join(""));
  const sum = (of: (row: AuditRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [successes, steps] = [sum((row) => row.success ? 1 : 0), sum((row) => row.steps)];
  return {
    trace: trace as Uint8Array<ArrayBuffer>,
    manifest: {
      schema: AUDIT_MANIFEST_SCHEMA,
      baseline_id: readyGreedyRule.id,
      generator_version: GENERATOR_V13,
      split: "test",
      base_seed: baseSeed,
      case_count: rows.length,
      successful_cases: successes,
      task_success_rate: successes / rows.length,
      total_steps: steps,
      mean_steps: steps / rows.length,
      forbidden_side_effect_count: sum((row) => row.forbidden_side_effect_count),
      trace: { path: AUDIT_TRACE_NAME, rows: rows.length, sha256: digestOf(trace) },
      case_ids_sha256: setDigest(rows.map((row) => row.case_id)),
      tasks_sha256: digestOf(writeTaskLines(sorted)),
      row_sha256: Object.fromEntries(lines.map((line, i) => [rows[i]!.case_id, digestOf(line)])),
    },
  };
}
