import type { z } from "zod";
import type { Digest } from "../core/digest.ts";
import type { Params } from "../store/action_record.ts";
import { isReservedId, MAX_NODES } from "../store/manifest.ts";
import { foldersOf } from "../store/folders_of.ts";
import { parseRunName } from "../store/run_name.ts";
import {
  checkInputNames,
  type InputName,
  inputPort,
  type Ports,
  type Stage,
  type TypedStage,
} from "./define_stage.ts";
import { stageError } from "./stage_error.ts";

/** Where an input comes from: an output of another node, or a blob that is in the store before the run. */
export type PlanInput = { readonly node: string; readonly output: string } | { readonly source: Digest };

/** One stage to run. */
export interface PlanNode {
  /** E.g. `bc/17`. */
  readonly id: string;
  readonly stage: Stage;
  readonly params: Params;
  readonly inputs: { readonly [name: string]: PlanInput };
}

/** A readable copy of an output in the run folder. */
export interface PlanView {
  /** Path inside the run folder, e.g. `report.md`. */
  readonly path: string;
  readonly node: string;
  readonly output: string;
}

/** An experiment that has not been run. */
export interface ExperimentPlan {
  /** The canonical configuration, a blob in the store. */
  readonly config: Digest;
  readonly nodes: readonly PlanNode[];
  /** The nodes the experiment is for; without them, the nodes that no other node reads. */
  readonly roots?: readonly string[];
  readonly views?: readonly PlanView[];
  /** Files the run folder may hold for people that no digest covers, e.g. `report.html`. */
  readonly uncoveredViews?: readonly string[];
}

type Exact<I extends Ports> = Exclude<InputName<I>, `${string}/${string}`>;

/** A node whose parameters and input names the compiler checks against its stage. */
export function planNode<S extends z.ZodType, I extends Ports, O extends Ports>(
  stage: TypedStage<S, I, O>,
  { id, params, inputs }: {
    readonly id: string;
    readonly params: z.input<S>;
    readonly inputs: { readonly [K in Exact<I>]: PlanInput } & { readonly [K in InputName<I>]?: PlanInput };
  },
): PlanNode {
  return { id, stage, params: stage.parseParams(params), inputs: inputs as PlanNode["inputs"] };
}

/** A plan that has been checked, its nodes in topological order. */
export interface CheckedPlan {
  readonly config: Digest;
  readonly nodes: readonly PlanNode[];
  readonly roots: readonly string[];
  readonly views: readonly PlanView[];
  readonly uncoveredViews: readonly string[];
}

/**
 * Checks a plan as a whole and puts its nodes in topological order: of the nodes whose inputs are known, always the
 * one with the smallest id, so that the order does not depend on how the plan was written down.
 *
 * @throws TracewrightError "bad_plan", "bad_params", "duplicate_node", "unknown_node", "unknown_output",
 * "unknown_input", "missing_input", "media_type_mismatch", "cycle", "path_not_allowed"
 */
export function checkPlan(plan: ExperimentPlan): CheckedPlan {
  if (plan.nodes.length > MAX_NODES) {
    throw stageError("bad_plan", { expected: `at most ${MAX_NODES} nodes`, actual: plan.nodes.length });
  }
  const byId = new Map<string, PlanNode>();
  const versions = new Map<string, Stage>();
  const titles = new Set<string>();
  for (const node of plan.nodes) {
    parseRunName(node.id, { field: "id" });
    if (isReservedId(node.id)) {
      throw stageError("bad_plan", { message: "a node id is reserved", node: node.id });
    }
    if (byId.has(node.id)) throw stageError("duplicate_node", { node: node.id });
    if ((versions.get(node.stage.name) ?? node.stage) !== node.stage) {
      throw stageError("bad_plan", {
        message: "two stages have one name",
        node: node.id,
        stage: node.stage.name,
      });
    }
    versions.set(node.stage.name, node.stage);
    for (const output of Object.keys(node.stage.outputs)) {
      const title = `${node.id}/${output}`;
      if (titles.has(title)) {
        throw stageError("bad_plan", { message: "two outputs have one name", actual: title });
      }
      titles.add(title);
    }
    byId.set(node.id, { ...node, params: node.stage.parseParams(node.params) });
  }
  for (const node of byId.values()) checkInputs(node, byId);
  const views = plan.views ?? [];
  const paths = [...views.map(({ path }) => path), ...(plan.uncoveredViews ?? [])];
  const taken = foldersOf(paths);
  for (const path of paths) {
    parseRunName(path, { field: "views" });
    if (taken.has(path)) throw stageError("bad_plan", { message: "two views share a path", view: path });
    taken.add(path);
  }
  for (const view of views) mediaTypeOf(view, byId, { view: view.path });
  const nodes = sorted(byId);
  const read = new Set(
    nodes.flatMap((node) => Object.values(node.inputs).map((from) => "node" in from ? from.node : "")),
  );
  const roots = plan.roots ?? nodes.map(({ id }) => id).filter((id) => !read.has(id));
  for (const root of roots) {
    if (!byId.has(root)) throw stageError("unknown_node", { field: "roots", actual: root });
  }
  return {
    config: plan.config,
    nodes,
    roots: [...new Set(roots)].sort(),
    views,
    uncoveredViews: plan.uncoveredViews ?? [],
  };
}

function checkInputs(node: PlanNode, byId: ReadonlyMap<string, PlanNode>): void {
  checkInputNames(node.stage, Object.keys(node.inputs), { node: node.id });
  for (const [name, from] of Object.entries(node.inputs)) {
    const place = { node: node.id, input: parseRunName(name, { node: node.id }) };
    if (!("node" in from)) continue;
    const actual = mediaTypeOf(from, byId, place);
    const expected = inputPort(node.stage, name)?.media_type;
    if (actual !== expected) throw stageError("media_type_mismatch", { ...place, expected, actual });
  }
}

function mediaTypeOf(
  from: { readonly node: string; readonly output: string },
  byId: ReadonlyMap<string, PlanNode>,
  place: { readonly [where: string]: unknown },
): string {
  const producer = byId.get(from.node);
  if (producer === undefined) throw stageError("unknown_node", { ...place, actual: from.node });
  const { outputs } = producer.stage;
  const port = Object.hasOwn(outputs, from.output) ? outputs[from.output] : undefined;
  if (port === undefined) {
    throw stageError("unknown_output", {
      ...place,
      producer: from.node,
      expected: Object.keys(outputs),
      actual: from.output,
    });
  }
  return port.media_type;
}

function sorted(byId: ReadonlyMap<string, PlanNode>): PlanNode[] {
  const waitsFor = new Map<string, Set<string>>();
  const readers = new Map<string, string[]>();
  for (const node of byId.values()) {
    const producers = new Set<string>();
    for (const from of Object.values(node.inputs)) if ("node" in from) producers.add(from.node);
    waitsFor.set(node.id, producers);
    for (const producer of producers) {
      const known = readers.get(producer);
      if (known === undefined) readers.set(producer, [node.id]);
      else known.push(node.id);
    }
  }
  const ready = [...waitsFor].filter(([, producers]) => producers.size === 0).map(([id]) => id).sort();
  const order: PlanNode[] = [];
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    order.push(byId.get(id)!);
    for (const reader of readers.get(id) ?? []) {
      const left = waitsFor.get(reader)!;
      left.delete(id);
      if (left.size === 0) insert(ready, reader);
    }
  }
  if (order.length < byId.size) {
    const done = new Set(order.map(({ id }) => id));
    const stuck = [...byId.keys()].filter((id) => !done.has(id)).sort();
    throw stageError("cycle", { message: "nodes wait for each other", actual: stuck });
  }
  return order;
}

function insert(queue: string[], id: string): void {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (queue[middle]! < id) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, id);
}
