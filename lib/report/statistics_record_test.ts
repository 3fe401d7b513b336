import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { exampleStatistics } from "./_example_records.ts";
import { parseStatisticsReport } from "./statistics_record.ts";

Deno.test("parseStatisticsReport() gives back what was written", () => {
  const record = exampleStatistics();
  assert.deepEqual(parseStatisticsReport(canonicalBytes(record)), record);
});

/** The record with one text replaced, which is then still canonical. */
function edited(from: string, to: string): Uint8Array {
  const text = new TextDecoder().decode(canonicalBytes(exampleStatistics()));
  assert.ok(text.includes(from), from);
  return new TextEncoder().encode(text.replace(from, to));
}

Deno.test("parseStatisticsReport() refuses any other form, and names the field", () => {
  const cases: [string, string, RegExp][] = [
    ['"tracewright.statistics.v1"', '"tracewright.statistics.v2"', /^schema$/],
    ['"role":"primary"', '"role":"best"', /role$/],
    ['"population":"cases"', '"population":"seeds"', /resamplings\.cases\.population$/],
    ['"holm":{', '"holm":3,"holms":{', /^holm$/],
    ['"power":0.8', '"power":1.5', /^settings\.power$/],
    ['"flipped_cases":', '"flipped":', /case_sign_flip/],
    ['"degrees_of_freedom":null', '"degrees_of_freedom":"many"', /degrees_of_freedom$/],
    ['"cases":12', '"cases":0', /cases$/],
  ];
  for (const [from, to, field] of cases) {
    assert.throws(() => parseStatisticsReport(edited(from, to)), (error) => {
      assert.ok(hasCode(error, "bad_record"), `${to}: ${error}`);
      assert.match(String(error.details["field"]), field);
      return true;
    });
  }
  assert.throws(() => parseStatisticsReport(edited(",", ", ")), (error) => hasCode(error, "not_canonical"));
});
