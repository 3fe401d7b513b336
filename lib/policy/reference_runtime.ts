import { type Chunk, ChunkedSession, type GraphEvaluator } from "./_chunked_session.ts";
import { interpret } from "./_interpreter.ts";
import type { AdmittedGraph } from "./admission.ts";
import { ACTION_INPUT, LOGITS_OUTPUT, SEGMENT_INPUT, STATE_INPUT, VALUES_OUTPUT } from "./exact_graph.ts";
import type { PolicyOutput, PolicySession } from "./runtime.ts";

const NOTHING = new Float64Array(0);

/**
 * The graph interpreted in TypeScript: slower than ONNX Runtime, needs no permission, runs in a browser, and is the
 * second judge of every decision.
 */
export function openReference(graph: AdmittedGraph): PolicySession {
  const { model, stateWidth, actionWidth } = graph;

  function evaluate({ state, action, segment, decisions, candidates }: Chunk): PolicyOutput {
    const outputs = interpret(model, {
      matrices: {
        [STATE_INPUT]: { rows: decisions, columns: stateWidth, data: state },
        [ACTION_INPUT]: { rows: candidates, columns: actionWidth, data: action },
      },
      indices: { [SEGMENT_INPUT]: segment },
    });
    return { logits: outputs[LOGITS_OUTPUT]!.data, values: outputs[VALUES_OUTPUT]?.data ?? NOTHING };
  }

  const evaluator: GraphEvaluator = { evaluate, release: () => {} };
  return new ChunkedSession("reference", graph, evaluator);
}
