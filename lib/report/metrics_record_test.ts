import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { exampleMetrics } from "./_example_records.ts";
import { parseMetricsReport } from "./metrics_record.ts";

Deno.test("parseMetricsReport() gives back what was written, with and without intervals", () => {
  for (const metrics of [exampleMetrics(), exampleMetrics({ samples: 0, comparisons: [] })]) {
    assert.deepEqual(parseMetricsReport(canonicalBytes(metrics)), metrics);
  }
});

/** The metrics with one text replaced, which is then still canonical. */
function edited(from: string, to: string): Uint8Array {
  const text = new TextDecoder().decode(canonicalBytes(exampleMetrics()));
  assert.ok(text.includes(from), from);
  return new TextEncoder().encode(text.replace(from, to));
}

Deno.test("parseMetricsReport() refuses a point value that is not its fraction, and any other form", () => {
  const cases: [string, string, RegExp][] = [
    ['"value":0.2}', '"value":0.3}', /value$/],
    ['"denominator":5', '"denominator":-5', /denominator$/],
    ['"numerator":1,', '"numerator":1.5,', /numerator$/],
    ['"missing_trace":0', '"lost":0', /excluded/],
    ['"planned":5', '"planned":"5"', /planned$/],
    ['"samples":40', '"samples":1', /samples$/],
    ['"tracewright.metrics.v1"', '"tracewright.metrics.v2"', /^schema$/],
    ['"timeout_s":80', '"timeout_s":0', /^timeout_s$/],
    ['"seed_count":2', '"seed_count":0', /seed_count$/],
    ['"variant":"B"}', '"variant":2}', /variant$/],
    ['"variant":"B"}', '"variant":"B","wall_s":1}', /^(runs|variants)\.0$/],
  ];
  for (const [from, to, field] of cases) {
    assert.throws(() => parseMetricsReport(edited(from, to)), (error) => {
      assert.ok(hasCode(error, "bad_record"), `${to}: ${error}`);
      assert.match(String(error.details["field"]), field);
      return true;
    });
  }
  assert.throws(() => parseMetricsReport(edited(",", ", ")), (error) => hasCode(error, "not_canonical"));
});
