import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { planOf, TINY } from "./_example_run.ts";
import { encoderSettings, rewardSettings, SEMANTICS, SEMANTICS_NAMES, semanticsOf } from "./semantics.ts";

const FROZEN = {
  ...TINY,
  semantics: "frozen-v1.3",
  ppo: { ...TINY.ppo, sequence_minibatch: "protocol" },
} as const;

Deno.test("SEMANTICS_NAMES lists all semantics", () => {
  assert.deepEqual([...SEMANTICS_NAMES], Object.keys(SEMANTICS));
});

Deno.test("semanticsOf() gives the rules of the two generations", () => {
  assert.deepEqual(semanticsOf(TINY), {
    action_features: "schema",
    progress_labels: "absorbing-error",
    terminal_potential: "zero",
  });
  assert.deepEqual(semanticsOf(FROZEN), {
    action_features: "arguments",
    progress_labels: "noisy-continuation",
    terminal_potential: "estimated",
  });
});

Deno.test("encoderSettings() and rewardSettings() follow the semantics", () => {
  const fingerprint = (config: typeof TINY) => new FeatureEncoder(encoderSettings(config)).fingerprint;
  assert.notEqual(fingerprint(TINY), fingerprint(FROZEN));
  assert.deepEqual(rewardSettings(FROZEN), { ...rewardSettings(TINY), terminal_potential: "estimated" });
});

Deno.test("planExperiment() gives every stage that learns or plays the rules that it goes by", () => {
  const [current, frozen] = [TINY, FROZEN].map((config) => planOf(config).plan.nodes) as [
    ReturnType<typeof planOf>["plan"]["nodes"],
    ReturnType<typeof planOf>["plan"]["nodes"],
  ];
  const changed = frozen.filter(({ params }, i) =>
    canonicalJson(params) !== canonicalJson(current[i]!.params)
  );
  assert.deepEqual(changed.map(({ id }) => id).sort(), [
    "bc/17",
    "evaluate/b/17",
    "evaluate/e/17",
    "ppo/e/17",
    "progress/17",
  ]);
  for (const { params } of changed) assert.equal(params["action_features"], "arguments");
});
