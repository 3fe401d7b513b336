import assert from "node:assert/strict";
import { PREREGISTER } from "./_matrix_specs.ts";
import { documented, run, TestBed } from "./_test_bed.ts";
import { preregister } from "./preregister.ts";

const BED = new TestBed();
const FULL = Deno.readTextFileSync(new URL("../configs/full.yaml", import.meta.url));

/** full.yaml with texts replaced, as a file of the test. */
function config(name: string, ...replace: readonly (readonly [string | RegExp, string])[]): string {
  const path = `${BED.folder}/${name}.yaml`;
  Deno.writeTextFileSync(path, replace.reduce((text, [from, to]) => text.replace(from, to), FULL));
  return path;
}

const SEED = /benchmark_seed: \d+/;

Deno.test(
  "preregister: writes the derived seed and nothing else, and then finds the config registered",
  { permissions: { ...documented(PREREGISTER, BED.folder), write: [BED.folder] } },
  async () => {
    const path = config("seed", [SEED, "benchmark_seed: 1"]);
    const before = await run(preregister, "--config", path, "--json");
    assert.equal(before.exit, 1);
    const { benchmark_seed, configs } = JSON.parse(before.out);
    assert.deepEqual(configs[0].difference, {
      field: "seeds.benchmark_seed",
      expected: benchmark_seed,
      actual: 1,
    });
    const written = await run(preregister, "--config", path, "--write");
    assert.equal(written.exit, 0, written.err);
    assert.equal(
      Deno.readTextFileSync(path),
      FULL.replace(SEED, `benchmark_seed: ${benchmark_seed}`),
    );
    assert.equal((await run(preregister, "--config", path)).exit, 0);
  },
);

Deno.test("preregister: a config of another design is wrong, whatever its seed, and --write does not mend it", async () => {
  const path = config("design", [/iterations: 8/, "iterations: 9"], [SEED, "benchmark_seed: 1"]);
  const { exit, out } = await run(preregister, "--config", path, "--write", "--json");
  assert.equal(exit, 1);
  const [{ difference }] = JSON.parse(out).configs;
  assert.deepEqual(difference, { field: "learner.ppo.iterations", expected: 8, actual: 9 });
  assert.match(Deno.readTextFileSync(path), /iterations: 9/);
  assert.match(Deno.readTextFileSync(path), /benchmark_seed: 1 #/);
});

Deno.test("preregister: the shipped configs carry the seed that follows from P", async () => {
  const { exit, out } = await run(preregister);
  assert.equal(exit, 0, out);
  assert.match(out, /full\.yaml {2}is the registered experiment/);
  assert.match(out, /full-frozen\.yaml {2}runs on the same benchmark/);
});

Deno.test("preregister: a config without a hypothesis is no request", async () => {
  const { exit, err } = await run(preregister, "--config", BED.config("smoke"));
  assert.equal(exit, 2);
  assert.match(err, /\[no_comparison\]/);
});
