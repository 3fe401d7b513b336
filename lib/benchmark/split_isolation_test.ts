import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { generateBenchmark } from "./generate.ts";
import { checkSplitIsolation } from "./split_isolation.ts";

const { train, dev, test } = generateBenchmark({ sizes: { train: 2, dev: 2, test: 2 }, baseSeed: 1 });

Deno.test("checkSplitIsolation() accepts generated splits", () => {
  checkSplitIsolation({ train, dev, test });
});

for (const field of ["case_id", "entity_id", "seed"] as const) {
  Deno.test(`checkSplitIsolation() refuses a ${field} that occurs twice, within a split and across`, () => {
    const twin = { ...train[1]!, [field]: train[0]![field] };
    assert.throws(
      () => checkSplitIsolation({ train: [train[0]!, twin], dev, test }),
      (error) => hasCode(error, "duplicate_in_split") && error.details.field === field,
    );
    const stray = { ...test[0]!, [field]: train[0]![field] };
    assert.throws(
      () => checkSplitIsolation({ train, dev, test: [stray] }),
      (error) => hasCode(error, "split_overlap") && error.details.field === field,
    );
  });
}
