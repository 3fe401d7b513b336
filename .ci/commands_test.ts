import assert from "node:assert/strict";
import { COMMANDS } from "../cli/main.ts";

/** Every command as a program of its own, with the permissions that its `--help` names and no others. */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

async function ran(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--cached-only", "--frozen", "--no-remote", "--no-prompt", ...args],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

for (const { spec } of COMMANDS) {
  const file = `cli/${spec.name.replaceAll("-", "_")}.ts`;
  Deno.test(`${file} runs alone with the permissions it names`, async () => {
    const { code, out, err } = await ran(...spec.permissions, file, "--help");
    assert.deepEqual([code, err], [0, ""]);
    assert.ok(out.includes(spec.permissions.join(" ")), out);
    // The file is the command: an example that named it again would be one argument too many.
    assert.ok(out.includes(`  deno run ${spec.permissions.join(" ")} ${file}`), out);
    assert.ok(!out.includes(`${file} ${spec.name}`), out);
  });
}

Deno.test("cli/main.ts lists all commands, and suggests the nearest one", async () => {
  const { code, out } = await ran("cli/main.ts", "--help");
  assert.equal(code, 0);
  for (const { spec } of COMMANDS) assert.ok(out.includes(`\n  ${spec.name} [options]`), spec.name);
  const { code: wrong, err } = await ran("cli/main.ts", "explian");
  assert.equal(wrong, 2);
  assert.match(err, /did you mean explain\?/);
});

Deno.test("a command without a permission that it needs exits 2 and says which", async () => {
  const { code, err } = await ran("cli/explain.ts", "--seeds");
  assert.equal(code, 2, err);
  assert.match(err, /--allow-(read|env)/);
});
