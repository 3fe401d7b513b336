import assert from "node:assert/strict";
import { canonicalBytes, type Json, parseCanonical } from "../core/canonical_json.ts";
import { digestOf, digestOfJson } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { subjectOf } from "./subject.ts";
import { readConfig } from "./yaml_config.ts";

function shipped(name: string): Json {
  const text = Deno.readTextFileSync(new URL(`../../configs/${name}.yaml`, import.meta.url));
  return parseCanonical(canonicalBytes(readConfig(text, name) as unknown as Json));
}

Deno.test("subjectOf() asks of the full matrix every cell, every estimator and the registered report", () => {
  const config = shipped("full");
  const subject = subjectOf(config, digestOfJson(config));
  assert.equal(subject.evaluations.length, 6 * 5);
  assert.equal(subject.calibrations.length, 5);
  assert.deepEqual(subject.benchmark.sizes, { train: 2000, dev: 200, test: 1000 });
  assert.notEqual(subject.report.registration, null);
  const ids = new Set(subject.plan.nodes.map(({ id }) => id));
  for (const { traces, policy, estimator, variant, selection } of subject.evaluations) {
    assert.ok(ids.has(traces.node) && ids.has(policy.node), variant);
    assert.equal(estimator === undefined, !/Progress/.test(variant), variant);
    assert.equal(selection, /Unmasked/.test(variant) ? "none" : "public", variant);
  }
});

Deno.test("subjectOf() asks for no registration where there is no hypothesis, and refuses what is no config", () => {
  const config = shipped("smoke");
  assert.equal(subjectOf(config, digestOfJson(config)).report.registration, null);
  assert.throws(
    () => subjectOf({ ...config as object, extra: 1 } as Json, digestOf("any")),
    (error) => hasCode(error, "unknown_key"),
  );
});
