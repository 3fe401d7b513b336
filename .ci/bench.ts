/**
 * Speeds of the parts that decide how long an experiment takes, each beside something known that was measured in the
 * same run, because only such ratios survive a change of machine.
 *
 *     deno task bench            a table
 *     deno task bench --json     the same as one JSON document
 */
import { generateSplit } from "../lib/benchmark/generate.ts";
import { canonicalJson, parseCanonical } from "../lib/core/canonical_json.ts";
import { sha256 } from "../lib/core/digest.ts";
import { RandomStream } from "../lib/core/random_stream.ts";
import { ActorCritic } from "../lib/learn/actor_critic.ts";
import { Adam } from "../lib/learn/adam.ts";
import { KernelArena } from "../lib/learn/arena.ts";
import { bcObjective } from "../lib/learn/bc.ts";
import { type DecisionBatch, decisionBatch } from "../lib/learn/decision_batch.ts";
import { exportActorCritic } from "../lib/learn/export_policy.ts";
import { KernelOracle } from "../lib/learn/kernel_oracle.ts";
import { type Kernels, wasmKernels } from "../lib/learn/kernels.ts";
import { type EncodedDecision, FeatureEncoder } from "../lib/policy/encoder.ts";
import { openSession } from "../lib/policy/open_runtime.ts";
import { type PolicyBatch, RUNTIME_NAMES } from "../lib/policy/runtime.ts";
import { ActionMask } from "../lib/world/action_mask.ts";
import { WorkflowEnvironment } from "../lib/world/environment.ts";
import { PolicyInputBuilder } from "../lib/world/policy_input_builder.ts";

interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** How often faster than the thing it is held against. */
  readonly ratio?: number;
  readonly against?: string;
}

const rows: Row[] = [];

/** Measured for at least this long, in milliseconds, in this many rounds, of which the median counts. */
const ROUND_MS = 120;
const ROUNDS = 5;

/** Calls a second, after a warm-up: the median of several rounds. */
async function rate(work: () => unknown): Promise<number> {
  await work();
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    let calls = 0;
    do {
      await work();
      calls++;
    } while (performance.now() - start < ROUND_MS);
    rates.push(calls * 1000 / (performance.now() - start));
  }
  return rates.sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN;
}

const WIDTHS = { stateWidth: 64, actionWidth: 64 };
const HIDDEN = 96;

/** Decisions with a fixed number of candidates; the features are random numbers on the grid. */
function syntheticBatch({ decisions, candidates }: { decisions: number; candidates: number }): DecisionBatch {
  const stream = new RandomStream(1, "bench");
  const features = (n: number) => Int32Array.from({ length: n }, () => stream.integer(2049) - 1024);
  const rowsOf = Array.from({ length: decisions }, () => ({
    state: features(WIDTHS.stateWidth),
    actions: features(candidates * WIDTHS.actionWidth),
    mask: Array<boolean>(candidates).fill(true),
  }));
  return decisionBatch(rowsOf, WIDTHS);
}

async function trainingKernel(): Promise<void> {
  using arena = new KernelArena();
  const n = 512 * 24;
  const [a, b, c] = [arena.allocate(n * HIDDEN), arena.allocate(HIDDEN * HIDDEN), arena.allocate(n * HIDDEN)];
  arena.floats.fill(0.5, a, c);
  const perSecond = await rate(() => arena.kernels.matmul(n, HIDDEN, HIDDEN, a, b, c, 0));
  rows.push({
    what: `matrix product ${n} x ${HIDDEN} x ${HIDDEN}`,
    value: 2 * n * HIDDEN * HIDDEN * perSecond / 1e9,
    unit: "GFLOP/s",
  });
}

/** Forward, backward and Adam steps a second. */
async function trainSteps(kernels: Kernels, decisions: DecisionBatch): Promise<number> {
  using arena = new KernelArena(kernels);
  const network = new ActorCritic(arena, { ...WIDTHS, hidden: HIDDEN });
  network.initialise(new RandomStream(1, "bench network"));
  const adam = new Adam(network.parameters, { learningRate: 1e-3 });
  const positives = new Uint8Array(decisions.mask.length);
  for (const first of decisions.offsets.subarray(0, -1)) positives[first] = 1;
  const objective = bcObjective({ decisions, positives }, { loss: 0, entropy: 0 });
  return await rate(() => {
    network.computeGradient(decisions, objective);
    adam.step();
  });
}

async function training(): Promise<void> {
  const big = await trainSteps(wasmKernels, syntheticBatch({ decisions: 512, candidates: 24 }));
  rows.push({ what: "train step, 512 decisions of 24 candidates", value: 1000 / big, unit: "ms" });
  const small = syntheticBatch({ decisions: 16, candidates: 24 });
  const wasm = await trainSteps(wasmKernels, small);
  const oracle = await trainSteps(new KernelOracle(1 << 21), small);
  rows.push({
    what: "train step, 16 decisions of 24 candidates",
    value: 1000 / wasm,
    unit: "ms",
    ratio: wasm / oracle,
    against: "the Math.fround oracle",
  });
}

const tasks = generateSplit({ split: "test", size: 60, baseSeed: 20260808 });

/** Walks the first oracle plan of each task. Returns the steps made; `look` sees every state before its step. */
function walk(look: (environment: WorkflowEnvironment, task: (typeof tasks)[number]) => void): number {
  let steps = 0;
  for (const task of tasks) {
    const environment = new WorkflowEnvironment(task);
    environment.reset();
    for (const call of task.oracle_plans[0] ?? []) {
      look(environment, task);
      environment.step(call);
      steps++;
    }
  }
  return steps;
}

/** All decisions along the oracle plans, as the policy would see them. */
function decisionsOnTheWay(): EncodedDecision[] {
  const encoder = new FeatureEncoder(WIDTHS);
  const found: EncodedDecision[] = [];
  const parts = new Map(tasks.map(({ case_id, tool_schemas }) => [
    case_id,
    { mask: new ActionMask(tool_schemas), inputs: new PolicyInputBuilder(tool_schemas) },
  ]));
  walk((environment, { case_id }) => {
    const { mask, inputs } = parts.get(case_id)!;
    const [observation, candidates] = [environment.observe(), environment.candidates()];
    const selectable = mask.mask(observation, candidates);
    found.push(encoder.encode(inputs.build({ observation, candidates, mask: selectable })));
  });
  return found;
}

async function world(): Promise<void> {
  const steps = walk(() => {});
  const alone = await rate(() => walk(() => {})) * steps;
  rows.push({ what: "environment steps", value: alone, unit: "1/s" });
  const masks = new Map(tasks.map(({ case_id, tool_schemas }) => [case_id, new ActionMask(tool_schemas)]));
  const judged = await rate(() =>
    walk((environment, { case_id, oracle_plans }) => {
      masks.get(case_id)!.mask(environment.observe(), environment.candidates());
      environment.dryRun(oracle_plans[0]![environment.steps]!);
    })
  ) * steps;
  rows.push({
    what: "the same with candidates, mask and dry run",
    value: judged,
    unit: "1/s",
    ratio: judged / alone,
    against: "steps alone",
  });
  const whole = await rate(decisionsOnTheWay) * steps;
  rows.push({
    what: "the same with policy input and features, all built anew",
    value: whole,
    unit: "1/s",
    ratio: whole / alone,
    against: "steps alone",
  });
}

function policyBatch(decisions: readonly EncodedDecision[]): PolicyBatch {
  return {
    state: Float64Array.from(decisions.flatMap(({ state }) => [...state])),
    action: Float64Array.from(decisions.flatMap(({ actions }) => [...actions])),
    segment: Int32Array.from(decisions.flatMap(({ mask }, d) => mask.map(() => d))),
  };
}

async function policies(): Promise<void> {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, { ...WIDTHS, hidden: HIDDEN });
  network.initialise(new RandomStream(1, "bench network"));
  const graph = exportActorCritic(network);
  const decisions = decisionsOnTheWay();
  const wasmRate = new Map<number, number>();
  for (const runtime of ["wasm", ...RUNTIME_NAMES.filter((name) => name !== "wasm")] as const) {
    using session = await openSession({ graph, runtime });
    for (const size of [1, 32, 256]) {
      const batch = policyBatch(decisions.slice(0, size));
      const perSecond = await rate(() => session.logits(batch)) * size;
      if (runtime === "wasm") wasmRate.set(size, perSecond);
      rows.push({
        what: `${runtime} decisions, batch ${size}`,
        value: perSecond,
        unit: "1/s",
        ...(runtime === "wasm" ? {} : { ratio: perSecond / wasmRate.get(size)!, against: "wasm" }),
      });
    }
  }
}

async function canonical(): Promise<void> {
  const value = tasks.slice(0, 20);
  const text = canonicalJson(value);
  const megabytes = new TextEncoder().encode(text).length / 1e6;
  const [ours, platform] = [
    await rate(() => canonicalJson(value)) * megabytes,
    await rate(() => JSON.stringify(value)) * megabytes,
  ];
  rows.push({
    what: "canonical JSON, writing",
    value: ours,
    unit: "MB/s",
    ratio: ours / platform,
    against: "JSON.stringify",
  });
  const [strict, plain] = [
    await rate(() => parseCanonical(text)) * megabytes,
    await rate(() => JSON.parse(text)) * megabytes,
  ];
  rows.push({
    what: "canonical JSON, reading",
    value: strict,
    unit: "MB/s",
    ratio: strict / plain,
    against: "JSON.parse",
  });
}

/** SHA-256 of openssl over 1 MiB blocks, in MB/s; nothing where there is no openssl. */
async function opensslSpeed(): Promise<number | undefined> {
  try {
    const { success, stdout } = await new Deno.Command("openssl", {
      args: ["speed", "-elapsed", "-seconds", "1", "-bytes", "1048576", "-mr", "sha256"],
      stderr: "null",
    }).output();
    // Machine-readable: +F:number:name:bytes a second
    const line = /^\+F:\d+:sha256:([0-9.e+]+)/m.exec(new TextDecoder().decode(stdout))?.[1];
    return success && line !== undefined ? Number(line) / 1e6 : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function hashing(): Promise<void> {
  const block = new Uint8Array(1 << 20);
  const ours = await rate(() => sha256(block)) * block.length / 1e6;
  const openssl = await opensslSpeed();
  rows.push({
    what: "SHA-256 of 1 MiB",
    value: ours,
    unit: "MB/s",
    ...(openssl === undefined ? {} : { ratio: ours / openssl, against: "openssl" }),
  });
}

for (const part of [trainingKernel, training, world, policies, canonical, hashing]) await part();

if (Deno.args.includes("--json")) {
  console.log(JSON.stringify(rows));
} else {
  const short = (value: number) => String(Number(value.toPrecision(3)));
  for (const { what, value, unit, ratio, against } of rows) {
    const beside = ratio === undefined ? "" : `  ${short(ratio)} times ${against}`;
    console.log(`${what.padEnd(58)} ${short(value).padStart(8)} ${unit.padEnd(8)}${beside}`);
  }
}
