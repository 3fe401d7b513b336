import assert from "node:assert/strict";
import { COMMANDS } from "./main.ts";

Deno.test("COMMANDS: every spec has its work in the file of its name, runnable alone", async () => {
  for (const { spec, load } of COMMANDS) {
    assert.equal((await load()).spec, spec);
    const file = new URL(`${spec.name.replaceAll("-", "_")}.ts`, import.meta.url);
    const code = await Deno.readTextFile(file);
    assert.match(code, /\nif \(import\.meta\.main\) await executeCommand\(\w+\);\n$/, spec.name);
  }
});

Deno.test("COMMANDS: every file here is a command, or private to commands", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))].map(({ name }) => name)
    .filter((name) => !name.startsWith("_") && !name.endsWith("_test.ts"));
  const commands = COMMANDS.map(({ spec }) => `${spec.name.replaceAll("-", "_")}.ts`);
  assert.deepEqual(files.sort(), [...commands, "main.ts"].sort());
});

Deno.test("COMMANDS: there is no command that makes a claim from metrics", () => {
  assert.ok(!COMMANDS.some(({ spec }) => (spec.name as string) === "verify-claims"));
});
