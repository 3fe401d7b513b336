import { ATTEST, BUNDLE, KEYGEN, SIGN, SIGNATURES, STORE, VERIFY_RELEASE } from "./_bundle_specs.ts";
import type { CommandSpec } from "./_command.ts";
import { ABLATE, PREREGISTER, REPLICATE, SEMANTIC_CANARY } from "./_matrix_specs.ts";
import {
  choice,
  flag,
  optionalChoice,
  optionalWholeNumber,
  requiredText,
  text,
  textOr,
  wholeNumber,
} from "./_options.ts";

/**
 * What each command is called, takes and says about itself. The bodies stand in the files of the same name, so that
 * `main.ts` can list all commands without loading what they need.
 */

const RUNTIMES = ["native", "wasm", "reference", "auto"] as const;

const config = (which: "smoke" | "full") =>
  text("-c, --config <file>", `experiment config in YAML (default: the shipped configs/${which}.yaml)`);
const store = textOr("artifacts/store", "--store <folder>", "where blobs and finished stages are kept");
const runs = textOr("artifacts/runs", "-o, --output <folder>", "where the folder of the run is written");
const workers = wholeNumber(
  { minimum: 1, maximum: 64, fallback: 2 },
  "--workers <count>",
  "stages, or replays, that may run at the same time; never changes a result",
);
const runtime = choice(RUNTIMES, "--runtime <name>", "what evaluates the policy; never changes a result");
const check = flag("--check", "run every stage again and compare with what is stored");
const link = flag("--link", "hard-link blobs into the run folder, read-only, instead of copying them");
const variant = textOr("E", "--variant <name>", "cell of the matrix, by letter or full name");
const requiredVariant = requiredText("--variant <name>", "variant of the checkpoint, by letter or full name");
const seed = wholeNumber({ minimum: 0, maximum: 0xffff_ffff, fallback: 17 }, "--seed <number>", "run seed");
const checkpoint = requiredText(
  "--checkpoint <file|digest>",
  "exact policy graph: a file, or a digest or unique prefix of one in the store",
);

const estimator = text(
  "--estimator <file|digest>",
  "exact progress estimator, for the variants whose reward has a progress term (E, F)",
);

export const GENERATE = {
  name: "generate",
  summary: "write the tasks of a benchmark, with their oracle check and manifest",
  options: {
    config: config("full"),
    output: textOr("artifacts/benchmark-v1", "-o, --output <folder>", "where the benchmark is written"),
  },
  examples: ["generate", "generate -c configs/smoke.yaml -o artifacts/benchmark-smoke"],
  permissions: ["--allow-read", "--allow-write=artifacts", "--allow-env=LOG_STREAM,LOG_TOKENS"],
} as const satisfies CommandSpec;

export const TRAIN = {
  name: "train",
  summary: "train and evaluate one cell of the matrix",
  options: {
    config: config("full"),
    output: runs,
    store,
    variant,
    seed,
    workers,
    runtime,
    check,
    link,
  },
  examples: ["train --variant E --seed 17", "train -c configs/smoke.yaml --variant B"],
  permissions: [
    "--allow-read",
    "--allow-write=artifacts",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
    "--allow-ffi",
  ],
} as const satisfies CommandSpec;

export const SMOKE = {
  name: "smoke",
  summary: "run the smallest whole experiment, then verify it",
  options: { config: config("smoke"), output: runs, store, workers, runtime, check, link },
  examples: ["smoke", "smoke --workers 1 --check"],
  permissions: [
    "--allow-read",
    "--allow-write=artifacts",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
    "--allow-ffi",
  ],
} as const satisfies CommandSpec;

export const RUN_EPISODE = {
  name: "run-episode",
  summary: "run one test case and write its full trace",
  options: {
    checkpoint,
    estimator,
    variant: requiredVariant,
    config: config("full"),
    caseIndex: wholeNumber(
      { minimum: 0, maximum: 99_999, fallback: 0 },
      "--case-index <number>",
      "which test case, counted from 0 in the order of the split",
    ),
    output: textOr("artifacts/demo-episode.json", "-o, --output <file>", "where the trace is written"),
    store,
    runtime,
  },
  examples: [
    "run-episode -c configs/smoke.yaml --variant B --checkpoint 3f1c --case-index 4",
    "run-episode -c configs/smoke.yaml --variant E --checkpoint 3f1c --estimator 90ab",
  ],
  permissions: [
    "--allow-read",
    "--allow-write=artifacts",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
    "--allow-ffi",
  ],
} as const satisfies CommandSpec;

export const EVALUATE = {
  name: "evaluate",
  summary: "run a checkpoint over the test split and measure it",
  options: {
    checkpoint,
    estimator,
    variant: requiredVariant,
    seed: wholeNumber(
      { minimum: 0, maximum: 0xffff_ffff, fallback: 17 },
      "--seed <number>",
      "run seed that the checkpoint was trained with; names its row in the metrics",
    ),
    config: config("full"),
    output: textOr(
      "artifacts/evaluation",
      "-o, --output <folder>",
      "where the traces and metrics are written",
    ),
    store,
    runtime,
  },
  examples: [
    "evaluate -c configs/smoke.yaml --variant B --checkpoint policy.onnx",
    "evaluate -c configs/smoke.yaml --variant E --checkpoint 3f1c --estimator 90ab",
  ],
  permissions: [
    "--allow-read",
    "--allow-write=artifacts",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
    "--allow-ffi",
  ],
} as const satisfies CommandSpec;

export const RECOMPUTE = {
  name: "recompute",
  summary: "compute metrics from traces, and compare them with published ones",
  options: {
    traces: requiredText("--traces <file>", "traces in JSON Lines"),
    metrics: text("--metrics <file>", "published metrics to compare with; exit 1 where they differ"),
    variant: text(
      "--variant <name>",
      "which run of the metrics; without it, the one that fits the traces best",
    ),
    seed: optionalWholeNumber(
      { minimum: 0, maximum: 0xffff_ffff },
      "--seed <number>",
      "which run of the metrics, where a variant has several",
    ),
    config: text(
      "-c, --config <file>",
      "timeout and bootstrap where the metrics do not state them (default: the shipped configs/full.yaml)",
    ),
    output: textOr("artifacts/recompute.json", "-o, --output <file>", "where the comparison is written"),
  },
  examples: [
    "recompute --traces artifacts/evaluation/traces.jsonl --metrics artifacts/evaluation/metrics.json",
    "recompute --traces traces/e/17.jsonl --metrics metrics/metrics.json --variant E --seed 17",
  ],
  permissions: ["--allow-read", "--allow-write=artifacts", "--allow-env=LOG_STREAM,LOG_TOKENS"],
} as const satisfies CommandSpec;

export const VERIFY = {
  name: "verify",
  summary: "check every claim of a finished run; reads only",
  options: {
    manifest: requiredText(
      "-m, --manifest <file|digest>",
      "manifest of the run, or a unique prefix of its id",
    ),
    level: choice(["standard", "rebuild"], "--level <name>", "rebuild also trains again from scratch"),
    runtime: choice(["wasm", "native", "reference", "auto"], "--runtime <name>", "what replays the policy"),
    require: optionalChoice(
      ["sql"],
      "--require <judge>",
      "fail where this judge cannot run; sql needs --allow-ffi",
    ),
    otherCode: flag("--other-code", "go on where the run was made by other code, and say so in the verdict"),
    workers,
    runs: textOr("artifacts/runs", "--runs <folder>", "where runs are looked up by id"),
  },
  examples: ["verify --manifest artifacts/runs/0123456789abcdef/manifest.json", "verify --manifest 0123"],
  permissions: ["--allow-read"],
} as const satisfies CommandSpec;

export const EXPLAIN = {
  name: "explain",
  summary: "say what a stage's key is made of, why it ran, or how seeds are derived",
  argument: { name: "what", description: "stage such as ppo/E/17, or a digest or unique prefix of one" },
  options: {
    config: config("smoke"),
    store,
    seeds: flag("--seeds", "print the tree of seeds below the three roots of the config"),
  },
  examples: ["explain ppo/E/17", "explain 3f1c", "explain --seeds"],
  permissions: ["--allow-read", "--allow-env=LOG_STREAM,LOG_TOKENS"],
} as const satisfies CommandSpec;

export const AUDIT = {
  name: "audit",
  summary: "show how far a public rule of one line gets on the test split, decision by decision",
  options: {
    benchmarkTest: text("--benchmark-test <file>", "tasks to audit (default: generated from seed and size)"),
    config: config("full"),
    size: optionalWholeNumber(
      { minimum: 1, maximum: 100_000 },
      "--size <count>",
      "tasks of the test split (default: that of the config)",
    ),
    baseSeed: optionalWholeNumber(
      { minimum: 0, maximum: 0xffff_ffff },
      "--base-seed <number>",
      "seed that the tasks were generated with (default: that of the config)",
    ),
    output: textOr(
      "artifacts/audits/v1.3-public-ready",
      "-o, --output <folder>",
      "where the audit is written",
    ),
    verifyOnly: flag("--verify-only", "play a written audit again and compare; writes nothing"),
  },
  examples: ["audit", "audit --verify-only", "audit -c configs/smoke.yaml -o artifacts/audits/smoke"],
  permissions: ["--allow-read", "--allow-write=artifacts", "--allow-env=LOG_STREAM,LOG_TOKENS"],
} as const satisfies CommandSpec;

export const DERIVE_SERVICE_TIMES = {
  name: "derive-service-times",
  summary: "derive the simulated service times from the public Azure Functions trace of 2019",
  options: {
    source: requiredText(
      "--source <folder|archive>",
      "the 14 daily files of durations in a folder, or the archive (.tar.xz or .tar) that holds them",
    ),
    skipHash: flag("--skip-hash", "read an archive that is not the published one"),
    output: text("-o, --output <file>", "where the profile is written (default: nowhere)"),
  },
  examples: [
    "derive-service-times --source fixtures/azure",
    "derive-service-times --source azurefunctions-dataset2019.tar.xz -o artifacts/service-times.json",
  ],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;

/** Every command, in the order of `--help`. */
export const SPECS = [
  SMOKE,
  ABLATE,
  REPLICATE,
  PREREGISTER,
  SEMANTIC_CANARY,
  VERIFY,
  EXPLAIN,
  GENERATE,
  TRAIN,
  EVALUATE,
  RUN_EPISODE,
  RECOMPUTE,
  AUDIT,
  DERIVE_SERVICE_TIMES,
  STORE,
  BUNDLE,
  KEYGEN,
  SIGN,
  ATTEST,
  SIGNATURES,
  VERIFY_RELEASE,
] as const satisfies readonly CommandSpec[];

/** The name of a command. */
export type CommandName = (typeof SPECS)[number]["name"];
