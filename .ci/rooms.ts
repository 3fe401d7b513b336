/**
 * Which room may import which: the table of the architecture, as data. Imports go downward only; `policy` sees of the
 * world nothing but the policy input, and `pipeline` of the verifier nothing but the types of what it is asked to verify.
 */
export const ROOMS = {
  core: [],
  store: ["core"],
  stage: ["core", "store"],
  world: ["core"],
  benchmark: ["core", "world"],
  policy: ["core", "world/policy_input.ts"],
  episode: ["core", "world", "benchmark", "policy"],
  learn: ["core", "world", "benchmark", "policy", "episode"],
  evaluate: ["core", "world", "benchmark", "policy", "episode"],
  report: ["core", "evaluate"],
  verify: ["core", "store", "stage", "world", "benchmark", "policy", "episode", "evaluate", "report"],
  pipeline: [
    "core",
    "store",
    "stage",
    "world",
    "benchmark",
    "policy",
    "episode",
    "learn",
    "evaluate",
    "report",
    "verify/verify_subject.ts",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Room = keyof typeof ROOMS;

/** Files of `lib` that may touch the host: disk, workers, native code. Everything else also runs in a browser. */
const HOST_FILES = [
  /^lib\/store\//,
  /^lib\/stage\/[a-z_]*(executor|worker)[a-z_]*\.ts$/,
  /^lib\/policy\/(native_runtime|wasm_runtime|open_runtime|_runtime_worker|_ort_session)\.ts$/,
  /^lib\/evaluate\/(_sql_worker|sql_(database|judge|parquet))\.ts$/,
];

/** Whether a file of `lib`, by its path from the root, may use `Deno` and `node:` modules. */
export function isHostFile(path: string): boolean {
  return HOST_FILES.some((pattern) => pattern.test(path));
}

/** Whether a file is only run by `deno test` or `deno bench`. */
export function isTestFile(path: string): boolean {
  return /_(test|bench)\.ts$/.test(path);
}

/** The room of a file, by its path from the root; nothing outside `lib`. */
export function roomOf(path: string): string | undefined {
  return /^lib\/([^/]+)\//.exec(path)?.[1];
}

/**
 * Why one file may not import another, both by their path from the root; nothing where it may. A test may also use what
 * stands beside its room, as long as that does not stand above it.
 */
export function importFault(
  { from, to }: { readonly from: string; readonly to: string },
): string | undefined {
  const [here, there] = [roomOf(from), roomOf(to)];
  const home = there === undefined ? to.slice(0, to.lastIndexOf("/") + 1) : `lib/${there}/`;
  if (/(^|\/)_[^/]*$/.test(to) && !from.startsWith(home)) return `${to} is private to ${home}`;
  if (here === undefined) {
    return from.startsWith("cli/") && to.startsWith(".ci/") ? "cli may not import .ci" : undefined;
  }
  if (there === here) return undefined;
  if (there === undefined) return `lib may not import ${to}`;
  if (!Object.hasOwn(ROOMS, here)) return `lib/${here} is not a room of the architecture`;
  const allowed: readonly string[] = ROOMS[here as Room];
  if (allowed.includes(there) || allowed.some((one) => to === `lib/${one}`)) return undefined;
  if (isTestFile(from) && rank(there) < rank(here)) return undefined;
  return `lib/${here} may import ${allowed.join(", ") || "no other room"}, not lib/${there}`;
}

function rank(room: string): number {
  return Object.keys(ROOMS).indexOf(room);
}
