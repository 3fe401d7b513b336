import type { CommandSpec } from "./_command.ts";
import { choice, flag, text, textOr, wholeNumber } from "./_options.ts";

/** The commands about the whole matrix, what was registered before it, and what stands beside it; see `_specs.ts`. */

const PERMISSIONS = [
  "--allow-read",
  "--allow-write=artifacts",
  "--allow-env=LOG_STREAM,LOG_TOKENS",
  "--allow-ffi",
] as const;

const execution = {
  output: textOr("artifacts/runs", "-o, --output <folder>", "where the folder of the run is written"),
  store: textOr("artifacts/store", "--store <folder>", "where blobs and finished stages are kept"),
  workers: wholeNumber(
    { minimum: 1, maximum: 64, fallback: 2 },
    "--workers <count>",
    "stages that may run at the same time; never changes a result",
  ),
  runtime: choice(
    ["native", "wasm", "reference", "auto"],
    "--runtime <name>",
    "what evaluates the policy; never changes a result",
  ),
  verifyRuntime: choice(
    ["wasm", "native", "reference"],
    "--verify-runtime <name>",
    "what replays the policy afterwards; another one than --runtime makes two runtimes agree",
  ),
  check: flag("--check", "run every stage again and compare with what is stored"),
  link: flag("--link", "hard-link blobs into the run folder, read-only, instead of copying them"),
} as const;

export const ABLATE = {
  name: "ablate",
  summary: "run the registered matrix, verify it, and say what it claims",
  options: {
    config: text(
      "-c, --config <file>",
      "experiment config in YAML; refused unless it is the registered one (default: the shipped configs/full.yaml)",
    ),
    ...execution,
  },
  examples: ["ablate", "ablate --verify-runtime native"],
  permissions: PERMISSIONS,
} as const satisfies CommandSpec;

export const REPLICATE = {
  name: "replicate",
  summary: "run the matrix by the published rules and set it beside the published figures",
  options: {
    config: text(
      "-c, --config <file>",
      "experiment config in YAML (default: the shipped configs/full-frozen.yaml)",
    ),
    ...execution,
  },
  examples: ["replicate", "replicate --verify-runtime native"],
  permissions: PERMISSIONS,
} as const satisfies CommandSpec;

export const PREREGISTER = {
  name: "preregister",
  summary: "derive the benchmark seed from the pre-registration, and check the configs that must carry it",
  options: {
    config: text(
      "-c, --config <file>",
      "experiment config in YAML (default: the shipped configs/full.yaml, and configs/full-frozen.yaml for its seed)",
    ),
    write: flag("--write", "write the derived seed into the configs; the design itself is never written"),
  },
  examples: ["preregister", "preregister --write"],
  permissions: ["--allow-read", "--allow-write=configs", "--allow-env=LOG_STREAM,LOG_TOKENS"],
} as const satisfies CommandSpec;

export const SEMANTIC_CANARY = {
  name: "semantic-canary",
  summary: "let the learner learn something it must be able to learn, twenty times, to the last bit",
  options: {
    config: text(
      "-c, --config <file>",
      "rewards and PPO settings that the canary does not fix (default: the shipped configs/smoke.yaml)",
    ),
    repetitions: wholeNumber(
      { minimum: 0, maximum: 1_000, fallback: 20 },
      "--repetitions <count>",
      "trainings from scratch; fewer than 20 are refused",
    ),
    runtime: execution.runtime,
  },
  examples: ["semantic-canary"],
  permissions: ["--allow-read", "--allow-env=LOG_STREAM,LOG_TOKENS", "--allow-ffi"],
} as const satisfies CommandSpec;
