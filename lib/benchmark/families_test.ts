import assert from "node:assert/strict";
import { FAMILIES } from "./families.ts";

Deno.test("FAMILIES are the ten of the protocol, in its order", () => {
  assert.deepEqual(FAMILIES.map((family) => family.key), [
    "calendar_coordination",
    "ecommerce_returns",
    "travel_booking",
    "it_permissions",
    "customer_support",
    "expense_reimbursement",
    "subscription_changes",
    "cloud_incident_response",
    "recruitment_interviews",
    "order_fulfillment",
  ]);
  assert.equal(new Set(FAMILIES.map((family) => family.title)).size, 10);
});

Deno.test("FAMILIES have 15 different stage labels each, lower snake case, ending in archiving", () => {
  for (const { key, stages } of FAMILIES) {
    assert.equal(new Set(stages).size, 15, key);
    for (const stage of stages) assert.match(stage, /^[a-z]+(_[a-z]+)+$/);
    assert.match(stages[14]!, /^archive_/);
  }
});
