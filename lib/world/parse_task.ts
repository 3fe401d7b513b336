/** Tasks from outside. Source: protocol/environment.md section 2. */
import { canonicalJson } from "../core/canonical_json.ts";
import type { Json } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import { schemaProblem } from "../core/schema_problem.ts";
import { z } from "zod";
import type { WorldCode } from "./_error.ts";
import type { WorkflowTask } from "./contracts.ts";
import { DIFFICULTIES, SPLITS, TOPOLOGIES } from "./contracts.ts";
import { frozenCopy } from "./frozen_copy.ts";
import { millisecondsOf } from "./service_time.ts";
import { INTERNAL_STATE_KEYS } from "./visible_state.ts";

const json = z.custom<Json>(() => true);
const jsonMap = z.record(z.string(), json);
const textMap = z.record(z.string(), z.string());
const texts = z.array(z.string());
const count = z.int().min(0);
const seconds = z.number().min(0);

const TOOL_SCHEMA = z.strictObject({
  name: z.string(),
  description: z.string(),
  required_arguments: textMap,
  optional_arguments: textMap,
  additional_properties: z.boolean(),
  mutating: z.boolean(),
  idempotent: z.boolean(),
  side_effect: z.string().nullable(),
  operation_id: z.string().nullable(),
  required_completed_operations: texts,
  policy_allowed: z.boolean(),
});

const TOOL_CALL = z.strictObject({ tool_name: z.string(), arguments: jsonMap, call_id: z.string() });

/** Effects are further keys of a state, so this is the one record that is not closed. */
const STATE = z.object({
  entity_id: z.string(),
  version: count,
  status: z.string(),
  priority: z.string(),
  region: z.string(),
  channel: z.string(),
  approval_token: z.string().nullable(),
  completed_nodes: texts,
  side_effects: texts,
  processed_call_ids: texts,
  idempotency_results: textMap,
  audit_log: z.array(z.strictObject({
    call_id: z.string(),
    tool_name: z.string(),
    node_id: z.string(),
    request_sha256: z.string().regex(/^[0-9a-f]{64}$/),
    version: count,
  })),
}).catchall(json);

const NODE = z.strictObject({
  node_id: z.string(),
  tool_name: z.string(),
  required_predecessors: texts,
  effects: jsonMap,
  side_effect: z.string().nullable(),
  safety_token: z.string().nullable(),
  simulated_latency_s: seconds,
});

const PREDICATE = z.strictObject({
  path: z.string(),
  operator: z.enum(["eq", "ne", "contains", "contains_all", "gte", "lte"]),
  value: json,
});

const TASK = z.strictObject({
  case_id: z.string().min(1),
  split: z.enum(SPLITS),
  family: z.string(),
  topology: z.enum(TOPOLOGIES),
  difficulty: z.enum(DIFFICULTIES),
  seed: z.int(),
  entity_id: z.string().min(1),
  user_goal: z.string(),
  initial_state: STATE,
  visible_observation: jsonMap,
  tool_schemas: z.array(TOOL_SCHEMA).min(1),
  workflow_nodes: z.array(NODE),
  hidden_goal_predicates: z.array(PREDICATE),
  forbidden_side_effects: texts,
  oracle_plans: z.array(z.array(TOOL_CALL)),
  optimal_steps: z.int().min(1),
  max_steps: z.int().min(1),
  latency_trace: z.record(z.string(), seconds),
  generator_version: z.string(),
});

function fault(
  task: { readonly case_id?: unknown },
  details: {
    readonly field: string;
    readonly expected?: unknown;
    readonly actual?: unknown;
    readonly message?: string;
  },
): never {
  throw new TracewrightError<"world", WorldCode>("bad_task", { case: task.case_id, ...details });
}

/** An own key `__proto__` would set a prototype wherever a record is rebuilt; no task has a use for one. */
function hasPrototypeKey(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeKey));
}

/** What the fields of a task must say about each other. */
function checkConsistency(task: WorkflowTask): void {
  const { optimal_steps, max_steps, workflow_nodes, initial_state, visible_observation } = task;
  if (max_steps < optimal_steps) {
    fault(task, { field: "max_steps", expected: `at least ${optimal_steps}`, actual: max_steps });
  }
  const nodes = workflow_nodes.length;
  const counterfactual = task.generator_version.startsWith("benchmark-v1.4");
  if (counterfactual ? nodes < optimal_steps : nodes !== optimal_steps) {
    fault(task, {
      field: "workflow_nodes",
      expected: `${counterfactual ? "at least " : ""}${optimal_steps} nodes`,
      actual: nodes,
    });
  }
  if (initial_state.entity_id !== task.entity_id) {
    fault(task, {
      field: "initial_state.entity_id",
      expected: task.entity_id,
      actual: initial_state.entity_id,
    });
  }
  const visible = Object.fromEntries(
    Object.entries(initial_state).filter(([key]) =>
      !(INTERNAL_STATE_KEYS as readonly string[]).includes(key)
    ),
  );
  if (canonicalJson(visible) !== canonicalJson(visible_observation)) {
    fault(task, { field: "visible_observation", expected: visible, actual: visible_observation });
  }
  for (const schema of task.tool_schemas) {
    const twice = Object.keys(schema.optional_arguments)
      .find((name) => Object.hasOwn(schema.required_arguments, name));
    if (twice !== undefined) {
      fault(task, {
        field: `tool_schemas.${schema.name}`,
        message: "an argument is both required and optional",
        actual: twice,
      });
    }
  }
  for (const node of workflow_nodes) {
    millisecondsOf(node.simulated_latency_s);
    if (task.latency_trace[node.node_id] !== node.simulated_latency_s) {
      fault(task, {
        field: `latency_trace.${node.node_id}`,
        expected: node.simulated_latency_s,
        actual: task.latency_trace[node.node_id],
      });
    }
  }
  if (Object.keys(task.latency_trace).length !== nodes) {
    fault(task, {
      field: "latency_trace",
      expected: `${nodes} entries`,
      actual: Object.keys(task.latency_trace).length,
    });
  }
}

/**
 * Reads a task from outside, e.g. a parsed line of a benchmark file.
 *
 * @param value any value
 * @returns a frozen copy
 * @throws TracewrightError "bad_task" (unknown, missing, mistyped or contradicting fields, anything that is not finite
 * JSON), naming the field; "bad_service_time"
 */
export function parseTask(value: unknown): WorkflowTask {
  const result = TASK.safeParse(value);
  if (!result.success) {
    return fault(typeof value === "object" && value !== null ? value : {}, schemaProblem(result.error));
  }
  if (hasPrototypeKey(value)) fault(result.data, { field: "__proto__", message: "a key cannot be kept" });
  try {
    canonicalJson(value);
  } catch (error) {
    fault(result.data, { field: "", message: error instanceof Error ? error.message : String(error) });
  }
  const task = frozenCopy(result.data) as WorkflowTask;
  checkConsistency(task);
  return task;
}
