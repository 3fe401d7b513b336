/**
 * The action space: what a policy may choose from in a state. It is built from public schemas and the public part of
 * the state only, so nothing hidden can shape it. Source: protocol/benchmark-v1.3.md section 10.
 */
import { canonicalJson } from "../core/canonical_json.ts";
import type { Json } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { PublicState, ToolCall, ToolSchema } from "./contracts.ts";
import { seededChoice } from "./seeded_choice.ts";

/** Schema of what the public seeds are hashed from. */
const SEED_SCHEMA = "tracewright.candidates.v1";

/** Each choice reads its own 64 bits of the state's digest, so no choice depends on another. */
const CHOICES = ["context-query", "replay-operation", "negative-anchor", "blocked-precondition"] as const;
type Choice = (typeof CHOICES)[number];

/** What a candidate was made as. It stands in the call id, which is evidence and never shown: it would give the label away. */
export type CandidateKind =
  | "ready"
  | "status"
  | "context"
  | "replay"
  | "schema-negative"
  | "grounding-negative"
  | "precondition-negative"
  | "safety-negative";

/** A state as the builder needs it. */
export interface CandidateRequest {
  /** Only written into call ids. */
  readonly caseId: string;
  readonly state: PublicState;
}

/** Which candidates are wanted. */
export interface CandidateOptions {
  /** False leaves out the four negatives. Default true. */
  readonly includeInvalid?: boolean;
}

interface Progress {
  readonly schema: ToolSchema;
  readonly operation: string;
  readonly needsToken: boolean;
  readonly needsKey: boolean;
}

const byText = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0;
const byName = (left: ToolSchema, right: ToolSchema): number => byText(left.name, right.name);

/** The public half of {@link CandidateBuilder}'s seeds that is fixed for a task: a digest of what its schemas say. */
function schemasDigest(schemas: readonly ToolSchema[]): string {
  const tuples: Json[] = [...schemas].sort(byName).map((schema) => [
    schema.name,
    schema.operation_id,
    [...schema.required_completed_operations].sort(byText),
    schema.mutating,
    schema.policy_allowed,
  ]);
  return digestOf(canonicalJson(tuples));
}

/** Builds candidate lists for the tasks that share one set of schemas. Equal public states give equal lists. */
export class CandidateBuilder {
  readonly #progress: readonly Progress[];
  readonly #context: readonly ToolSchema[];
  readonly #status: ToolSchema | undefined;
  readonly #forbidden: ToolSchema | undefined;
  readonly #schemasDigest: string;

  constructor(schemas: readonly ToolSchema[]) {
    const sorted = [...schemas].sort(byName);
    const progress: Progress[] = [];
    const readOnly: ToolSchema[] = [];
    for (const schema of sorted) {
      if (!schema.mutating) readOnly.push(schema);
      else if (schema.policy_allowed && schema.operation_id !== null) {
        progress.push({
          schema,
          operation: schema.operation_id,
          needsToken: Object.hasOwn(schema.required_arguments, "approval_token"),
          needsKey: Object.hasOwn(schema.required_arguments, "idempotency_key"),
        });
      }
    }
    this.#progress = progress;
    this.#status = readOnly.find((schema) => schema.name.endsWith(".inspect_status")) ?? readOnly[0];
    this.#context = readOnly.filter((schema) => schema !== this.#status);
    this.#forbidden = sorted.find((schema) => !schema.policy_allowed);
    this.#schemasDigest = schemasDigest(schemas);
  }

  /**
   * The candidates of a state, in an order drawn from the state itself.
   *
   * @returns 7 to 10 calls in a v1.3 state that is not done; deeply frozen, fresh objects every time
   */
  build(request: CandidateRequest, options: CandidateOptions = {}): readonly ToolCall[] {
    const { state, caseId } = request;
    const completed = new Set(state.completed_nodes);
    const open = this.#progress.filter(({ operation }) => !completed.has(operation));
    const ready: Progress[] = [];
    const blocked: Progress[] = [];
    for (const tool of open) {
      if (tool.schema.required_completed_operations.every((operation) => completed.has(operation))) {
        ready.push(tool);
      } else if (!tool.needsToken || state.approval_token !== null) blocked.push(tool);
    }
    const digest = this.#stateDigest(state);
    const choose = <T>(choice: Choice, items: readonly T[]): T | undefined => {
      const at = 16 * CHOICES.indexOf(choice);
      return items.length < 2 ? items[0] : items[seededChoice(digest.slice(at, at + 16), items.length)];
    };

    const calls: ToolCall[] = [];
    const add = (kind: CandidateKind, tool: string, args: Record<string, Json>): void => {
      calls.push(Object.freeze({
        arguments: Object.freeze(args),
        call_id: `${kind}-${calls.length}:${caseId}:v${state.version}`,
        tool_name: tool,
      }));
    };
    const query = (kind: CandidateKind, schema: ToolSchema | undefined): void => {
      if (schema !== undefined) add(kind, schema.name, baseArguments(state, schema.operation_id));
    };

    for (const tool of ready) add("ready", tool.schema.name, groundedArguments(state, tool));
    query("status", this.#status);
    query("context", choose("context-query", this.#context));
    const replayed = choose("replay-operation", this.#completedTools(completed));
    if (replayed !== undefined) add("replay", replayed.schema.name, groundedArguments(state, replayed));

    if (options.includeInvalid ?? true) {
      const anchor = choose("negative-anchor", ready.length > 0 ? ready : this.#progress);
      if (anchor !== undefined) {
        const name = anchor.schema.name;
        const { operation_id: _left, ...withoutOperation } = groundedArguments(state, anchor);
        add("schema-negative", name, withoutOperation);
        add("grounding-negative", name, {
          ...groundedArguments(state, anchor),
          entity_id: `missing-${state.entity_id}`,
        });
        const future = choose("blocked-precondition", blocked);
        if (future !== undefined) {
          add("precondition-negative", future.schema.name, groundedArguments(state, future));
        } else {
          add("precondition-negative", name, {
            ...groundedArguments(state, anchor),
            expected_version: state.version + 1,
          });
        }
      }
      query("safety-negative", this.#forbidden);
    }
    return Object.freeze(new RandomStream(0, SEED_SCHEMA, "candidate-order", digest).shuffle(calls));
  }

  /** Completed operations that some tool stands for, sorted by operation id. */
  #completedTools(completed: ReadonlySet<string>): Progress[] {
    return this.#progress.filter(({ operation }) => completed.has(operation))
      .sort((left, right) => byText(left.operation, right.operation));
  }

  /** 64 hexadecimal digits that stand for all that is public about a state. Of the token only its presence counts. */
  #stateDigest(state: PublicState): string {
    return hexOf(
      digestOf(canonicalJson([
        SEED_SCHEMA,
        state.entity_id,
        state.version,
        state.status,
        state.priority,
        state.region,
        state.channel,
        state.approval_token !== null,
        [...state.completed_nodes].sort(byText),
        this.#schemasDigest,
      ])),
    );
  }
}

// Keys in canonical order, in which they are written and hashed again and again.

function baseArguments(state: PublicState, operation: string | null): Record<string, Json> {
  return { entity_id: state.entity_id, expected_version: state.version, operation_id: operation };
}

/** A token that is not visible yet is left out, so that no candidate ever carries one early. */
function groundedArguments(state: PublicState, tool: Progress): Record<string, Json> {
  const token = tool.needsToken ? state.approval_token : null;
  return {
    ...(token === null ? {} : { approval_token: token }),
    entity_id: state.entity_id,
    expected_version: state.version,
    ...(tool.needsKey ? { idempotency_key: `idem-${state.entity_id}-${tool.operation}` } : {}),
    operation_id: tool.operation,
  };
}
