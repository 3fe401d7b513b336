import type { PolicyInput } from "./policy_input.ts";

/** What is known about an input that this room made: its canonical text and digest, as soon as someone asked for them. */
interface Seal {
  text: string | null;
  sha256: string | null;
}

const seals = new WeakMap<object, Seal>();

/** Marks a deeply frozen input as made by this room. */
export function seal(input: PolicyInput, text: string | null): PolicyInput {
  seals.set(input, { text, sha256: null });
  return input;
}

/** The seal of an input, or nothing for any other value. */
export function sealOf(value: unknown): Seal | undefined {
  return typeof value === "object" && value !== null ? seals.get(value) : undefined;
}
