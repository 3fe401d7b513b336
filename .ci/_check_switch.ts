/**
 * The switches of a rewritten verifier: one check at a time can be off, and which checks refused something is written down.
 * Imported before anything that was rewritten.
 */
import type { z } from "zod";

let watching = false;
let off: string | undefined;
let fired = new Set<string>();

/** True where the refusal that follows shall happen. */
function checkFires(name: string): boolean {
  if (!watching) return true;
  fired.add(name);
  return name !== off;
}

/** Calls a function of checks, or leaves it out. */
function checkCalls<T>(name: string, work: () => T): T | undefined {
  if (!watching) return work();
  if (name === off) return undefined;
  const failed = (error: unknown): never => {
    fired.add(name);
    throw error;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(failed) as T : result;
  } catch (error) {
    return failed(error);
  }
}

/** A schema that, when it is switched off, takes a value as it is. */
function checkField<S extends z.ZodType>(name: string, schema: S): S {
  return watched(schema, (issues) => issues.length === 0 || checkFires(name) ? issues : []);
}

/** A strict record that, when it is switched off, may have other fields, too. */
function checkStrict<S extends z.ZodType>(name: string, schema: S): S {
  return watched(schema, (issues) => {
    const others = issues.filter(({ code, path = [] }) => code !== "unrecognized_keys" || path.length > 0);
    return others.length === issues.length || checkFires(name) ? issues : others;
  });
}

type Issue = z.core.$ZodRawIssue;

function watched<S extends z.ZodType>(schema: S, keep: (issues: readonly Issue[]) => readonly Issue[]): S {
  const run: S["_zod"]["run"] = (payload, context) => {
    const { value } = payload;
    const result = schema._zod.run(payload, context);
    if (result instanceof Promise) throw new TypeError("a schema of the verifier waits for something");
    const issues = [...keep(result.issues)];
    return issues.length === result.issues.length ? result : { ...result, issues, value };
  };
  return Object.create(schema, { _zod: { value: Object.create(schema._zod, { run: { value: run } }) } }) as S;
}

Object.assign(globalThis, { checkFires, checkCalls, checkField, checkStrict });

/**
 * Does something with one check off, or with all of them on.
 *
 * @returns the names of the checks that refused something, in the order of the first time
 */
export async function withoutCheck(name: string | undefined, work: () => Promise<void>): Promise<string[]> {
  fired = new Set();
  off = name;
  watching = true;
  try {
    await work();
  } finally {
    watching = false;
  }
  return [...fired];
}
