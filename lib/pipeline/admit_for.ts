import { TracewrightError } from "../core/error.ts";
import { admit, type AdmittedGraph } from "../policy/admission.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";

/**
 * Admits a graph that is to stand behind an encoder. A graph of other widths could run all the same, on rows that begin in
 * the wrong place, whenever the sizes of a batch happen to divide.
 *
 * @throws TracewrightError "graph_mismatch" for another kind or other widths, and the codes of `admit`
 */
export function admitFor(
  encoder: FeatureEncoder,
  { kind, bytes }: { readonly kind: AdmittedGraph["kind"]; readonly bytes: Uint8Array },
): AdmittedGraph {
  const graph = admit(bytes);
  const actual = { kind: graph.kind, state_width: graph.stateWidth, action_width: graph.actionWidth };
  const expected = {
    kind,
    state_width: encoder.stateWidth,
    action_width: kind === "estimator" ? 0 : encoder.actionWidth,
  };
  if (
    actual.kind !== expected.kind || actual.state_width !== expected.state_width ||
    actual.action_width !== expected.action_width
  ) {
    throw new TracewrightError<"pipeline", "graph_mismatch">("graph_mismatch", {
      message: "the graph does not fit the encoder in front of it",
      expected,
      actual,
    });
  }
  return graph;
}
