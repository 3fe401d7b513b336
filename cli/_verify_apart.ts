import { fromWire, type WireError } from "../lib/stage/wire_error.ts";
import type { VerifyEvent, VerifyResult } from "../lib/verify/verify_run.ts";
import type { VerifyRequest } from "./_verify.ts";

/** What the worker sends: any number of events, then a verdict or an error. */
export type FromVerifier =
  | { readonly type: "event"; readonly event: VerifyEvent }
  | { readonly type: "passed"; readonly result: VerifyResult }
  | { readonly type: "failed"; readonly error: WireError };

/** All that a verifier may do: read. No writing, network, FFI, environment, subprocess or system information. */
const PERMISSIONS = {
  read: true,
  write: false,
  net: false,
  ffi: false,
  env: false,
  run: false,
  sys: false,
  import: false,
} as const;

/**
 * Verifies in a thread that may read and nothing else, whatever the process itself may do: a run that was just made with
 * FFI and write permission is checked as strangers will check it. Only who asks for the native runtime grants FFI, and with
 * it the second judge of metrics.
 */
export function verifyApart(
  request: VerifyRequest,
  listener: (event: VerifyEvent) => void,
): Promise<VerifyResult> {
  const options: WorkerOptions & { deno: { permissions: Deno.PermissionOptionsObject } } = {
    type: "module",
    deno: { permissions: { ...PERMISSIONS, ffi: request.runtime === "native" } },
  };
  const worker = new Worker(new URL("./_verify_worker.ts", import.meta.url), options);
  const verdict = new Promise<VerifyResult>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<FromVerifier>) => {
      if (data.type === "event") listener(data.event);
      else if (data.type === "passed") resolve(data.result);
      else reject(fromWire(data.error));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(`the verifying thread broke down: ${event.message}`));
    };
  });
  worker.postMessage(request);
  return verdict.finally(() => worker.terminate());
}
