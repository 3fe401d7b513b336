import assert from "node:assert/strict";
import golden from "../fixtures/golden.json" with { type: "json" };
import recorded from "../fixtures/results/machines.json" with { type: "json" };
import { digestOfJson } from "../lib/core/digest.ts";
import { outputOf } from "./_machine_program.ts";
import { LeftOut, type Machine, type MachineResult } from "./_machine_row.ts";
import { smokeConfig } from "./_machine_tasks.ts";
import { askMachines, type Machines, machinesLines, withMachines } from "./machines.ts";
import { textOf } from "./_tree.ts";

const README = textOf("README.md");
const MACHINES = recorded as Machines;
const CONFIG = smokeConfig();
const EXPECTED = { result_id: "sha256:a", outputs: { "bc/17/policy.onnx": "sha256:b" } };

function machine(run: () => MachineResult | Promise<MachineResult>): Machine {
  return {
    machine: "one",
    cpu: "any",
    size: "small",
    runtime: "reference",
    workers: 1,
    run: async () => await run(),
  };
}

async function asked(
  ...machines: readonly Machine[]
): Promise<{ readonly code: number; readonly lines: string[] }> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const task = { config: CONFIG, expected: EXPECTED };
  const { code } = await askMachines(machines, { tasks: { smoke: task, small: task }, print });
  return { code, lines };
}

Deno.test("the README's table of machines is the recorded one, of the present configs/smoke.yaml", () => {
  const hint = "run: deno task machines --write";
  assert.equal(README, withMachines(README, MACHINES, { golden: golden.result_id }), hint);
  assert.equal(MACHINES.config, digestOfJson(CONFIG), hint);
});

Deno.test("the recorded machines were all asked, and all found the same", () => {
  for (const { result_id, left_out, size } of MACHINES.rows) {
    assert.deepEqual([result_id, left_out], [MACHINES.expected[size], undefined]);
  }
  const has = (pattern: RegExp) => MACHINES.rows.some((row) => pattern.test(Object.values(row).join(", ")));
  const kinds = [/without AVX, .*emulated/, /without AVX-512, .*emulated/, /arm64, .*emulated/, /Node/];
  const ways = [/smoke, native, 1/, /smoke, native, 2/, /smoke, wasm, 1/, /smoke, wasm, 2/];
  for (const kind of [...kinds, ...ways]) assert.ok(has(kind), `${kind}`);
});

Deno.test("withMachines() writes what was found, so that an edited table is seen", () => {
  const rows = MACHINES.rows.map((row, i) => (i === 0 ? { ...row, cpu: "another" } : row));
  const now = { golden: golden.result_id };
  assert.notEqual(withMachines(README, { ...MACHINES, rows }, now), README);
  assert.throws(() => withMachines("no markers", MACHINES, now), /no place/);
});

Deno.test("machinesLines() says so where the result is another one by now", () => {
  const said = (now: string) => machinesLines(MACHINES, { golden: now }).join("\n");
  assert.doesNotMatch(said(MACHINES.expected.smoke), /Since then/);
  assert.match(said("sha256:00"), /Since then/);
});

Deno.test("askMachines() goes on past a machine that cannot be had, and says why", async () => {
  const absent = machine(() => {
    throw new LeftOut("no qemu here");
  });
  const present = machine(() => ({ engine: "V8", ...EXPECTED }));
  const { code, lines } = await asked(absent, present);
  assert.equal(code, 0);
  assert.match(lines[2]!, /\| left out: no qemu here \|$/);
  assert.match(lines[3]!, /`sha256:a…` \| same \|$/);
});

Deno.test("outputOf() leaves out what is not there, and fails where a program fails", async () => {
  await assert.rejects(outputOf(["no-such-program"], "."), (error) => error instanceof LeftOut);
  const failing = outputOf([Deno.execPath(), "eval", "console.error('why'); Deno.exit(3)"], ".");
  await assert.rejects(
    failing,
    (error) => !(error instanceof LeftOut) && /ended with 3: why/.test(`${error}`),
  );
});

Deno.test("askMachines() ends with 1 for another result and for a machine that broke down", async () => {
  const outputs = { "bc/17/policy.onnx": "sha256:c" };
  const other = await asked(machine(() => ({ engine: "V8", result_id: "sha256:d", outputs })));
  assert.equal(other.code, 1);
  assert.match(other.lines[2]!, /\| DIFFERENT from `bc\/17\/policy\.onnx` on \|$/);
  const broken = await asked(machine(() => {
    throw new Error("ended with SIGSEGV");
  }));
  assert.equal(broken.code, 1);
  assert.match(broken.lines[2]!, /\| FAILED: ended with SIGSEGV \|$/);
});
