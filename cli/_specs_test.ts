import assert from "node:assert/strict";
import { command, type CommandSpec, execute } from "./_command.ts";
import { SPECS } from "./_specs.ts";

async function parsed(spec: CommandSpec, args: readonly string[]): Promise<unknown> {
  let seen: unknown;
  const load = () =>
    Promise.resolve(command(spec, (options, { argument }) => {
      seen = argument === undefined ? options : { ...options, argument };
      return Promise.resolve({ json: null, lines: [] });
    }));
  const terminal = { out: () => {}, err: () => {}, interactive: false, columns: 80 };
  const exit = await execute({ call: "x", commands: [{ spec, load }] }, args, terminal);
  return exit === 0 ? seen : exit;
}

const spec = (name: string) => {
  const found = SPECS.find((one) => one.name === name);
  assert.ok(found, name);
  return found;
};

Deno.test("SPECS: every example parses, and every command answers --help", async () => {
  for (const one of SPECS) {
    assert.equal(await parsed(one, ["--help"]), undefined);
    assert.ok(one.examples.length > 0);
    for (const example of one.examples) {
      const [name, ...args] = example.split(" ");
      assert.equal(name, one.name);
      assert.equal(typeof await parsed(one, args), "object", example);
    }
  }
});

Deno.test("SPECS: the defaults are those of the protocol", async () => {
  const train = await parsed(spec("train"), []) as Record<string, unknown>;
  assert.deepEqual([train["variant"], train["seed"], train["output"]], ["E", 17, "artifacts/runs"]);
  const generate = await parsed(spec("generate"), []) as Record<string, unknown>;
  assert.equal(generate["output"], "artifacts/benchmark-v1");
  const episode = await parsed(spec("run-episode"), ["--checkpoint", "c", "--variant", "B"]);
  assert.equal((episode as Record<string, unknown>)["caseIndex"], 0);
});

Deno.test("SPECS: what the protocol requires is required", async () => {
  for (const name of ["run-episode", "evaluate"]) {
    assert.equal(await parsed(spec(name), ["--variant", "E"]), 2);
    assert.equal(await parsed(spec(name), ["--checkpoint", "c"]), 2);
  }
  assert.equal(await parsed(spec("recompute"), []), 2);
  assert.equal(await parsed(spec("verify"), []), 2);
});

Deno.test("SPECS: no command takes switches for the mask or the reward", () => {
  for (const { options } of SPECS) {
    for (const name of Object.keys(options)) assert.doesNotMatch(name, /mask|reward|progress/i);
  }
});

Deno.test("SPECS: explain takes a stage or a digest, or only --seeds", async () => {
  assert.equal(
    (await parsed(spec("explain"), ["ppo/E/17"]) as Record<string, unknown>)["argument"],
    "ppo/E/17",
  );
  assert.equal((await parsed(spec("explain"), ["--seeds"]) as Record<string, unknown>)["seeds"], true);
});
