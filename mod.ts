/**
 * Tracewright as a library: stages, plans and the store; the world, the benchmark and the exact policy; episodes,
 * metrics and verification. The commands in `cli` use the same functions.
 *
 * Whatever is here keeps to one law: a result depends on parameters and input bytes, never on a clock, a path, a host or
 * an order of work.
 *
 * @module
 */

/** The one error class. Its `code` is from a closed set; its details name the place and both values. */
export { hasCode, TracewrightError } from "./lib/core/error.ts";
export type { ErrorDetails } from "./lib/core/error.ts";

/**
 * Canonical JSON (RFC 8785, stricter): one form for a value, so that equal values have equal digests. Reading refuses any
 * other form.
 */
export { canonicalBytes, canonicalJson, parseCanonical } from "./lib/core/canonical_json.ts";
export type { Json, JsonObject } from "./lib/core/canonical_json.ts";

/**
 * Where two JSON values differ.
 */
export { jsonDifference, jsonDifferences } from "./lib/core/json_difference.ts";
export type { JsonDifference } from "./lib/core/json_difference.ts";

/**
 * Content addresses: SHA-256, written `sha256:` and 64 hexadecimal digits.
 */
export { digestOf, digestOfJson, hexOf, isDigest, parseDigest } from "./lib/core/digest.ts";
export type { Digest } from "./lib/core/digest.ts";

/**
 * A named stream of random numbers, derived by hashing a path of names below a seed.
 */
export { RandomStream } from "./lib/core/random_stream.ts";
export type { StreamName } from "./lib/core/random_stream.ts";

/**
 * `exp` and `ln` with the same bits everywhere, and the logistic function made of them.
 */
export { exp, ln, sigmoid } from "./lib/core/numerics.ts";

/**
 * One folder with blobs named by their content, results of computations, and names.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Store } from "@tracewright/tracewright";
 *
 * const folder = Deno.makeTempDirSync();
 * {
 *   using store = Store.open(`${folder}/store`);
 *   const { digest } = store.blobs.put(new TextEncoder().encode("evidence"));
 *   store.refs.set("notes/first", digest);
 *   assert.equal(new TextDecoder().decode(store.blobs.read(digest)), "evidence");
 *   Deno.writeTextFileSync(store.blobs.blobPath(digest), "forged!!");
 *   assert.throws(() => store.blobs.read(digest), { code: "blob_damaged" });
 * }
 * Deno.removeSync(folder, { recursive: true });
 * ```
 */
export { Store } from "./lib/store/store.ts";

/**
 * Defines a stage: a pure function from parameters and input blobs to output blobs. `runStageInMemory` runs one without
 * a store, as a test does.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { z } from "zod";
 * import { defineStage, runStageInMemory } from "@tracewright/tracewright";
 *
 * const countLines = defineStage({
 *   name: "count-lines",
 *   version: 1,
 *   params: z.strictObject({ prefix: z.string() }),
 *   inputs: { text: { media_type: "text/plain" } },
 *   outputs: { count: { media_type: "application/json" } },
 *   run({ params, input, output }) {
 *     let count = 0;
 *     for (const line of input("text").lines()) if (line.startsWith(params.prefix)) count++;
 *     output("count").write(JSON.stringify({ count }));
 *   },
 * });
 *
 * const { count } = await runStageInMemory(countLines, {
 *   params: { prefix: "a" },
 *   inputs: { text: "ant\nbee\nape\n" },
 * });
 * assert.equal(new TextDecoder().decode(count), '{"count":2}');
 * ```
 */
export { defineStage } from "./lib/stage/define_stage.ts";
export { runStageForDigests, runStageInMemory } from "./lib/stage/run_stage.ts";
export type {
  Counted,
  InputBlob,
  OutputWriter,
  Ports,
  PortSpec,
  Stage,
  StageContext,
  StageDefinition,
  TypedStage,
} from "./lib/stage/define_stage.ts";

/**
 * Plans and runs stages, and writes the run as a folder that carries all of its evidence. What the store holds already is
 * not computed again. With {@link WorkerPoolExecutor} stages run in threads; the entry module of a thread calls
 * {@link serveStages}.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { z } from "zod";
 * import {
 *   canonicalBytes,
 *   checkPlan,
 *   defineStage,
 *   digestOf,
 *   explain,
 *   InlineExecutor,
 *   planNode,
 *   readRun,
 *   renderExplanation,
 *   runPlan,
 *   Store,
 *   writeRun,
 * } from "@tracewright/tracewright";
 *
 * const text = { media_type: "text/plain" };
 * const shout = defineStage({
 *   name: "shout",
 *   version: 1,
 *   params: z.strictObject({ marks: z.int() }),
 *   inputs: { words: text },
 *   outputs: { loud: text },
 *   run: ({ params, input, output }) =>
 *     output("loud").write(input("words").text().toUpperCase() + "!".repeat(params.marks)),
 * });
 *
 * const folder = Deno.makeTempDirSync();
 * {
 *   using store = Store.open(`${folder}/store`);
 *   const config = store.blobs.put(canonicalBytes({ name: "example" })).digest;
 *   const words = store.blobs.put(new TextEncoder().encode("hello")).digest;
 *   const plan = {
 *     config,
 *     nodes: [
 *       planNode(shout, { id: "first", params: { marks: 1 }, inputs: { words: { source: words } } }),
 *       planNode(shout, { id: "second", params: { marks: 2 }, inputs: { words: { node: "first", output: "loud" } } }),
 *     ],
 *     views: [{ path: "loud.txt", node: "second", output: "loud" }],
 *   };
 *   assert.deepEqual(checkPlan(plan).roots, ["second"]);
 *
 *   using executor = new InlineExecutor({ stages: [shout], store });
 *   const options = { store, executor, codeOf: () => digestOf("version 1 of my code"), numerics: [] };
 *   assert.equal((await runPlan(plan, options)).stats.ran, 2);
 *   const { dag, stats } = await runPlan(plan, options);
 *   assert.deepEqual(stats, { stages: 2, cached: 2, ran: 0 });
 *
 *   const written = writeRun(dag, { store: store.blobs, directory: `${folder}/runs` });
 *   assert.equal(Deno.readTextFileSync(`${written.path}/loud.txt`), "HELLO!!!");
 *   assert.equal(readRun(written.path).resultId, written.resultId);
 *   assert.match(renderExplanation(explain("second", { actions: store.actions.list(), dag })), /param marks +2\n/);
 * }
 * Deno.removeSync(folder, { recursive: true });
 * ```
 */
export { checkPlan, planNode } from "./lib/stage/plan.ts";
export { runPlan } from "./lib/stage/scheduler.ts";
export { InlineExecutor } from "./lib/stage/inline_executor.ts";
export { WorkerPoolExecutor } from "./lib/stage/worker_pool_executor.ts";
export { serveStages } from "./lib/stage/worker_entry.ts";
export { explain, renderExplanation } from "./lib/stage/explain.ts";
export { readRun } from "./lib/store/read_run.ts";
export { writeRun } from "./lib/store/write_run.ts";
export type { ExperimentPlan, PlanInput, PlanNode, PlanView } from "./lib/stage/plan.ts";
export type { PlanResult, RunEvent, RunOptions, RunStats } from "./lib/stage/scheduler.ts";
export type { Executor } from "./lib/stage/executor.ts";
export type { Explanation } from "./lib/stage/explain.ts";
export type { Run } from "./lib/store/read_run.ts";
export type { WrittenRun } from "./lib/store/write_run.ts";
export type { DagManifest } from "./lib/store/manifest.ts";

/**
 * Benchmark v1.3: tasks of ten families, each with an oracle that solves it, and the manifest that describes them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   benchmarkManifest,
 *   generateBenchmark,
 *   generateSplit,
 *   readTaskLines,
 *   writeTaskLines,
 * } from "@tracewright/tracewright";
 *
 * const sizes = { train: 20, dev: 10, test: 10 };
 * const benchmark = generateBenchmark({ sizes, baseSeed: 7 });
 * assert.equal(benchmarkManifest({ benchmark, baseSeed: 7 }).files.test.oracle_solvable, 10);
 * assert.deepEqual(readTaskLines(writeTaskLines(benchmark.test)), benchmark.test);
 * assert.deepEqual(generateSplit({ split: "test", size: 10, baseSeed: 7 }), benchmark.test);
 * ```
 */
export { generateBenchmark, generateSplit } from "./lib/benchmark/generate.ts";
export { benchmarkManifest } from "./lib/benchmark/manifest.ts";
export { readTaskLines, writeTaskLines } from "./lib/benchmark/task_lines.ts";
export type { Benchmark, SplitSizes } from "./lib/benchmark/generate.ts";
export type { BenchmarkManifest } from "./lib/benchmark/manifest.ts";

/**
 * The environment of one case, the mask that judges calls by public rules alone, the input that a policy sees, and the
 * features it becomes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   ActionMask,
 *   FeatureEncoder,
 *   generateSplit,
 *   policyInputDigest,
 *   policyInputFromDecision,
 *   readyGreedyRule,
 *   WorkflowEnvironment,
 * } from "@tracewright/tracewright";
 *
 * const [task] = generateSplit({ split: "test", size: 1, baseSeed: 7 });
 * const environment = new WorkflowEnvironment(task!);
 * const mask = new ActionMask(task!.tool_schemas);
 * const encoder = new FeatureEncoder({ stateWidth: 64, actionWidth: 64 });
 * while (!environment.done) {
 *   const observation = environment.observe();
 *   const candidates = environment.candidates();
 *   const input = policyInputFromDecision({
 *     observation,
 *     candidates,
 *     mask: mask.mask(observation, candidates),
 *     schemas: task!.tool_schemas,
 *   });
 *   assert.equal(policyInputDigest(input).length, 64);
 *   assert.equal(encoder.encode(input).state.length, 64);
 *   environment.step(candidates[readyGreedyRule.choose(input).actionIndex]!);
 * }
 * assert.ok(environment.evaluate().success);
 * assert.equal(environment.steps, task!.optimal_steps);
 * ```
 */
export { WorkflowEnvironment } from "./lib/world/environment.ts";
export { ActionMask } from "./lib/world/action_mask.ts";
export { policyInputDigest, policyInputFromDecision } from "./lib/world/policy_input.ts";
export { readyGreedyRule } from "./lib/benchmark/public_rules.ts";
export { FeatureEncoder } from "./lib/policy/encoder.ts";
export type { MaskResult } from "./lib/world/action_mask.ts";
export type {
  Observation,
  StepOutcome,
  TaskEvaluation,
  ToolCall,
  ToolSchema,
  ValidationResult,
  WorkflowState,
  WorkflowTask,
} from "./lib/world/contracts.ts";
export type { PolicyCandidate, PolicyInput, PolicyObservation } from "./lib/world/policy_input.ts";
export type { PublicRule } from "./lib/benchmark/public_rules.ts";
export type { EncodedDecision, EncoderWidths } from "./lib/policy/encoder.ts";

/**
 * Exact policies: trained float32 parameters become a graph in which nothing can round; only what passes
 * {@link admit} reaches a runtime; all runtimes give the same bytes; episodes leave traces; traces become metrics.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   ActorCritic,
 *   admit,
 *   caseCounts,
 *   exportActorCritic,
 *   FeatureEncoder,
 *   generateSplit,
 *   greedyActor,
 *   KernelArena,
 *   metricsReport,
 *   openSession,
 *   RandomStream,
 *   ruleActor,
 *   readyGreedyRule,
 *   runEpisodes,
 *   traceLine,
 *   traceRecord,
 * } from "@tracewright/tracewright";
 *
 * using arena = new KernelArena();
 * const network = new ActorCritic(arena, { stateWidth: 64, actionWidth: 64, hidden: 48 });
 * network.initialise(new RandomStream(17, "example"));
 * const graph = admit(exportActorCritic(network).bytes());
 * assert.throws(() => admit(new TextEncoder().encode("any other file")), { code: /^onnx_/ });
 *
 * const tasks = generateSplit({ split: "test", size: 10, baseSeed: 7 });
 * const settings = {
 *   encoder: new FeatureEncoder({ stateWidth: 64, actionWidth: 64 }),
 *   reward: {
 *     task_success: 1,
 *     task_failure: -1,
 *     invalid_action: -0.2,
 *     forbidden_effect: -1,
 *     step: -0.01,
 *     progress_beta: 0,
 *     gamma: 0.99,
 *   },
 *   selection: "public",
 * } as const;
 * const lines: string[] = [];
 * for (const runtime of ["wasm", "reference"] as const) {
 *   using session = await openSession({ graph, runtime });
 *   let text = "";
 *   for await (const episode of runEpisodes(tasks, greedyActor(session), settings)) {
 *     text += traceLine(traceRecord(episode, { mode: "compact", credit: "action" }));
 *   }
 *   lines.push(text);
 * }
 * assert.equal(lines[0], lines[1]);
 *
 * const rows = [];
 * for await (const episode of runEpisodes(tasks, ruleActor(readyGreedyRule), settings)) {
 *   rows.push(caseCounts(traceRecord(episode, { mode: "compact", credit: "action" }), 80_000));
 * }
 * const report = metricsReport([{ variant: "ready-greedy", seed: 0, rows }], {
 *   planned: tasks.map((task) => task.case_id),
 *   timeoutMs: 80_000,
 *   bootstrap: { samples: 20, confidence: 0.95, seed: 1 },
 *   comparisons: [],
 * });
 * assert.equal(report.runs[0]!.metrics.tsr.value, 1);
 * ```
 */
export { admit } from "./lib/policy/admission.ts";
export { openSession } from "./lib/policy/open_runtime.ts";
export { KernelArena } from "./lib/learn/arena.ts";
export { ActorCritic } from "./lib/learn/actor_critic.ts";
export { exportActorCritic } from "./lib/learn/export_policy.ts";
export { greedyActor } from "./lib/episode/actor.ts";
export { runEpisodes } from "./lib/episode/run_episodes.ts";
export { traceLine, traceRecord } from "./lib/episode/trace.ts";
export { ruleActor } from "./lib/evaluate/rule_actor.ts";
export { caseCounts } from "./lib/evaluate/case_counts.ts";
export { metricsReport } from "./lib/evaluate/metrics_report.ts";
export type { AdmittedGraph } from "./lib/policy/admission.ts";
export type { PolicyBatch, PolicyOutput, PolicySession, RuntimeName } from "./lib/policy/runtime.ts";
export type { Actor, Choice, PendingDecision } from "./lib/episode/actor.ts";
export type { RewardSettings } from "./lib/episode/reward_settings.ts";
export type { Episode, EpisodeSettings, EpisodeStep } from "./lib/episode/run_episodes.ts";
export type { CompactStep, FullStep, TraceRecord } from "./lib/episode/trace.ts";
export type { CaseCounts } from "./lib/evaluate/case_counts.ts";
export type { MetricsReport, ScoredRun } from "./lib/evaluate/metrics_report.ts";

/**
 * The experiments of this repository as plans, and the verifier that believes none of a run until it has checked it. A
 * verifier is told what a config stands for ({@link experimentSubject}) and which code and arithmetic are at hand;
 * nothing of that comes from the run.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   canonicalBytes,
 *   codeDigest,
 *   EXPERIMENT_NUMERICS,
 *   EXPERIMENT_STAGES,
 *   experimentConfig,
 *   experimentPlan,
 *   experimentSubject,
 *   InlineExecutor,
 *   recordedCodes,
 *   runPlan,
 *   runStageForDigests,
 *   Store,
 *   verifyRun,
 *   writeRun,
 * } from "@tracewright/tracewright";
 *
 * const yaml = Deno.readTextFileSync("configs/smoke.yaml")
 *   .replace(/_tasks: \d+/g, "_tasks: 10")
 *   .replace(/ {2}- name: E-[^]*?\n\n/, ""); // without the variant that has to train first
 * const config = experimentConfig(yaml, "example.yaml");
 * const codes = recordedCodes();
 *
 * const folder = Deno.makeTempDirSync();
 * {
 *   using store = Store.open(`${folder}/store`);
 *   using executor = new InlineExecutor({ stages: EXPERIMENT_STAGES, store });
 *   const { digest } = store.blobs.put(canonicalBytes(config));
 *   const { dag } = await runPlan(experimentPlan(config, digest), {
 *     store,
 *     executor,
 *     codeOf: (stage) => codeDigest(codes, stage),
 *     numerics: EXPERIMENT_NUMERICS,
 *   });
 *   const { path, runId } = writeRun(dag, { store: store.blobs, directory: `${folder}/runs` });
 *
 *   const verify = () =>
 *     verifyRun({
 *       reference: path,
 *       directory: `${folder}/runs`,
 *       subjectOf: experimentSubject,
 *       codes,
 *       numerics: EXPERIMENT_NUMERICS,
 *       runtime: "wasm",
 *       onOtherCode: "refuse",
 *       rebuild: ({ stage, params }, inputs) => runStageForDigests(stage, { params, inputs }),
 *       level: "standard",
 *     });
 *   assert.equal((await verify()).run_id, runId);
 *   Deno.writeTextFileSync(`${path}/report.md`, "Everything went well.");
 *   await assert.rejects(verify(), { code: "view_mismatch" });
 * }
 * Deno.removeSync(folder, { recursive: true });
 * ```
 */
export {
  EXPERIMENT_NUMERICS,
  EXPERIMENT_STAGES,
  experimentConfig,
  experimentPlan,
} from "./lib/pipeline/json_experiment.ts";
export { subjectOf as experimentSubject } from "./lib/pipeline/subject.ts";
export { recordedCodes } from "./lib/pipeline/recorded_codes.ts";
export { codeDigest } from "./lib/stage/codes.ts";
export { verifyRun } from "./lib/verify/verify_run.ts";
export type { Codes } from "./lib/stage/codes.ts";
export type { VerifyEvent, VerifyOptions, VerifyResult } from "./lib/verify/verify_run.ts";
export type { VerifySubject } from "./lib/verify/verify_subject.ts";
