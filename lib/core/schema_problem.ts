import { z } from "zod";

/** Longest message, in characters. */
const MAX = 300;

/** What a schema objects to first. */
export interface SchemaProblem {
  /** Where in the value; empty for the whole of it, and for what was no JSON. */
  readonly field: string;
  readonly message: string;
}

/**
 * Why something from outside could not be read: the first thing that its schema objects to, or what else went wrong. A file
 * can be wrong in a million places and hold a name of a million letters, and a message is for a person.
 */
export function schemaProblem(cause: unknown): SchemaProblem {
  const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
  const text = issue?.message ?? (cause instanceof Error ? cause.message : String(cause));
  return { field: short(issue?.path.join(".") ?? ""), message: short(text) };
}

function short(text: string): string {
  return text.length > MAX ? text.slice(0, MAX - 3) + "..." : text;
}
