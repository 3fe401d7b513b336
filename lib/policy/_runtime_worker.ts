/** A worker for the tests: opens a session on the bytes it is sent, answers one batch, and reports what went wrong. */
import { admit } from "./admission.ts";
import { openSession } from "./open_runtime.ts";
import type { PolicyBatch, PolicyOutput, RuntimeName } from "./runtime.ts";

/** What the test sends. */
export interface RuntimeRequest {
  readonly onnx: Uint8Array;
  readonly runtime: RuntimeName;
  readonly batch: PolicyBatch;
}

/** What comes back. */
export type RuntimeReply = { readonly output: PolicyOutput } | { readonly error: string };

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<RuntimeRequest>) => void) | null;
  postMessage(reply: RuntimeReply): void;
};

async function answer({ onnx, runtime, batch }: RuntimeRequest): Promise<RuntimeReply> {
  try {
    using session = await openSession({ graph: admit(onnx), runtime });
    return { output: await session.logits(batch) };
  } catch (error) {
    return { error: String(error) };
  }
}

scope.onmessage = async ({ data }) => scope.postMessage(await answer(data));
