import type { RandomStream } from "../../lib/core/random_stream.ts";

/**
 * Something that reads bytes from outside.
 *
 * `read` may return or throw a `TracewrightError` with one of `codes`. All else that it or the other functions throw is
 * a finding.
 */
export interface Target<Value = unknown> {
  /** Codes of a refusal: what the documentation of the reader promises. */
  readonly codes: readonly string[];
  /** Makes an input from random numbers alone. */
  make(random: RandomStream): Uint8Array<ArrayBuffer>;
  /** What is tested. */
  read(input: Uint8Array<ArrayBuffer>): Value | Promise<Value>;
  /** What must be so of everything that was accepted. */
  hold(value: Value, input: Uint8Array<ArrayBuffer>): void | Promise<void>;
  /** What must be so after a refusal. */
  refused?(input: Uint8Array<ArrayBuffer>): void | Promise<void>;
}

/** A {@link Target} with its own type of value, for lists of them. */
export function target<Value>(definition: Target<Value>): Target {
  return definition as Target;
}
