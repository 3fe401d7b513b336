import assert from "node:assert/strict";
import { canonicalJson, type Json } from "../lib/core/canonical_json.ts";
import { documented, run, TestBed } from "./_test_bed.ts";
import { evaluate } from "./evaluate.ts";
import { recompute } from "./recompute.ts";
import { runEpisode } from "./run_episode.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const policy = bed.policy("policy", 1);
const other = bed.policy("other", 3);
const output = `${bed.folder}/recompute.json`;

interface Made {
  readonly traces: string;
  readonly metrics: string;
}

const evaluated = new Set<string>();

/** An evaluation, made when first asked for. */
async function evaluation(variant: string, checkpoint: string): Promise<Made> {
  const folder = `${bed.folder}/${variant}`;
  const made = { traces: `${folder}/traces.jsonl`, metrics: `${folder}/metrics.json` };
  if (evaluated.has(variant)) return made;
  evaluated.add(variant);
  const args = ["-c", config, "--store", bed.store, "-o", folder, "--runtime", "reference"];
  const { exit, err } = await run(evaluate, ...args, "--variant", variant, "--checkpoint", checkpoint);
  assert.equal(exit, 0, err);
  return made;
}

// deno-lint-ignore no-explicit-any -- a document that tests edit in places of their choice
type Document = any;

const compare = async ({ traces, metrics }: Made, ...more: string[]) => {
  const { exit, out, err } = await run(
    recompute,
    ...["--traces", traces, "--metrics", metrics, "-o", output, "--json", ...more],
  );
  return { exit, err, result: out === "" ? undefined : JSON.parse(out) as Document };
};

/** Other published metrics for the same traces. */
function published({ traces }: Made, document: Json): Made {
  const path = `${bed.folder}/published.json`;
  Deno.writeTextFileSync(path, canonicalJson(document));
  return { traces, metrics: path };
}

/** A copy of published metrics with something changed. */
function edited(made: Made, edit: (document: Document) => void): Made {
  const document = JSON.parse(Deno.readTextFileSync(made.metrics)) as Document;
  edit(document);
  return published(made, document);
}

Deno.test("recompute finds the metrics of an evaluation to be what its traces give", async () => {
  const made = await evaluation("B", policy);
  const { exit, result } = await compare(made);
  assert.equal(exit, 0);
  assert.deepEqual([result.matches, result.differences, result.not_compared], [true, [], []]);
  assert.deepEqual(result.run, { variant: "B-BC-Mask", seed: 17 });
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(output)), result);
});

Deno.test({
  name: "recompute needs no published metrics, and reads the trace of run-episode too",
  permissions: documented(recompute.spec, bed.folder),
  fn: async () => {
    const traces = `${bed.folder}/B/traces.jsonl`;
    const { exit, out } = await run(recompute, "--traces", traces, "-c", config, "-o", output, "--json");
    assert.equal(exit, 0);
    const { matches, published, metrics, bootstrap } = JSON.parse(out);
    assert.deepEqual([matches, published, bootstrap.samples], [null, null, 20]);
    const stated = JSON.parse(Deno.readTextFileSync(`${bed.folder}/B/metrics.json`));
    assert.deepEqual(metrics, stated.runs[0].metrics);

    const episode = `${bed.folder}/episode.json`;
    const args = ["--variant", "B", "--checkpoint", policy, "-o", episode, "--runtime", "reference"];
    assert.equal((await run(runEpisode, "-c", config, "--store", bed.store, ...args)).exit, 0);
    assert.equal((await run(recompute, "--traces", episode, "-c", config, "-o", output)).exit, 0);
  },
});

Deno.test("recompute has SQL confirm what it computes, where FFI is allowed", async () => {
  const { result } = await compare(await evaluation("B", policy));
  assert.equal(result.metrics_sql, "confirmed");
});

Deno.test({
  name: "recompute says that SQL was not asked, and what it needs",
  permissions: documented(recompute.spec, bed.folder),
  fn: async () => {
    const traces = `${bed.folder}/B/traces.jsonl`;
    const { exit, out } = await run(recompute, "--traces", traces, "-c", config, "-o", output);
    assert.equal(exit, 0);
    assert.match(out, /^metrics_sql: skipped \(needs --allow-ffi\)$/m);
  },
});

Deno.test("recompute shows an edited number by its path with both values, and exits 1", async () => {
  const made = await evaluation("B", policy);
  const cases: readonly [(document: Document) => void, string, Json | undefined][] = [
    [(document) => document.runs[0].metrics.tsr.value += 1e-12, "runs.0.metrics.tsr.value", undefined],
    [(document) => document.runs[0].metrics.cases = true, "runs.0.metrics.cases", true],
    [(document) => document.runs[0].denominators.planned = 11, "runs.0.denominators.planned", 11],
    [(document) => document.variants[0].metrics.cases = 9, "variants.0.metrics.cases", 9],
    [(document) => document.runs[0].extra = 1, "runs.0.extra", 1],
  ];
  for (const [edit, path, actual] of cases) {
    const { exit, result } = await compare(edited(made, edit));
    assert.equal(exit, 1, path);
    assert.equal(result.matches, false);
    assert.deepEqual(result.differences.map((difference: Document) => difference.path), [path]);
    if (actual !== undefined) assert.deepEqual(result.differences[0].actual, actual);
  }
  const lost = await compare(edited(made, (document) => void delete document.runs[0].metrics.macro_tsr));
  assert.deepEqual(lost.result.differences.map(({ path, actual }: Document) => [path, actual]), [
    ["runs.0.metrics.macro_tsr", undefined],
  ]);
});

Deno.test("recompute takes true for no 1 and false for no 0, either way round", async () => {
  const made = await evaluation("B", policy);
  for (const value of [0, 1]) {
    const field = (document: Document) => document.runs[0].denominators.excluded;
    const number = edited(made, (document) => field(document).missing_trace = value);
    const boolean = edited(made, (document) => field(document).missing_trace = value === 1);
    if (value === 1) assert.equal((await compare(number)).exit, 1);
    const { exit, result } = await compare(boolean);
    assert.equal(exit, 1);
    assert.equal(result.differences[0].actual, value === 1);
  }
});

Deno.test("recompute takes an empty or foreign document for a mismatch", async () => {
  const made = await evaluation("B", policy);
  for (const document of [{}, [], null, { runs: [] }, { runs: {} }, { runs: [null] }] as Json[]) {
    const { exit, result } = await compare(published(made, document));
    assert.equal(exit, 1, canonicalJson(document));
    assert.ok(result.differences.length > 0);
    assert.equal(result.run, null);
  }
});

Deno.test("recompute finds the run that traces belong to, or takes the one that is named", async () => {
  const [b, a] = [await evaluation("B", policy), await evaluation("A", other)];
  const whole = edited(b, (document) => {
    const second = JSON.parse(Deno.readTextFileSync(a.metrics)) as Document;
    document.runs.push(...second.runs);
    document.variants.push(...second.variants);
    document.comparisons = [{ treatment: "B-BC-Mask", baseline: "A-BC-Unmasked" }];
  });
  for (const [{ traces }, variant] of [[b, "B-BC-Mask"], [a, "A-BC-Unmasked"]] as const) {
    const { exit, result } = await compare({ traces, metrics: whole.metrics });
    assert.equal(exit, 0);
    assert.deepEqual(result.run, { variant, seed: 17 });
    assert.deepEqual(result.not_compared, ["the other runs", "comparisons"]);
    const named = await compare({ traces, metrics: whole.metrics }, "--variant", variant, "--seed", "17");
    assert.equal(named.exit, 0);
  }
  const wrong = await compare(whole, "--variant", "A");
  assert.equal(wrong.exit, 1);
  assert.deepEqual(wrong.result.run, { variant: "A-BC-Unmasked", seed: 17 });
  const absent = await compare(whole, "--seed", "18");
  assert.equal(absent.exit, 2);
  assert.match(absent.err, /\[no_such_entry\]/);
});

Deno.test("recompute refuses damaged traces by line, and metrics that are not canonical", async () => {
  const made = await evaluation("B", policy);
  const lines = Deno.readTextFileSync(made.traces).trimEnd().split("\n");
  const traces = `${bed.folder}/damaged.jsonl`;
  const cases: readonly [(line: string) => string, RegExp][] = [
    [(line) => line.slice(0, -20), /\[not_canonical\]\n {2}where: .*damaged\.jsonl, line 3/],
    [
      (line) => line.replace('"case_id"', '"case_ie"'),
      /\[trace_schema\]\n {2}where: .*line 3.*field case_id/,
    ],
    [(line) => line.replace(/"success":\w+/, '"success":1'), /\[trace_schema\]\n {2}where: .*field success/],
    [
      (line) => line.replace(/"step_count":\d+/, '"step_count":99'),
      /\[trace_schema\]\n {2}where: .*step_count/,
    ],
    [(line) => ` ${line}`, /\[trace_schema\]/],
    [() => "null", /\[trace_schema\]/],
  ];
  for (const [damage, message] of cases) {
    Deno.writeTextFileSync(traces, lines.map((line, i) => i === 2 ? damage(line) : line).join("\n") + "\n");
    const { exit, err } = await compare({ ...made, traces });
    assert.equal(exit, 1, err);
    assert.match(err, message);
  }
  Deno.writeTextFileSync(traces, lines.concat(lines[0]!).join("\n") + "\n");
  assert.match((await compare({ ...made, traces })).err, /\[unexpected_case\]/);
  const spaced = `${bed.folder}/spaced.json`;
  Deno.writeTextFileSync(spaced, JSON.stringify(JSON.parse(Deno.readTextFileSync(made.metrics)), null, 2));
  const refused = await compare({ ...made, metrics: spaced });
  assert.equal(refused.exit, 1);
  assert.match(refused.err, /\[not_canonical\]/);
  assert.equal((await compare({ ...made, metrics: `${bed.folder}/none.json` })).exit, 2);
});
