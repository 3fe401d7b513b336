import { canonicalJson } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { Digest } from "../core/digest.ts";
import { type ActionKey, type ActionRecord, keyOf, type Outputs } from "../store/action_record.ts";
import { DAG_SCHEMA, type DagInput, type DagManifest, type DagNode } from "../store/manifest.ts";
import type { Store } from "../store/store.ts";
import { storeError } from "../store/store_error.ts";
import { buildAction } from "./action_key.ts";
import type { Executor } from "./executor.ts";
import { type CheckedPlan, checkPlan, type ExperimentPlan, type PlanNode } from "./plan.ts";
import type { Progress } from "./run_stage.ts";
import { stageError } from "./stage_error.ts";

/** Why a stage is run and not taken from the store. */
export type RunReason = "no_earlier_action" | "output_missing_in_store" | "check";

/** What happens during a run, for people who watch. Nothing of it is hashed. */
export type RunEvent =
  | { readonly type: "planned"; readonly nodes: readonly { readonly id: string; readonly stage: string }[] }
  | { readonly type: "started"; readonly node: string; readonly key: ActionKey; readonly reason: RunReason }
  | { readonly type: "progress"; readonly node: string } & Progress
  | { readonly type: "finished"; readonly node: string; readonly key: ActionKey; readonly outputs: Outputs }
  | { readonly type: "cached"; readonly node: string; readonly key: ActionKey; readonly outputs: Outputs };

/** How much a run did. */
export interface RunStats {
  readonly stages: number;
  readonly cached: number;
  readonly ran: number;
}

/** What {@link runPlan} gives back. */
export interface PlanResult {
  readonly dag: DagManifest;
  readonly stats: RunStats;
}

/** What {@link runPlan} works with. */
export interface RunOptions {
  readonly store: Store;
  readonly executor: Executor;
  /** Digest of a stage's code, by stage name. */
  readonly codeOf: (stage: string) => Digest;
  /** Ids of the exact arithmetic in force. */
  readonly numerics: readonly string[];
  /** `"reuse"` (the default) takes what the store has; `"check"` runs every stage and compares. */
  readonly mode?: "reuse" | "check";
  readonly listener?: (event: RunEvent) => void;
}

interface Outcome {
  readonly action: ActionRecord;
  readonly key: ActionKey;
  readonly outputs: Outputs;
}

interface Prepared {
  readonly action: ActionRecord;
  readonly key: ActionKey;
  /** The outputs, where the store has them. */
  readonly found: Outputs | undefined;
  readonly reason: RunReason;
}

interface Entry {
  readonly index: number;
  readonly node: PlanNode;
  /** Set once the inputs are known. */
  prepared?: Prepared;
}

/**
 * Runs a plan. A stage starts as soon as its inputs are known and the executor has room; what the store already
 * holds is not run again, so a run that was killed goes on where it stopped. The result does not depend on the
 * number of workers, nor on the order in which stages end.
 *
 * @throws what {@link checkPlan} throws; "missing_blob" where a source is not in the store; "impure_stage" where a
 * known action gave other bytes; the error of the failed stage (with node and stage added) after every stage that was
 * under way has ended and been recorded
 */
export async function runPlan(plan: ExperimentPlan, options: RunOptions): Promise<PlanResult> {
  const checked = checkPlan(plan);
  return await new Run(checked, options).finish();
}

class Run {
  readonly #plan: CheckedPlan;
  readonly #options: RunOptions;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: { readonly index: number; readonly error: unknown }[] = [];
  #waiting: readonly Entry[];
  #cached = 0;
  #ran = 0;

  constructor(plan: CheckedPlan, options: RunOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#waiting = plan.nodes.map((node, index) => ({ node, index }));
  }

  async finish(): Promise<PlanResult> {
    this.#options.store.blobs.hold(); // what is found in the store stays until the run has its name
    this.#requireSources();
    this.#emit({
      type: "planned",
      nodes: this.#plan.nodes.map(({ id, stage }) => ({ id, stage: stage.name })),
    });
    for (;;) {
      if (this.#failures.length === 0) this.#start();
      if (this.#underWay.size === 0) break;
      await Promise.race(this.#underWay);
    }
    const first = this.#failures.sort((a, b) => a.index - b.index)[0];
    if (first !== undefined) throw first.error;
    return {
      dag: this.#manifest(),
      stats: { stages: this.#plan.nodes.length, cached: this.#cached, ran: this.#ran },
    };
  }

  /** Starts all that can start. One pass suffices for what is cached: nodes come in topological order. */
  #start(): void {
    const waiting: Entry[] = [];
    for (const entry of this.#waiting) {
      if (this.#failures.length > 0 || !this.#isReady(entry.node)) {
        waiting.push(entry);
        continue;
      }
      try {
        if (!this.#advance(entry)) waiting.push(entry);
      } catch (error) {
        this.#fail(entry, error);
      }
    }
    this.#waiting = waiting;
  }

  #isReady(node: PlanNode): boolean {
    return Object.values(node.inputs).every((from) => !("node" in from) || this.#outcomes.has(from.node));
  }

  /** Takes a node from the store or starts it; false where it has to wait for room. */
  #advance(entry: Entry): boolean {
    const { node } = entry;
    entry.prepared ??= this.#prepare(node);
    const { action, key, found, reason } = entry.prepared;
    if (found !== undefined) {
      this.#outcomes.set(node.id, { action, key, outputs: found });
      this.#cached++;
      this.#emit({ type: "cached", node: node.id, key, outputs: found });
      return true;
    }
    if (this.#underWay.size >= this.#options.executor.capacity) return false;
    this.#emit({ type: "started", node: node.id, key, reason });
    const task = this.#execute(entry, { action, key }).finally(() => this.#underWay.delete(task));
    this.#underWay.add(task);
    return true;
  }

  #prepare(node: PlanNode): Prepared {
    const { store, codeOf, numerics, mode = "reuse" } = this.#options;
    const inputs: Record<string, Digest> = {};
    for (const [name, { digest }] of Object.entries(this.#inputs(node))) inputs[name] = digest;
    const code = codeOf(node.stage.name);
    const action = buildAction({ stage: node.stage, code, numerics, params: node.params, inputs });
    const key = keyOf(action);
    if (mode === "check") return { action, key, found: undefined, reason: "check" };
    const found = store.actions.find(key)?.outputs;
    if (found !== undefined) requireDeclared(node, found, store.actions.path(key));
    const known = found !== undefined || store.actions.get(key) !== undefined;
    return { action, key, found, reason: known ? "output_missing_in_store" : "no_earlier_action" };
  }

  async #execute(
    entry: Entry,
    { action, key }: { action: ActionRecord; key: ActionKey },
  ): Promise<void> {
    const { node } = entry;
    try {
      const outputs = await this.#options.executor.run(
        { node: node.id, stage: node.stage.name, params: node.params, inputs: action.inputs },
        (progress) => this.#emit({ type: "progress", node: node.id, ...progress }),
      );
      this.#options.store.actions.publish(action, outputs, { node: node.id });
      this.#outcomes.set(node.id, { action, key, outputs });
      this.#ran++;
      this.#emit({ type: "finished", node: node.id, key, outputs });
    } catch (error) {
      this.#fail(entry, error);
    }
  }

  #fail({ index, node }: Entry, error: unknown): void {
    this.#failures.push({ index, error: withPlace(error, { node: node.id, stage: node.stage.name }) });
  }

  #inputs(node: PlanNode): { [name: string]: DagInput } {
    const inputs: Record<string, DagInput> = {};
    for (const [name, from] of Object.entries(node.inputs)) {
      if ("node" in from) {
        const output = this.#outcomes.get(from.node)?.outputs[from.output];
        if (output === undefined) {
          throw stageError("unknown_output", {
            node: node.id,
            input: name,
            producer: from.node,
            actual: from.output,
          });
        }
        inputs[name] = { digest: output.digest, producer: from.node };
      } else {
        inputs[name] = {
          digest: from.source,
          producer: from.source === this.#plan.config ? "config" : "source",
        };
      }
    }
    return inputs;
  }

  /** Reads what comes from outside once before anything runs, so that a damaged source fails early and by name. */
  #requireSources(): void {
    const sources = new Set([this.#plan.config]);
    for (const node of this.#plan.nodes) {
      for (const from of Object.values(node.inputs)) if (!("node" in from)) sources.add(from.source);
    }
    for (const source of sources) this.#options.store.blobs.open(source);
  }

  #manifest(): DagManifest {
    const nodes = this.#plan.nodes.map((node): DagNode => {
      const { action, key, outputs } = this.#outcomes.get(node.id)!;
      return {
        id: node.id,
        key,
        stage: action.stage,
        params: node.params,
        inputs: this.#inputs(node),
        outputs,
      };
    });
    const views: Record<string, Digest | null> = {};
    for (const path of this.#plan.uncoveredViews) views[path] = null;
    for (const { path, node, output } of this.#plan.views) {
      views[path] = this.#outcomes.get(node)!.outputs[output]!.digest;
    }
    return {
      schema: DAG_SCHEMA,
      config: this.#plan.config,
      numerics: [...new Set(this.#options.numerics)].sort(),
      nodes,
      roots: this.#plan.roots,
      views,
    };
  }

  #emit(event: RunEvent): void {
    this.#options.listener?.(event);
  }
}

/** Refuses a recorded result that is not one of the node's stage: its key covers what went in, not what came out. */
function requireDeclared({ stage }: PlanNode, found: Outputs, path: string): void {
  const form = (ports: { readonly [name: string]: { readonly media_type: string } }) =>
    canonicalJson(
      Object.fromEntries(Object.entries(ports).map(([name, { media_type }]) => [name, media_type])),
    );
  const [expected, actual] = [form(stage.outputs), form(found)];
  if (expected === actual) return;
  throw storeError("bad_action", {
    message: "the recorded result has other outputs than the stage",
    path,
    expected,
    actual,
    hint: "remove this one file and run the command again; it is made anew",
  });
}

function withPlace(error: unknown, place: { readonly node: string; readonly stage: string }): unknown {
  if (error instanceof TracewrightError) {
    return new TracewrightError(error.code, { ...place, ...error.details, cause: error });
  }
  return stageError("stage_failed", {
    message: error instanceof Error ? error.message : String(error),
    ...place,
    cause: error,
  });
}
