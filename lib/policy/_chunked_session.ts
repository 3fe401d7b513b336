import { policyError } from "./_error.ts";
import type { AdmittedGraph } from "./admission.ts";
import { FEATURE_MAX } from "./feature_grid.ts";
import type { PolicyBatch, PolicyOutput, PolicySession, RuntimeName } from "./runtime.ts";

/** Decisions that go through a graph together: more fall out of the second-level cache. Results do not depend on it. */
const CHUNK_DECISIONS = 32;
/** Candidates that go through a graph together, unless one decision alone has more. */
const CHUNK_CANDIDATES = 768;

/** A checked batch that is not empty, and its sizes. */
export interface Chunk extends PolicyBatch {
  readonly decisions: number;
  readonly candidates: number;
}

/** What a runtime adds: the graph applied to one chunk. Outputs may be views of memory that the next call reuses. */
export interface GraphEvaluator {
  evaluate(chunk: Chunk): PolicyOutput | Promise<PolicyOutput>;
  release(): void;
}

function checkFeatures(name: "state" | "action", values: Float64Array): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!(value >= -FEATURE_MAX && value <= FEATURE_MAX) || value !== Math.floor(value)) {
      throw policyError("feature_out_of_range", {
        message: "the exactness of a graph is proven for integers of bounded size only",
        input: name,
        index: i,
        expected: `an integer, at most ${FEATURE_MAX} in magnitude`,
        actual: value,
      });
    }
  }
}

function checkBatch(graph: AdmittedGraph, { state, action, segment }: PolicyBatch): number {
  const { stateWidth, actionWidth } = graph;
  const decisions = state.length / stateWidth;
  if (!Number.isInteger(decisions)) {
    throw policyError("bad_batch", {
      input: "state",
      expected: `rows of ${stateWidth}`,
      actual: state.length,
    });
  }
  if (action.length !== segment.length * actionWidth || (actionWidth === 0 && segment.length > 0)) {
    throw policyError("bad_batch", {
      input: "action",
      expected: actionWidth === 0
        ? "nothing for a state-only graph"
        : `${segment.length} rows of ${actionWidth}`,
      actual: action.length,
    });
  }
  let last = 0;
  for (let i = 0; i < segment.length; i++) {
    const decision = segment[i]!;
    if (decision < last || decision >= decisions) {
      throw policyError("bad_batch", {
        message: "candidates name their decision in ascending order",
        input: "segment",
        index: i,
        expected: `from ${last} to ${decisions - 1}`,
        actual: decision,
      });
    }
    last = decision;
  }
  checkFeatures("state", state);
  checkFeatures("action", action);
  return decisions;
}

/**
 * A session over any runtime: checks what the interval proof assumes, cuts large batches into chunks and puts the
 * outputs together again.
 */
export class ChunkedSession implements PolicySession {
  readonly #evaluator: GraphEvaluator;
  readonly #graph: AdmittedGraph;
  #state: "idle" | "busy" | "closed" = "idle";

  constructor(readonly runtime: RuntimeName, graph: AdmittedGraph, evaluator: GraphEvaluator) {
    this.#graph = graph;
    this.#evaluator = evaluator;
  }

  /**
   * @throws TracewrightError "bad_batch", "feature_out_of_range", "session_busy" while an earlier call is running,
   * "session_closed" after disposal, "runtime_failed" where the runtime itself gives up
   */
  async logits(batch: PolicyBatch): Promise<PolicyOutput> {
    if (this.#state !== "idle") {
      throw policyError(this.#state === "busy" ? "session_busy" : "session_closed", {
        hint: this.#state === "busy" ? "await each call before the next" : "open a new session",
      });
    }
    const decisions = checkBatch(this.#graph, batch);
    this.#state = "busy";
    try {
      return await this.#run(batch, decisions);
    } finally {
      this.#finish();
    }
  }

  #finish(): void {
    if (this.#state === "busy") this.#state = "idle";
    else this.#evaluator.release();
  }

  async #run({ state, action, segment }: PolicyBatch, decisions: number): Promise<PolicyOutput> {
    const { stateWidth, actionWidth } = this.#graph;
    const actor = actionWidth > 0;
    const logits = new Float64Array(actor ? segment.length : decisions);
    const values = new Float64Array(actor ? decisions : 0);
    let row = 0;
    for (let first = 0; first < decisions;) {
      const firstRow = row;
      let next = first;
      while (next < decisions && next - first < CHUNK_DECISIONS) {
        let end = row;
        while (end < segment.length && segment[end] === next) end++;
        if (next > first && end - firstRow > CHUNK_CANDIDATES) break;
        row = end;
        next++;
      }
      const output = await this.#evaluator.evaluate({
        state: state.subarray(first * stateWidth, next * stateWidth),
        action: action.subarray(firstRow * actionWidth, row * actionWidth),
        segment: segment.subarray(firstRow, row).map((decision) => decision - first),
        decisions: next - first,
        candidates: row - firstRow,
      });
      logits.set(output.logits, actor ? firstRow : first);
      values.set(output.values, actor ? first : 0);
      first = next;
    }
    return { logits, values };
  }

  [Symbol.dispose](): void {
    if (this.#state === "idle") this.#evaluator.release();
    this.#state = "closed";
  }
}
