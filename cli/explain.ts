import { canonicalJson, type Json } from "../lib/core/canonical_json.ts";
import { type Digest, digestOfJson } from "../lib/core/digest.ts";
import { hasCode, TracewrightError } from "../lib/core/error.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import { nearestName } from "../lib/pipeline/config_problem.ts";
import { NUMERICS, planExperiment } from "../lib/pipeline/experiment.ts";
import { SEED_PATHS, type SeedRoot } from "../lib/pipeline/seed_tree.ts";
import { explain as explainAction, type Explanation, renderExplanation } from "../lib/stage/explain.ts";
import { parseDagManifest, resultId } from "../lib/store/manifest.ts";
import { parseRunManifest } from "../lib/store/run_manifest.ts";
import { Store } from "../lib/store/store.ts";
import { currentCodes } from "./_codes.ts";
import { command, type CommandResult, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { knownNodes } from "./_known_nodes.ts";
import { EXPLAIN } from "./_specs.ts";
import { usageError } from "./_usage_error.ts";

/** The tree of seeds below the roots of a config. */
function seedTree({ name, seeds }: ExperimentConfig): CommandResult {
  const roots = (Object.keys(SEED_PATHS) as SeedRoot[]).map((root) => ({
    root,
    values: [seeds[root]].flat(),
    paths: SEED_PATHS[root],
  }));
  const width = Math.max(...Object.values(SEED_PATHS).flat().map(({ path }) => path.join(" / ").length));
  return {
    json: {
      config: name,
      derivation: "SHA-256 of canonical [schema, root, ...path]",
      roots: roots.map(({ paths, ...root }) => ({
        ...root,
        paths: paths.map(({ path, decides }) => ({ path, decides })),
      })),
    },
    lines: [
      `Seeds of ${name}: each is a hash of a root and the path of names below it.`,
      ...roots.flatMap(({ root, values, paths }) => [
        "",
        `${root} ${values.join(", ")}`,
        ...paths.map(({ path, decides }) => `  ${path.join(" / ").padEnd(width)}  ${decides}`),
      ]),
    ],
  };
}

function asJson({ key, action, outputs, nodes, nearest }: Explanation): Json {
  const plain = {
    key,
    nodes,
    action,
    outputs: outputs ?? null,
    recorded: outputs !== undefined,
    nearest: nearest ?? null,
  };
  return JSON.parse(canonicalJson(JSON.parse(JSON.stringify(plain)))) as Json;
}

/** What a run's id, its result id or a config's digest stands for; undefined for anything else. */
function identity(
  reference: string,
  { config, store }: { readonly config: ExperimentConfig; readonly store: Store },
): CommandResult | undefined {
  const hex = /^(?:sha256:)?([0-9a-f]{4,64})$/.exec(reference)?.[1];
  if (hex === undefined) return undefined;
  const begins = (digest: Digest) => digest.startsWith(`sha256:${hex}`);
  for (const { digest: run } of store.refs.list("runs")) {
    const [layer] = parseRunManifest(store.blobs.read(run));
    const dag = parseDagManifest(store.blobs.read(layer!.digest));
    const ids = { run, result: resultId(dag), config: dag.config };
    const found = (["run", "result", "config"] as const).find((name) => begins(ids[name]));
    if (found === undefined) continue;
    const nodes = dag.nodes.map(({ id, key }) => ({ id, key }));
    return {
      json: { is: found, ...ids, nodes },
      lines: [
        `${ids[found]} is the ${found === "config" ? "config" : `${found} id`} of a finished run`,
        ...Object.entries(ids).map(([name, digest]) => `  ${name.padEnd(6)}  ${digest}`),
        ...nodes.map(({ id, key }) => `  ${id.padEnd(16)}  key ${key}`),
      ],
    };
  }
  const own = digestOfJson(config);
  return begins(own)
    ? {
      json: { is: "config", config: own },
      lines: [`${own} is the config of ${config.name}, which has not been run`],
    }
    : undefined;
}

/** `explain`: what a stage's key is made of, why it ran or would have to, and how seeds are derived. Runs nothing. */
export const explain = command(EXPLAIN, async (options, { argument }) => {
  if ((argument === undefined) !== options.seeds) {
    throw usageError("bad_command_line", {
      message: argument === undefined ? "nothing to explain" : "--seeds explains the whole config",
      expected: "a stage, a digest, or --seeds",
      hint: "explain ppo/E/17, or explain --seeds",
    });
  }
  const config = await loadConfig({ file: options.config, shipped: "smoke" });
  if (argument === undefined) return seedTree(config);
  using store = Store.open(options.store);
  const plan = planExperiment(config, digestOfJson(config));
  const { dag, waiting } = knownNodes(plan, { store, codes: currentCodes(), numerics: NUMERICS });
  const reference = argument.toLowerCase(); // node ids are lower-case, variants are spoken of in capitals
  const waits = waiting.get(reference);
  if (waits !== undefined) {
    throw usageError("no_key_yet", {
      message: "the stage has no key yet: what it reads has not been computed",
      node: reference,
      input: waits.input,
      actual: `${waits.producer} has not been run with this config, code and store`,
      hint: `explain ${waits.producer}`,
    });
  }
  let explanation: Explanation;
  try {
    explanation = explainAction(reference, { actions: store.actions.list(), dag });
  } catch (error) {
    if (!hasCode(error, "reference_not_found")) throw error;
    const known = identity(reference, { config, store });
    if (known !== undefined) return known;
    const nearest = nearestName(reference, plan.nodes.map(({ id }) => id));
    throw new TracewrightError(error.code, {
      ...error.details,
      hint: nearest === undefined
        ? `the stages of ${config.name} are ${plan.nodes.map(({ id }) => id).join(", ")}`
        : `did you mean ${nearest}?`,
      cause: error,
    });
  }
  return { json: asJson(explanation), lines: [renderExplanation(explanation).trimEnd()] };
});

if (import.meta.main) await executeCommand(explain);
