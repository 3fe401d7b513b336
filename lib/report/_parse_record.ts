import type { z } from "zod";
import { canonicalJson, type Json, parseCanonical } from "../core/canonical_json.ts";
import { schemaProblem } from "../core/schema_problem.ts";
import { reportError } from "./_error.ts";

/**
 * Reads a record of the run: canonical bytes, and exactly the schema.
 *
 * @param record what it is called in messages
 * @throws TracewrightError "not_canonical", or "bad_record" naming the field
 */
export function parseRecord<T>(schema: z.ZodType<T>, bytes: Uint8Array, record: string): T {
  const value: Json = parseCanonical(bytes);
  const result = schema.safeParse(value);
  if (!result.success) {
    throw reportError("bad_record", { record, ...schemaProblem(result.error), cause: result.error });
  }
  // A schema drops a key `__proto__` of a map without a word.
  if (canonicalJson(result.data) === canonicalJson(value)) return result.data;
  throw reportError("bad_record", { record, field: "", message: "a field was read as something else" });
}
