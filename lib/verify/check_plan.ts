import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { jsonDifference } from "../core/json_difference.ts";
import { checkPlan, type PlanInput } from "../stage/plan.ts";
import type { ExperimentPlan } from "../stage/plan.ts";
import { actionOf, type DagInput, type DagManifest } from "../store/manifest.ts";
import { keyOf } from "../store/action_record.ts";
import { codeDigest, type Codes } from "../stage/codes.ts";
import { verifyError } from "./verify_code.ts";

/**
 * Compares a recorded DAG with the plan that its config stands for: nodes, stages, parameters, what feeds what, outputs,
 * roots and views. Digests of outputs are the run's own; later steps compute them again.
 *
 * @throws TracewrightError "plan_mismatch" with the first field that differs
 */
export function compareWithPlan(dag: DagManifest, plan: ExperimentPlan): void {
  const { nodes, roots, views, uncoveredViews, config } = checkPlan(plan);
  const recorded = new Map(dag.nodes.map((node) => [node.id, node]));
  const input = (from: PlanInput): Json => {
    if ("source" in from) {
      return { digest: from.source, producer: from.source === config ? "config" : "source" };
    }
    const digest = recorded.get(from.node)?.outputs[from.output]?.digest ?? "";
    return { digest, producer: from.node } satisfies { digest: string; producer: DagInput["producer"] };
  };
  const expected = {
    config,
    nodes: nodes.map((node) => ({
      id: node.id,
      stage: { name: node.stage.name, version: node.stage.version },
      params: node.params,
      inputs: Object.fromEntries(Object.entries(node.inputs).map(([name, from]) => [name, input(from)])),
      outputs: Object.fromEntries(
        Object.entries(node.stage.outputs).map(([name, { media_type }]) => [name, media_type]),
      ),
    })),
    roots: [...roots],
    views: Object.fromEntries([
      ...views.map(({ path, node, output }) => [path, recorded.get(node)?.outputs[output]?.digest ?? ""]),
      ...uncoveredViews.map((path) => [path, null]),
    ]),
  };
  const actual = {
    config: dag.config,
    nodes: dag.nodes.map(({ id, stage, params, inputs, outputs }) => ({
      id,
      stage: { name: stage.name, version: stage.version },
      params,
      inputs,
      outputs: Object.fromEntries(
        Object.entries(outputs).map(([name, { media_type }]) => [name, media_type]),
      ),
    })),
    roots: dag.roots,
    views: dag.views,
  };
  const difference = jsonDifference(plain(expected), plain(actual));
  if (difference === null) return;
  const [, index] = /^nodes\.(\d+)/.exec(difference.path) ?? [];
  throw verifyError("plan_mismatch", {
    verify_step: "structure",
    message: "the recorded DAG is not the one that its config stands for",
    ...(index === undefined ? {} : { node: nodes[Number(index)]?.id ?? dag.nodes[Number(index)]?.id }),
    field: difference.path,
    expected: difference.expected,
    actual: difference.actual,
  });
}

function plain(value: unknown): Json {
  return JSON.parse(canonicalJson(value)) as Json;
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
  if (ids.join() !== dag.numerics.join()) {
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
