/**
 * `lib/store/FORMAT.md` says all there is to know: this program agrees with the vectors that were made from it, and programs
 * in Python that were written from it say of real runs and of forged ones what this program says.
 */
import assert from "node:assert/strict";
import { canonicalJson, parseCanonical } from "../lib/core/canonical_json.ts";
import { type Digest, digestOf } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { candidatesDigest, type TraceRecord } from "../lib/episode/trace.ts";
import { actorCriticLayout } from "../lib/learn/actor_critic.ts";
import { writeCheckpoint } from "../lib/learn/checkpoint.ts";
import { estimatorLayout } from "../lib/learn/estimator.ts";
import type { ParameterLayout } from "../lib/learn/parameter_block.ts";
import { NUMERICS, planExperiment } from "../lib/pipeline/experiment.ts";
import { readConfig } from "../lib/pipeline/yaml_config.ts";
import { admit } from "../lib/policy/admission.ts";
import { type ActionFeatureKind, FeatureEncoder } from "../lib/policy/encoder.ts";
import { writeExactNetwork } from "../lib/policy/exact_graph.ts";
import { ACTOR_CRITIC_LAYERS, ESTIMATOR_LAYERS } from "../lib/policy/exact_network.ts";
import { type FloatLayer, quantiseActorCritic, quantiseEstimator } from "../lib/policy/float_to_exact.ts";
import { openReference } from "../lib/policy/reference_runtime.ts";
import { CODES_SCHEMA, digestOfCode, type StageCodes } from "../lib/stage/codes.ts";
import { checkPlan } from "../lib/stage/plan.ts";
import { fromBase64, toBase64 } from "../lib/store/base64.ts";
import { checkRunBlobs, checkRunViews, readRun } from "../lib/store/read_run.ts";
import { isRunName } from "../lib/store/run_name.ts";
import { scratchFolder } from "../lib/store/scratch_folder.ts";
import { checkKeys, checkSizes } from "../lib/verify/check_plan.ts";
import type { ToolCall } from "../lib/world/contracts.ts";
import { ATTACKS } from "../fixtures/attacks/all_attacks.ts";
import { type Attack, carryOut } from "../fixtures/attacks/attack.ts";

const ROOT = new URL("..", import.meta.url);
const pathOf = (name: string) => decodeURIComponent(new URL(name, ROOT).pathname);

type Texts = Readonly<Record<string, string>>;
type Text<Field extends string> = readonly Readonly<Record<Field, string>>[];
type Numbers = readonly number[];

/** What the files of vectors hold, as `make.py` writes them. */
interface Vectors {
  readonly canonical_json: {
    readonly numbers: Text<"bits" | "text">;
    readonly texts: Text<"text" | "digest">;
    readonly refused: Text<"what" | "text">;
    readonly refused_bytes: Text<"what" | "hex">;
  };
  readonly names: { readonly good: readonly string[]; readonly refused: readonly string[] };
  readonly run: {
    readonly code: { readonly record: Pick<StageCodes, "files" | "packages">; readonly digest: Digest };
    readonly keys: Texts;
    readonly run_id: string;
    readonly result_id: string;
    readonly files: Texts;
    readonly refused: readonly {
      readonly what: string;
      readonly level: string;
      readonly code: string;
      readonly files: Readonly<Record<string, string | null>>;
    }[];
  };
  readonly checkpoint: {
    readonly fingerprints: readonly {
      readonly state_width: number;
      readonly action_width: number;
      readonly action_features: ActionFeatureKind;
      readonly digest: string;
    }[];
    readonly actor_critic: { readonly parameters: Numbers; readonly file: string; readonly digest: string };
    readonly estimator: { readonly size: number; readonly digest: string };
  };
  readonly graph: {
    readonly actor_critic: {
      readonly tensors: Readonly<Record<string, Numbers>>;
      readonly file: string;
      readonly digest: string;
      readonly decisions: readonly {
        readonly state: Numbers;
        readonly actions: readonly Numbers[];
        readonly logits: Numbers;
        readonly value: number;
      }[];
    };
    readonly estimator: { readonly size: number; readonly digest: string };
  };
  readonly trace: {
    readonly candidates: readonly ToolCall[];
    readonly line: string;
    readonly digest: string;
  };
}

function vectors<Name extends keyof Vectors>(name: Name): Vectors[Name] {
  return JSON.parse(Deno.readTextFileSync(new URL(`fixtures/vectors/${name}.json`, ROOT))) as Vectors[Name];
}

/** Python itself, past any launcher; undefined where there is none. */
function findPython(): string | undefined {
  try {
    const { success, stdout } = new Deno.Command("python3", {
      args: ["-c", "import sys; print(sys.executable if sys.version_info >= (3, 8) else '')"],
    }).outputSync();
    return success && new TextDecoder().decode(stdout).trim() || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const PYTHON = findPython();
if (PYTHON === undefined) {
  console.warn("SKIPPED: the verifier in Python, for there is no python3 of 3.8 or later here");
}

interface Verdict {
  readonly code: number;
  readonly output: string;
}

/** Runs a program of ours, cut off from packages and environment. */
function python(program: string, ...args: readonly string[]): Verdict {
  const { code, stdout, stderr } = new Deno.Command(PYTHON ?? "", {
    args: ["-E", "-s", "-B", pathOf(program), ...args],
  }).outputSync();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}

function pythonTest(name: string, test: () => void | Promise<void>): void {
  Deno.test({ name, ignore: PYTHON === undefined, fn: test });
}

/** The code of what a check throws, undefined where it is content. */
function codeOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof TracewrightError) return error.code;
    throw error;
  }
}

/** Writes a run of vectors; null stands for a file that is not there. */
function writeFiles(folder: string, files: Readonly<Record<string, string | null>>): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) continue;
    Deno.mkdirSync(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${folder}/${path}`, content);
  }
}

Deno.test("canonical JSON agrees with its vectors", () => {
  const { numbers, texts, refused, refused_bytes } = vectors("canonical_json");
  for (const { bits, text } of numbers) {
    const value = new DataView(new BigUint64Array([BigInt(`0x${bits}`)]).buffer).getFloat64(0, true);
    assert.equal(canonicalJson(value), text);
    assert.equal(parseCanonical(text), value);
  }
  for (const { text, digest } of texts) {
    assert.equal(canonicalJson(parseCanonical(text)), text);
    assert.equal(digestOf(text), digest);
  }
  for (const { what, text } of refused) {
    assert.equal(codeOf(() => parseCanonical(text)), "not_canonical", what);
  }
  for (const { what, hex } of refused_bytes) {
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    assert.equal(codeOf(() => parseCanonical(bytes)), "not_canonical", what);
  }
});

Deno.test("names agree with their vectors", () => {
  const { good, refused } = vectors("names");
  for (const name of good) assert.ok(isRunName(name), name);
  for (const name of refused) assert.ok(!isRunName(name), JSON.stringify(name));
});

Deno.test("runs agree with their vectors: ids, keys, and what is refused at which level", () => {
  const { code, keys, run_id, result_id, files, refused } = vectors("run");
  assert.equal(digestOfCode(code.record.files, code.record.packages), code.digest);
  const stage = { code: code.digest, files: [], packages: [] };
  const codes = { schema: CODES_SCHEMA, stages: { split: stage, sum: stage } } as const;
  const check = (folder: string) => {
    let level = "structure";
    const code = codeOf(() => {
      const run = readRun(folder);
      level = "completeness";
      checkRunBlobs(run);
      checkSizes(run);
      checkRunViews(run);
      level = "keys";
      checkKeys(run.dag, { codes, numerics: NUMERICS, onOtherCode: "refuse" });
      assert.deepEqual([run.runId, run.resultId], [run_id, result_id]);
      assert.deepEqual(Object.fromEntries(run.dag.nodes.map(({ id, key }) => [id, key])), keys);
    });
    return code === undefined ? "good" : `${level} ${code}`;
  };
  using good = scratchFolder();
  writeFiles(good.path, files);
  assert.equal(check(good.path), "good");
  for (const { what, level, code, files: changes } of refused) {
    using folder = scratchFolder();
    writeFiles(folder.path, { ...files, ...changes });
    assert.equal(check(folder.path), `${level} ${code}`, what);
  }
});

/** The layers that a checkpoint's parameters stand for. */
function layersOf<Name extends string>(
  names: readonly Name[],
  layout: ParameterLayout,
  parameters: Float32Array,
): Record<Name, FloatLayer> {
  const part = (name: string) => {
    const { offset, rows, cols } = layout.find((entry) => entry.name === name)!;
    return parameters.subarray(offset, offset + rows * cols);
  };
  return Object.fromEntries(
    names.map((name) => [name, { weights: part(`${name}.weight`), bias: part(`${name}.bias`) }]),
  ) as Record<Name, FloatLayer>;
}

const SMALL = { stateWidth: 2, actionWidth: 3, hidden: 2 } as const;
const ESTIMATOR_PARAMETERS = Float32Array.from({ length: 4353 }, (_, i) => ((i * 37) % 101 - 50) / 64);

Deno.test("checkpoints agree with their vectors", () => {
  const { fingerprints, actor_critic, estimator } = vectors("checkpoint");
  for (const { state_width, action_width, action_features, digest } of fingerprints) {
    const settings = { stateWidth: state_width, actionWidth: action_width, actionFeatures: action_features };
    assert.equal(new FeatureEncoder(settings).fingerprint, digest);
  }
  const encoderFingerprint = new FeatureEncoder({ stateWidth: 64, actionWidth: 64 }).fingerprint;
  const file = writeCheckpoint({
    kind: "actor_critic",
    ...SMALL,
    encoderFingerprint,
    parameters: Float32Array.from(actor_critic.parameters),
  });
  assert.deepEqual([toBase64(file), digestOf(file)], [actor_critic.file, actor_critic.digest]);
  const other = writeCheckpoint({
    kind: "estimator",
    stateWidth: 1,
    actionWidth: 0,
    hidden: 64,
    encoderFingerprint,
    parameters: ESTIMATOR_PARAMETERS,
  });
  assert.deepEqual([other.length, digestOf(other)], [estimator.size, estimator.digest]);
});

Deno.test("exact graphs agree with their vectors: weights, bytes and what they compute", async () => {
  const parameters = Float32Array.from(vectors("checkpoint").actor_critic.parameters);
  const { actor_critic, estimator } = vectors("graph");
  const network = quantiseActorCritic({
    ...SMALL,
    layers: layersOf(ACTOR_CRITIC_LAYERS, actorCriticLayout(SMALL), parameters),
  });
  for (const [name, { weights, bias }] of Object.entries(network.layers)) {
    assert.deepEqual(Array.from(weights), actor_critic.tensors[`${name}.weight`], name);
    assert.deepEqual(Array.from(bias), actor_critic.tensors[`${name}.bias`], name);
  }
  const file = fromBase64(actor_critic.file)!;
  assert.deepEqual(writeExactNetwork(network), file);
  const graph = admit(file);
  assert.equal(graph.digest, actor_critic.digest);
  using session = openReference(graph);
  for (const { state, actions, logits, value } of actor_critic.decisions) {
    const output = await session.logits({
      state: Float64Array.from(state),
      action: Float64Array.from(actions.flat()),
      segment: new Int32Array(actions.length),
    });
    assert.deepEqual([Array.from(output.logits), Array.from(output.values)], [logits, [value]]);
  }
  const small = writeExactNetwork(quantiseEstimator({
    stateWidth: 1,
    layers: layersOf(ESTIMATOR_LAYERS, estimatorLayout(1), ESTIMATOR_PARAMETERS),
  }));
  assert.deepEqual([small.length, digestOf(small)], [estimator.size, estimator.digest]);
});

/** No lie: what comes out is the run that attacks start from. */
const HONEST: Attack = { name: "nothing is changed", code: "", step: "claim", forge: () => {} };

/** Field names at every depth, with what stands there; a state may hold anything. */
function shapeOf(value: unknown, name = ""): unknown {
  if (name === "final_state" || name === "arguments") return "any object";
  if (Array.isArray(value)) return value.length === 0 ? "list" : [shapeOf(value[0])];
  if (name === "node_id" || name === "invalid_kind" || name === "phi_next_raw") return "something or null";
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item, key)]));
}

Deno.test("traces agree with their vector: the fields of a real line, the sums inside it", async () => {
  const { candidates, line, digest } = vectors("trace");
  const record = parseCanonical(line) as unknown as TraceRecord;
  assert.equal(digestOf(line), digest);
  const [step] = record.steps;
  assert.equal(candidatesDigest(candidates), (step as { candidates_sha256?: string }).candidates_sha256);
  let text = "";
  await carryOut({ ...HONEST, forge: (run) => void (text = run.text("evaluate/e/17/traces.jsonl")) });
  const lines = text.split("\n");
  assert.equal(lines.pop(), "");
  const real = parseCanonical(lines[0]!) as unknown as TraceRecord;
  // The vector is an episode of one step, the last one.
  const ended = { ...real, steps: real.steps.slice(-1) };
  assert.equal(JSON.stringify(shapeOf(ended)), JSON.stringify(shapeOf(record)));
});

pythonTest("the vectors are what their program writes", () => {
  assert.deepEqual(python("fixtures/vectors/make.py", "--check"), { code: 0, output: "" });
});

pythonTest("the independent verifier agrees with the vectors", () => {
  const { run_id, result_id, files, refused } = vectors("run");
  const judge = (changes: (typeof refused)[number]["files"]) => {
    using folder = scratchFolder();
    writeFiles(folder.path, { ...files, ...changes });
    return python("fixtures/independent/verify.py", folder.path);
  };
  const good = judge({});
  assert.equal(good.code, 0, good.output);
  assert.ok(good.output.endsWith(`run_id ${run_id}\nresult_id ${result_id}\n`), good.output);
  for (const { what, level, code, files: changes } of refused) {
    const said = judge(changes);
    assert.equal(said.code, 1, `${what}: ${said.output}`);
    assert.ok(said.output.startsWith(`refused ${level} ${code} `), `${what}: ${said.output}`);
  }
});

pythonTest("the independent verifier is small and needs nothing but Python", () => {
  const text = Deno.readTextFileSync(pathOf("fixtures/independent/verify.py"));
  assert.ok(text.split("\n").length - 1 < 300);
  const result = python("fixtures/independent/verify.py", "/does/not/exist");
  assert.equal(result.code, 2);
});

pythonTest("the independent plan of a config is the program's", () => {
  using folder = scratchFolder();
  for (const name of ["smoke", "full", "full-frozen"]) {
    const config = readConfig(Deno.readTextFileSync(pathOf(`configs/${name}.yaml`)), `configs/${name}.yaml`);
    const path = `${folder.path}/${name}.json`;
    Deno.writeTextFileSync(path, canonicalJson(config));
    const result = python("fixtures/independent/plan.py", "--print", path);
    assert.equal(result.code, 0, result.output);
    const digest = digestOf(canonicalJson(config));
    const { nodes, roots, views } = checkPlan(planExperiment(config, digest));
    const expected = {
      nodes: nodes.map(({ id, stage, params, inputs }) => ({
        id,
        stage: { name: stage.name, version: stage.version },
        params,
        inputs: Object.fromEntries(
          Object.entries(inputs).map(([input, from]) => [
            input,
            "node" in from
              ? { producer: from.node, digest: `${from.node}/${from.output}` }
              : { producer: "config", digest: "config" },
          ]),
        ),
        outputs: Object.fromEntries(
          Object.entries(stage.outputs).map(([output, { media_type }]) => [output, media_type]),
        ),
      })),
      roots,
      views: Object.fromEntries(views.map(({ path, node, output }) => [path, `${node}/${output}`])),
    };
    assert.deepEqual(JSON.parse(result.output), JSON.parse(canonicalJson(expected)), name);
  }
});

/** What both verifiers say of one folder. The plan is a program of its own there, and the last check of the structure. */
async function bothJudge(attack: Attack) {
  const said: Verdict[] = [];
  using scratch = scratchFolder();
  const codes = `${scratch.path}/codes.json`;
  const outcome = await carryOut({
    ...attack,
    async forge(run) {
      const stages = Object.fromEntries(run.nodes.map(({ stage }) => [stage.name, { code: stage.code }]));
      Deno.writeTextFileSync(codes, JSON.stringify({ stages }));
      await attack.forge(run);
      const { onFolder } = run;
      run.onFolder = (folder) => {
        onFolder?.(folder);
        said.push(python("fixtures/independent/verify.py", folder, codes));
        if (said[0]?.output.startsWith("refused structure")) return;
        said.unshift(python("fixtures/independent/plan.py", folder));
      };
    },
  });
  return { ...outcome, said: said.find(({ code }) => code !== 0) ?? said.at(-1)! };
}

pythonTest("the independent verifier finds a finished run good, with the same ids", async () => {
  const { result, said } = await bothJudge(HONEST);
  assert.ok(result !== undefined);
  assert.equal(said.code, 0, said.output);
  assert.ok(said.output.endsWith(`run_id ${result.run_id}\nresult_id ${result.result_id}\n`), said.output);
});

/** The levels that FORMAT.md describes. */
const LEVELS: ReadonlySet<string> = new Set(["structure", "completeness", "keys"]);
/** What is wrong with a config has many codes here, and one there. */
const BAD_CONFIG: ReadonlySet<string> = new Set(["inconsistent", "unknown_key", "wrong_type"]);
/** JavaScript loses this key before its name is looked at, and then finds that something was lost. */
const LOST = "the DAG manifest hides a field behind __proto__";

const forgeries = ATTACKS.filter(({ step, base, needs }) =>
  LEVELS.has(step) && base === undefined && (needs === undefined || Deno.build.os !== "windows")
);

pythonTest(
  `the independent verifier refuses ${forgeries.length} forgeries as this program does`,
  async () => {
    const differences: string[] = [];
    for (const attack of forgeries) {
      const { error, said } = await bothJudge(attack);
      assert.ok(error instanceof TracewrightError, attack.name);
      const { verify_step } = error.details as { readonly verify_step?: string };
      const code = attack.name === LOST
        ? "path_not_allowed"
        : BAD_CONFIG.has(error.code)
        ? "bad_config"
        : error.code;
      const expected = `refused ${verify_step} ${code} `;
      if (said.code === 1 && said.output.startsWith(expected)) continue;
      differences.push(`${attack.name}: ${expected}here, ${said.output.slice(0, 160)} there`);
    }
    assert.deepEqual(differences, []);
  },
);
