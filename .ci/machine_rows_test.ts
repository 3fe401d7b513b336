import assert from "node:assert/strict";
import golden from "../fixtures/golden.json" with { type: "json" };
import { emulatedMachines, hostMachines } from "./_machine_list.ts";
import { type Machine, machineRow } from "./_machine_row.ts";
import { machineTasks } from "./_machine_tasks.ts";
import { pipelineInMemory } from "./_pipeline_in_memory.ts";
import { askMachines } from "./machines.ts";

/** The cheap rows of `deno task machines`: this host at the size of smoke, and one emulated processor at a smaller one. */

const TASKS = await machineTasks();

for (const machine of await hostMachines()) {
  const { machine: name, runtime, workers } = machine;
  Deno.test(`${name}: the golden result with ${runtime}, workers: ${workers}`, async () => {
    const { result_id, left_out, failed, differs_from } = await machineRow(machine, TASKS);
    assert.deepEqual([left_out, failed, differs_from], [undefined, undefined, undefined]);
    assert.equal(result_id, golden.result_id);
  });
}

Deno.test("a small experiment has the same result on an emulated arm64, with two workers", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const machine = (await emulatedMachines(folder)).find(({ cpu, workers }) =>
      /^cortex/.test(cpu) && workers === 2
    )!;
    const { failed, left_out, differs_from } = await machineRow(machine, TASKS);
    if (left_out !== undefined) console.log(`the emulated machine is left out: ${left_out}`);
    assert.deepEqual([failed, differs_from], [undefined, undefined]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a machine on which the lowest bit of one weight comes out otherwise is found out", async () => {
  const machine: Machine = {
    machine: "one with a fault",
    cpu: "any",
    size: "small",
    runtime: "reference",
    workers: 1,
    run: async (config) => ({
      engine: "V8",
      ...await pipelineInMemory(config, (title, bytes) => {
        if (title !== "bc/17/checkpoint.bin") return bytes;
        return bytes.with(-4, bytes.at(-4)! ^ 1); // the last weight is the last four bytes, little-endian
      }),
    }),
  };
  const lines: string[] = [];
  const { code, rows: [row] } = await askMachines([machine], {
    tasks: TASKS,
    print: (line) => lines.push(line),
  });
  assert.equal(code, 1);
  assert.equal(row?.differs_from, "bc/17/checkpoint.bin");
  assert.notEqual(row?.result_id, TASKS.small.expected.result_id);
  assert.match(lines.join("\n"), /DIFFERENT from `bc\/17\/checkpoint\.bin` on/);
});
