import { executeAndExit, type ProgramCommand, type RunnableCommand } from "./_command.ts";
import { type CommandName, SPECS } from "./_specs.ts";

/**
 * The work of each command. A command's file is loaded only when it is called, so that `verify` neither needs the
 * permissions nor pays for the code of the others.
 */
const LOADERS: Readonly<Record<CommandName, () => Promise<RunnableCommand>>> = {
  "smoke": async () => (await import("./smoke.ts")).smoke,
  "ablate": async () => (await import("./ablate.ts")).ablate,
  "replicate": async () => (await import("./replicate.ts")).replicate,
  "preregister": async () => (await import("./preregister.ts")).preregister,
  "semantic-canary": async () => (await import("./semantic_canary.ts")).semanticCanary,
  "verify": async () => (await import("./verify.ts")).verify,
  "explain": async () => (await import("./explain.ts")).explain,
  "generate": async () => (await import("./generate.ts")).generate,
  "train": async () => (await import("./train.ts")).train,
  "evaluate": async () => (await import("./evaluate.ts")).evaluate,
  "run-episode": async () => (await import("./run_episode.ts")).runEpisode,
  "recompute": async () => (await import("./recompute.ts")).recompute,
  "audit": async () => (await import("./audit.ts")).audit,
  "derive-service-times": async () => (await import("./derive_service_times.ts")).deriveServiceTimes,
  "store": async () => (await import("./store.ts")).store,
  "bundle": async () => (await import("./bundle.ts")).bundle,
  "keygen": async () => (await import("./keygen.ts")).keygen,
  "sign": async () => (await import("./sign.ts")).sign,
  "attest": async () => (await import("./attest.ts")).attest,
  "signatures": async () => (await import("./signatures.ts")).signatures,
  "verify-release": async () => (await import("./verify_release.ts")).verifyRelease,
};

/** All commands, in the order of `--help`. */
export const COMMANDS: readonly ProgramCommand[] = SPECS.map((spec) => ({ spec, load: LOADERS[spec.name] }));

if (import.meta.main) {
  await executeAndExit({ call: "npx -y deno@2.9.6 task tracewright", commands: COMMANDS });
}
