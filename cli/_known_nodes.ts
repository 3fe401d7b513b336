import type { Digest } from "../lib/core/digest.ts";
import { buildAction } from "../lib/stage/action_key.ts";
import { codeDigest, type Codes } from "../lib/stage/codes.ts";
import { checkPlan, type ExperimentPlan, type PlanNode } from "../lib/stage/plan.ts";
import { keyOf, type Outputs } from "../lib/store/action_record.ts";
import { DAG_SCHEMA, type DagInput, type DagManifest, type DagNode } from "../lib/store/manifest.ts";
import type { Store } from "../lib/store/store.ts";

/** As much of a plan as has keys: a stage has one once everything it reads has been computed. */
export interface KnownNodes {
  /** The stages with keys, as a manifest holds them; those that have not been run have no outputs. */
  readonly dag: DagManifest;
  /** Stages without keys, and for each one input whose producer has to run first. */
  readonly waiting: ReadonlyMap<string, { readonly input: string; readonly producer: string }>;
}

/** Finds out, without running anything, which keys the stages of a plan have with the code at hand. */
export function knownNodes(
  plan: ExperimentPlan,
  { store, codes, numerics }: {
    readonly store: Store;
    readonly codes: Codes;
    readonly numerics: readonly string[];
  },
): KnownNodes {
  const { config, roots, nodes: ordered } = checkPlan(plan);
  const made = new Map<string, Outputs>();
  const nodes: DagNode[] = [];
  const waiting = new Map<string, { input: string; producer: string }>();
  for (const node of ordered) {
    const inputs = inputsOf(node, made, config);
    if ("producer" in inputs) {
      waiting.set(node.id, inputs);
      continue;
    }
    const { found } = inputs;
    const action = buildAction({
      stage: node.stage,
      code: codeDigest(codes, node.stage.name),
      numerics,
      params: node.params,
      inputs: Object.fromEntries(Object.entries(found).map(([name, { digest }]) => [name, digest])),
    });
    const key = keyOf(action);
    const outputs = store.actions.get(key)?.outputs;
    if (outputs !== undefined) made.set(node.id, outputs);
    nodes.push({
      id: node.id,
      key,
      stage: action.stage,
      params: node.params,
      inputs: found,
      outputs: outputs ?? {},
    });
  }
  const dag: DagManifest = {
    schema: DAG_SCHEMA,
    config,
    numerics: [...new Set(numerics)].sort(),
    nodes,
    roots,
    views: {},
  };
  return { dag, waiting };
}

function inputsOf(
  node: PlanNode,
  made: ReadonlyMap<string, Outputs>,
  config: Digest,
): { found: Record<string, DagInput> } | { input: string; producer: string } {
  const found: Record<string, DagInput> = {};
  for (const [input, from] of Object.entries(node.inputs)) {
    if ("source" in from) {
      found[input] = { digest: from.source, producer: from.source === config ? "config" : "source" };
      continue;
    }
    const output = made.get(from.node)?.[from.output];
    if (output === undefined) return { input, producer: from.node };
    found[input] = { digest: output.digest, producer: from.node };
  }
  return { found };
}
