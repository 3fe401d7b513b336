import { canonicalJson } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { type JsonDifference, jsonDifference } from "../core/json_difference.ts";
import { checkPlan, type ExperimentPlan, type PlanNode } from "../stage/plan.ts";
import { codeDigest, type Codes } from "../stage/codes.ts";
import { keyOf, type Params } from "../store/action_record.ts";
import { actionOf, type DagInput, type DagManifest, type DagNode } from "../store/manifest.ts";
import type { Run } from "../store/read_run.ts";
import { asJson } from "./run_blobs.ts";
import { verifyError } from "./verify_code.ts";

/**
 * Compares a recorded DAG with the plan that its config stands for: nodes, stages, parameters, what feeds what, outputs,
 * roots and views. Digests of outputs are the run's own; later steps compute them again.
 *
 * @throws TracewrightError "plan_mismatch" with the node and the first field that differs
 */
export function compareWithPlan(dag: DagManifest, plan: ExperimentPlan): void {
  const { nodes, roots, views, uncoveredViews } = checkPlan(plan);
  const recorded = new Map(dag.nodes.map((node) => [node.id, node]));
  const planned = new Set(nodes.map(({ id }) => id));
  const digestOf = ({ node, output }: { readonly node: string; readonly output: string }) =>
    recorded.get(node)?.outputs[output]?.digest ?? null;
  for (const node of nodes) {
    const found = recorded.get(node.id);
    if (found === undefined) mismatch({ node: node.id }, { path: "id", expected: node.id, actual: null });
    compare({ node: node.id }, plannedNode(node, plan.config, digestOf), recordedNode(found));
  }
  const extra = dag.nodes.find(({ id }) => !planned.has(id));
  if (extra !== undefined) mismatch({ node: extra.id }, { path: "id", expected: null, actual: extra.id });
  compare({}, [
    { order: nodes.map(({ id }) => id) },
    { roots },
    {
      views: Object.fromEntries([
        ...views.map((view) => [view.path, digestOf(view)]),
        ...uncoveredViews.map((path) => [path, null]),
      ]),
    },
  ], [{ order: dag.nodes.map(({ id }) => id) }, { roots: dag.roots }, { views: dag.views }]);
}

/** The parts of a node, in the order in which a reader wants to hear of a difference: names before digests. */
type Parts = readonly { readonly [part: string]: unknown }[];

function plannedNode(
  { stage, params, inputs }: PlanNode,
  config: Digest,
  digestOf: (from: { readonly node: string; readonly output: string }) => Digest | null,
): Parts {
  const all = Object.entries(inputs).map(([name, from]): readonly [string, DagInput | Unmade] => {
    if ("node" in from) return [name, { digest: digestOf(from), producer: from.node }];
    return [name, { digest: from.source, producer: from.source === config ? "config" : "source" }];
  });
  return parts(stage, params, all, Object.entries(stage.outputs));
}

/** An input whose producer has no such output in the run. */
type Unmade = Omit<DagInput, "digest"> & { readonly digest: null };

function recordedNode({ stage, params, inputs, outputs }: DagNode): Parts {
  return parts(stage, params, Object.entries(inputs), Object.entries(outputs));
}

function parts(
  { name, version }: { readonly name: string; readonly version: number },
  params: Params,
  inputs: readonly (readonly [string, DagInput | Unmade])[],
  outputs: readonly (readonly [string, { readonly media_type: string }])[],
): Parts {
  return [
    { stage: { name, version } },
    { params },
    { inputs: Object.fromEntries(inputs.map(([input, { producer }]) => [input, { producer }])) },
    { inputs: Object.fromEntries(inputs.map(([input, { digest }]) => [input, { digest }])) },
    { outputs: Object.fromEntries(outputs.map(([output, { media_type }]) => [output, { media_type }])) },
  ];
}

function compare(place: { readonly node?: string }, expected: Parts, actual: Parts): void {
  for (const [i, part] of expected.entries()) {
    const difference = jsonDifference(asJson(part), asJson(actual[i]));
    if (difference !== null) mismatch(place, difference);
  }
}

function mismatch(
  place: { readonly node?: string },
  { path, expected, actual }: JsonDifference,
): never {
  throw verifyError("plan_mismatch", {
    verify_step: "structure",
    message: "the recorded DAG is not the one that its config stands for",
    ...place,
    field: path,
    expected,
    actual,
  });
}

/**
 * Checks that every output has the size that the run states for its content: a content that is recorded twice could
 * otherwise be stated with two sizes.
 *
 * @throws TracewrightError "size_mismatch"
 */
export function checkSizes({ dag, layers }: Pick<Run, "dag" | "layers">): void {
  const sizes = new Map(layers.map(({ digest, size }) => [digest, size]));
  for (const { id, outputs } of dag.nodes) {
    for (const [output, { digest, size }] of Object.entries(outputs)) {
      const expected = sizes.get(digest);
      if (size === expected) continue;
      throw verifyError("size_mismatch", {
        verify_step: "completeness",
        node: id,
        output,
        expected,
        actual: size,
      });
    }
  }
}

/** Whether a run was made by the code at hand. */
export interface KeyVerdict {
  /** Stages whose code differs; empty unless the caller asked to go on. */
  readonly otherCode: readonly string[];
}

/**
 * Computes every action key again, then compares the recorded code digests with those of the code at hand.
 *
 * @param onOtherCode `refuse` stops at a stage made by other code; `report` goes on and names it
 * @throws TracewrightError "numerics_mismatch", "action_key_mismatch", "code_version_mismatch"
 */
export function checkKeys(
  dag: DagManifest,
  { codes, numerics, onOtherCode }: {
    readonly codes: Codes;
    readonly numerics: readonly string[];
    readonly onOtherCode: "refuse" | "report";
  },
): KeyVerdict {
  const ids = [...numerics].sort();
  if (canonicalJson(ids) !== canonicalJson(dag.numerics)) {
    throw verifyError("numerics_mismatch", { verify_step: "keys", expected: ids, actual: dag.numerics });
  }
  const otherCode = new Set<string>();
  for (const node of dag.nodes) {
    const expected = keyOf(actionOf(node, dag.numerics));
    if (expected !== node.key) {
      throw verifyError("action_key_mismatch", {
        verify_step: "keys",
        node: node.id,
        expected,
        actual: node.key,
      });
    }
    const code = codeDigest(codes, node.stage.name);
    if (code === node.stage.code) continue;
    if (onOtherCode === "refuse") {
      throw verifyError("code_version_mismatch", {
        verify_step: "keys",
        node: node.id,
        stage: node.stage.name,
        expected: code,
        actual: node.stage.code,
        hint: "verify with the version whose lib/pipeline/codes.json lists the recorded digest, " +
          "or pass --other-code to ask whether this code gives the same bytes",
      });
    }
    otherCode.add(node.stage.name);
  }
  return { otherCode: [...otherCode].sort() };
}
