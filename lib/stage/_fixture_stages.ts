import { z } from "zod";
import { TracewrightError } from "../core/error.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { defineStage } from "./define_stage.ts";
import { type ExperimentPlan, planNode } from "./plan.ts";

/** A small experiment for the tests of this room: numbers are counted, doubled per node, and added up. */
const NUMBERS = "application/jsonl";
const CONFIG = "application/json";

/** Switches that make a stage misbehave on purpose. They are outside its parameters: that is the misbehaviour. */
export const mischief: {
  /** Mixed into the output of `double`. */
  impurity: string;
  /** Awaited by `double` in the middle of its output, if set. */
  pause?: (node: string) => Promise<void>;
} = { impurity: "" };

/** Counts from 0. */
export const count = defineStage({
  name: "count",
  version: 1,
  params: z.strictObject({ upTo: z.int().positive() }),
  inputs: { config: { media_type: CONFIG } },
  outputs: { numbers: { media_type: NUMBERS } },
  run({ params, output, progress }) {
    const numbers = output("numbers");
    for (let i = 0; i < params.upTo; i++) {
      numbers.write(`${i}\n`);
      progress((i + 1) / params.upTo, { unit: "numbers", count: i + 1, total: params.upTo });
    }
  },
});

/** Doubles each number and adds a constant. */
export const double = defineStage({
  name: "double",
  version: 3,
  params: z.strictObject({ add: z.int().default(0) }),
  inputs: { numbers: { media_type: NUMBERS } },
  outputs: { numbers: { media_type: NUMBERS } },
  async run({ params, input, output }) {
    const numbers = output("numbers");
    for (const line of input("numbers").lines()) {
      numbers.write(`${Number(line) * 2 + params.add}${mischief.impurity}\n`);
      if (line === "1") await mischief.pause?.(`${params.add}`);
    }
  },
});

/** Adds up any number of inputs. */
export const total = defineStage({
  name: "total",
  version: 1,
  params: z.strictObject({}),
  inputs: { "parts/*": { media_type: NUMBERS } },
  outputs: { sum: { media_type: "text/plain" } },
  run({ inputNames, input, output }) {
    let sum = 0;
    for (const name of inputNames("parts/")) for (const line of input(name).lines()) sum += Number(line);
    output("sum").write(`${sum}\n`);
  },
});

/** Fails with a code of its own. */
export const fail = defineStage({
  name: "fail",
  version: 1,
  params: z.strictObject({ how: z.enum(["coded", "plain"]) }),
  inputs: { numbers: { media_type: NUMBERS } },
  outputs: { never: { media_type: "text/plain" } },
  run({ params, output }) {
    output("never").write("half of it");
    if (params.how === "plain") throw new RangeError("a plain failure");
    throw new TracewrightError("lost_count", { expected: 3, actual: 2, line: 7, callback: () => {} });
  },
});

/** All of them. */
export const fixtureStages = [count, double, total, fail];

/** The bytes of the configuration that {@link fixturePlan} names. */
export const fixtureConfig = new TextEncoder().encode("{}");

/** One `count`, three `double`, one `total`. The sum is 3 (0 + 2 + 4 + 6 + 8) + 5 (0 + 1 + 2) = 75. */
export function fixturePlan(config: Digest = digestOf(fixtureConfig)): ExperimentPlan {
  const doubles = [0, 1, 2].map((add) =>
    planNode(double, {
      id: `double/${add}`,
      params: { add },
      inputs: { numbers: { node: "count", output: "numbers" } },
    })
  );
  const parts = Object.fromEntries(
    doubles.map(({ id }, i) => [`parts/${i}`, { node: id, output: "numbers" }] as const),
  ) as Record<`parts/${string}`, { node: string; output: string }>;
  return {
    config,
    nodes: [
      planNode(total, { id: "total", params: {}, inputs: parts }),
      planNode(count, { id: "count", params: { upTo: 5 }, inputs: { config: { source: config } } }),
      ...doubles,
    ],
    views: [{ path: "sum.txt", node: "total", output: "sum" }],
    uncoveredViews: ["sum.html"],
  };
}
