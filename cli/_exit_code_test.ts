import assert from "node:assert/strict";
import { TracewrightError } from "../lib/core/error.ts";
import { exitCodeOf } from "./_exit_code.ts";

Deno.test("exitCodeOf() tells wrong evidence, a wrong request and a failing machine apart", () => {
  const cases: readonly [unknown, number][] = [
    [new TracewrightError("trace_mismatch"), 1],
    [new TracewrightError("impure_stage"), 1],
    [new TracewrightError("missing_blob"), 1],
    [new TracewrightError("toString"), 1],
    [new TracewrightError("metrics_sql_mismatch"), 1],
    [new TracewrightError("sql_required"), 1],
    [new TracewrightError("unknown_key"), 2],
    [new TracewrightError("unknown_variant"), 2],
    [new TracewrightError("no_such_file"), 2],
    [new Deno.errors.NotFound("x"), 2],
    [new Deno.errors.NotCapable("x"), 2],
    [new TracewrightError("disk_full"), 3],
    [new TracewrightError("runtime_unavailable"), 3],
    [new TracewrightError("sql_unavailable"), 3],
    [new Deno.errors.PermissionDenied("x"), 3],
    [new RangeError("Array buffer allocation failed"), 3],
    ["a thrown text", 3],
  ];
  for (const [error, code] of cases) assert.equal(exitCodeOf(error), code, String(error));
});
