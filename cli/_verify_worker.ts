/** The thread of {@link verifyApart}. */
import { toWire } from "../lib/stage/wire_error.ts";
import { verify, type VerifyRequest } from "./_verify.ts";
import type { FromVerifier } from "./_verify_apart.ts";

const scope = globalThis as unknown as {
  onmessage: ((event: { readonly data: VerifyRequest }) => void) | null;
  postMessage(message: FromVerifier): void;
};

scope.onmessage = async ({ data }) => {
  try {
    const result = await verify(data, (event) => scope.postMessage({ type: "event", event }));
    scope.postMessage({ type: "passed", result });
  } catch (error) {
    scope.postMessage({ type: "failed", error: toWire(error) });
  }
};
