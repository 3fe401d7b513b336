import assert from "node:assert/strict";
import { ablate } from "./ablate.ts";
import { ABLATE } from "./_matrix_specs.ts";
import { documented, run, TestBed } from "./_test_bed.ts";

const BED = new TestBed();
const FULL = Deno.readTextFileSync(new URL("../configs/full.yaml", import.meta.url));

function config(name: string, ...replace: readonly (readonly [string | RegExp, string])[]): string {
  const path = `${BED.folder}/${name}.yaml`;
  Deno.writeTextFileSync(path, replace.reduce((text, [from, to]) => text.replace(from, to), FULL));
  return path;
}

Deno.test(
  "ablate: refuses whatever is not the registered experiment, before anything is written",
  { permissions: { ...documented(ABLATE, BED.folder), ffi: false } },
  async () => {
    const cases: readonly [string, string][] = [
      [BED.config("smoke"), "other_seeds"],
      [config("seeds", ["17, 29, 43, 71, 101", "17, 29, 43, 101, 71"]), "other_seeds"],
      [config("tests", ["test_tasks: 1000", "test_tasks: 999"]), "other_test_size"],
      [config("design", ["iterations: 8", "iterations: 9"]), "not_registered"],
      [config("seed", [/benchmark_seed: \d+/, "benchmark_seed: 1"]), "not_registered"],
      // What the schema refuses already never gets as far.
      [config("samples", ["bootstrap_samples: 1000", "bootstrap_samples: 1"]), "inconsistent"],
      [config("variants", ["sequence_ppo", "action_ppo"]), "inconsistent"],
    ];
    const files = () => [...Deno.readDirSync(BED.folder)].map(({ name }) => name).sort();
    const before = files();
    for (const [file, code] of cases) {
      const ended = await run(
        ablate,
        "--config",
        file,
        "--store",
        BED.store,
        "--output",
        BED.runs,
        "--json",
      );
      assert.equal(ended.exit, 2, code);
      assert.equal(JSON.parse(ended.out).error.code, code);
      assert.match(ended.err, new RegExp(`\\[${code}\\]`));
    }
    assert.deepEqual(files(), before);
  },
);
