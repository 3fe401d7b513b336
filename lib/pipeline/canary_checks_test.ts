import assert from "node:assert/strict";
import { rational } from "../evaluate/rational.ts";
import { canaryChecks, type CanaryFindings } from "./canary_checks.ts";

const GOOD: CanaryFindings = {
  oracle_tsr: rational(8, 8),
  bc_action_set_accuracy: rational(19, 20), // 0.95, the least that is enough
  bc_tsr: rational(6, 8), // 0.75, the least that is enough
  ppo_tsr: rational(6, 8),
  inconsistencies: 0,
  distinct_results: 1,
};

const failed = (change: Partial<CanaryFindings>) =>
  canaryChecks({ ...GOOD, ...change }).filter(({ passed }) => !passed).map(({ name }) => name);

Deno.test("canaryChecks() passes at the thresholds, whether PPO does as well, better or nothing", () => {
  assert.deepEqual(failed({}), []);
  assert.deepEqual(failed({ ppo_tsr: rational(8, 8) }), []);
  assert.deepEqual(failed({ ppo_tsr: rational(0, 8) }), []);
});

Deno.test("canaryChecks() fails the one check that a fault is about", () => {
  assert.deepEqual(failed({ oracle_tsr: rational(7, 8) }), ["oracle_tsr"]);
  assert.deepEqual(failed({ bc_action_set_accuracy: rational(68, 72) }), ["bc_action_set_accuracy"]);
  assert.deepEqual(failed({ bc_tsr: rational(5, 8) }), ["bc_tsr"]);
  assert.deepEqual(failed({ inconsistencies: 1 }), ["replay_inconsistencies"]);
  assert.deepEqual(failed({ distinct_results: 2 }), ["distinct_results"]);
});

Deno.test("canaryChecks() refuses two policies that never succeed", () => {
  assert.deepEqual(failed({ bc_tsr: rational(0, 8), ppo_tsr: rational(0, 8) }), [
    "bc_tsr",
    "policies_with_a_success",
  ]);
  assert.deepEqual(failed({ bc_tsr: rational(0, 8), ppo_tsr: rational(1, 8) }), ["bc_tsr"]);
});
