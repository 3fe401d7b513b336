import type { z } from "zod";
import { type Json, parseCanonical } from "../core/canonical_json.ts";
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
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw reportError("bad_record", {
    record,
    field: issue?.path.join(".") ?? "",
    message: issue?.message ?? "the record does not fit",
    cause: result.error,
  });
}
