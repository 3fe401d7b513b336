import { type ErrorDetails, TracewrightError } from "../core/error.ts";
import type { Outputs } from "../store/action_record.ts";
import type { StageRequest } from "./executor.ts";
import type { Progress } from "./run_stage.ts";

/** What a pool sends to a worker: one request at a time. */
export interface ToWorker {
  readonly store: string;
  readonly request: StageRequest;
}

/** What a worker sends back: any number of `progress`, then `done` or `failed`. */
export type FromWorker =
  | { readonly type: "progress" } & Progress
  | { readonly type: "done"; readonly outputs: Outputs }
  | { readonly type: "failed"; readonly error: WireError };

/** An error in a form that can cross between threads. */
export interface WireError {
  /** The code of a TracewrightError; undefined for any other error. */
  readonly code?: string;
  readonly details?: ErrorDetails;
  readonly message: string;
  readonly stack?: string;
}

/** Takes an error apart; details that cannot cross become text. */
export function toWire(error: unknown): WireError {
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof TracewrightError)) return { message, ...stack };
  const details: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(error.details)) {
    if (name !== "cause") details[name] = plain(value);
  }
  return { code: error.code, details, message, ...stack };
}

/** Puts an error together again, with the stack of the other thread in its cause. */
export function fromWire({ code, details, message, stack }: WireError): Error {
  const origin = new Error(message);
  if (stack !== undefined) origin.stack = stack;
  return code === undefined ? origin : new TracewrightError(code, { ...details, cause: origin });
}

function plain(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return String(value);
  }
}
