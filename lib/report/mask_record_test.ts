import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { exampleMask } from "./_example_records.ts";
import { parseMaskMetrics } from "./mask_record.ts";

Deno.test("parseMaskMetrics() gives back what was written", () => {
  const record = exampleMask();
  assert.deepEqual(parseMaskMetrics(canonicalBytes(record)), record);
});

/** The record with one text replaced, which is then still canonical. */
function edited(from: string, to: string): Uint8Array {
  const text = new TextDecoder().decode(canonicalBytes(exampleMask()));
  assert.ok(text.includes(from), from);
  return new TextEncoder().encode(text.replace(from, to));
}

Deno.test("parseMaskMetrics() refuses any other form, and names the field", () => {
  const cases: [string, string, RegExp][] = [
    ['"tracewright.mask-metrics.v1"', '"tracewright.mask-metrics.v2"', /^schema$/],
    ['"false_positive":1', '"false_positive":-1', /false_positive$/],
    ['"value":0.975}', '"value":0.976}', /value$/],
    ['"safety":null', '"safest":null', /invalid_kind_recall/],
    ['"is_canonical_20k":false', '"is_canonical_20k":0', /^is_canonical_20k$/],
    ['"count":40', '"count":"40"', /^count$/],
    ['"valid_count":20', '"valid_count":20,"valid_lost":1', /^$/],
  ];
  for (const [from, to, field] of cases) {
    assert.throws(() => parseMaskMetrics(edited(from, to)), (error) => {
      assert.ok(hasCode(error, "bad_record"), `${to}: ${error}`);
      assert.match(String(error.details["field"]), field);
      return true;
    });
  }
  assert.throws(() => parseMaskMetrics(edited(",", ", ")), (error) => hasCode(error, "not_canonical"));
});
