import assert from "node:assert/strict";
import codes from "./codes.json" with { type: "json" };
import { SEED_PATHS, type SeedRoot } from "./seed_tree.ts";

/** The code of every file that some stage is made of. */
function sources(): string[] {
  const paths = new Set(Object.values(codes.stages).flatMap(({ files }) => files.map(({ path }) => path)));
  return [...paths].filter((path) => path.endsWith(".ts"))
    .map((path) => Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url)))
    .map((code) => code.replace(/^ *\/\*\*[^]*?\*\/$/gm, "")); // examples in docstrings hang on seeds of their own
}

/** Constants that stand in the code where the tree has their value. */
const NAMED: Readonly<Record<string, string>> = {
  STREAM_V13: "benchmark-v1.3",
  CASE_CLUSTER_METHOD: "case_cluster_percentile",
  PAIRED_METHOD: "paired_seed_case_cluster_percentile",
  "RESAMPLING_METHODS.cases": "paired_case_cluster_percentile",
  "RESAMPLING_METHODS.seeds": "paired_seed_percentile",
  "RESAMPLING_METHODS.seeds_and_cases": "paired_seed_case_cluster_percentile",
  CASE_SIGN_FLIP_STREAM: "paired_case_sign_flip",
  ACTION_VALIDITY: "action-validity-v2",
  "CONTINUATION_POLICY.schema": "tracewright.continuation.v2",
  "NOISY_CONTINUATION_POLICY.schema": "tracewright.noisy_continuation.v1",
};

/** A path as the code hashes it, every variable as `<>`. */
function pathOf(names: readonly string[]): string {
  return names.map((name) => /^".*"$/.test(name) ? name.slice(1, -1) : NAMED[name] ?? "<>").join("/");
}

/** Every path below a seed that the code hashes, as streams and as single draws. */
function* hashedPaths(): Generator<string> {
  for (const code of sources()) {
    for (const [, inside = ""] of code.matchAll(/new RandomStream\(([^()]*)\)/g)) {
      const [root = "", ...names] = inside.split(",").map((part) => part.trim()).filter((part) =>
        part !== ""
      );
      if (/[sS]eed$/.test(root)) yield pathOf(names);
      else assert.equal(root, "0", `a stream hangs on ${root}`); // public: the same for every experiment
    }
    for (
      const [, schema = "", rest = ""] of code.matchAll(/canonicalJson\(\[([\w".-]+), seed, ([^\]]*)\]/g)
    ) {
      yield pathOf([schema, ...rest.split(",").map((part) => part.trim())]);
    }
  }
}

Deno.test("SEED_PATHS lists every path that the code hashes below a seed, and no other", () => {
  const listed = Object.values(SEED_PATHS).flat().map(({ path }) =>
    path.map((name) => name.startsWith("<") ? "<>" : name).join("/")
  );
  assert.deepEqual([...listed].sort(), [...new Set(hashedPaths())].sort());
  assert.equal(new Set(listed).size, listed.length);
});

Deno.test("SEED_PATHS has the three roots of a config and names no variant", () => {
  const roots: SeedRoot[] = ["benchmark_seed", "run_seeds", "bootstrap_seed"];
  assert.deepEqual(Object.keys(SEED_PATHS), roots);
  for (const { path, decides } of Object.values(SEED_PATHS).flat()) {
    assert.doesNotMatch(path.join("/"), /variant/);
    assert.ok(decides.length > 0);
  }
});
