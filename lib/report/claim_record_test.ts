import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { exampleClaim } from "./_example_records.ts";
import { parseClaimCheck } from "./claim_record.ts";

Deno.test("parseClaimCheck() gives back what was written", () => {
  const record = exampleClaim();
  assert.deepEqual(parseClaimCheck(canonicalBytes(record)), record);
});

/** The record with one text replaced, which is then still canonical. */
function edited(from: string, to: string): Uint8Array {
  const text = new TextDecoder().decode(canonicalBytes(exampleClaim()));
  assert.ok(text.includes(from), from);
  return new TextEncoder().encode(text.replace(from, to));
}

Deno.test("parseClaimCheck() refuses any other form, and names the field", () => {
  const cases: [string, string, RegExp][] = [
    ['"tracewright.claim_check.v1"', '"tracewright.claim_check.v2"', /^schema$/],
    ['"canonical":false', '"canonical":"no"', /^canonical$/],
    ['"comparator":"=="', '"comparator":"!="', /comparator$/],
    ['"treatment":"E-PPO-Progress-Mask"', '"treatment":"G-Other"', /treatment$/],
    ['"passed":false', '"passed":null', /passed$/],
    ['"threshold":5', '"threshold":"5"', /threshold$/],
  ];
  for (const [from, to, field] of cases) {
    assert.throws(() => parseClaimCheck(edited(from, to)), (error) => {
      assert.ok(hasCode(error, "bad_record"), `${to}: ${error}`);
      assert.match(String(error.details["field"]), field);
      return true;
    });
  }
  assert.throws(() => parseClaimCheck(edited(",", ", ")), (error) => hasCode(error, "not_canonical"));
});
