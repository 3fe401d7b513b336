import assert from "node:assert/strict";
import { command, type CommandBody, type CommandSpec, execute, type Program } from "./_command.ts";
import { choice, flag, requiredText, text, wholeNumber } from "./_options.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { digestOf } from "../lib/core/digest.ts";
import type { ActionKey } from "../lib/store/action_record.ts";
import type { Terminal } from "./_terminal.ts";

const KEY = digestOf("any key") as string as ActionKey;

const COUNT = {
  name: "count-lines",
  summary: "count things",
  argument: { name: "what", description: "what to count" },
  options: {
    sourceFile: requiredText("-s, --source-file <file>", "where they are"),
    label: text("--label <text>", "what to call them"),
    times: wholeNumber({ minimum: 1, maximum: 9, fallback: 3 }, "--times <count>", "how often"),
    mode: choice(["slow", "fast"], "--mode <name>", "in which way"),
    check: flag("--check", "twice"),
  },
  examples: ["count-lines -s a.txt"],
  permissions: ["--allow-read"],
} as const satisfies CommandSpec;

const OTHER = { ...COUNT, name: "verify", options: {} } as const satisfies CommandSpec;

interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

const ECHO: CommandBody<typeof COUNT> = (options, { argument }) =>
  Promise.resolve({ json: JSON.parse(JSON.stringify({ ...options, argument })), lines: ["echoed"] });

async function ran(
  args: readonly string[],
  { body = ECHO, alone = true }: { body?: CommandBody<typeof COUNT>; alone?: boolean } = {},
): Promise<Ran> {
  let [out, err] = ["", ""];
  const terminal: Terminal = {
    out: (piece) => out += piece,
    err: (piece) => err += piece,
    interactive: false,
    columns: 80,
  };
  const count = { spec: COUNT, load: () => Promise.resolve(command(COUNT, body)) };
  const other = {
    spec: OTHER,
    load: () => Promise.resolve(command(OTHER, () => Promise.resolve({ json: null, lines: ["verified"] }))),
  };
  const program: Program = { call: "prog", commands: alone ? [count] : [count, other] };
  return { exit: await execute(program, args, terminal), out, err };
}

Deno.test("execute() gives a body typed options, defaults and the argument", async () => {
  const { exit, out, err } = await ran(["things", "-s", "a", "--json"]);
  assert.deepEqual([exit, err], [0, ""]);
  assert.deepEqual(JSON.parse(out), {
    argument: "things",
    sourceFile: "a",
    times: 3,
    mode: "slow",
    check: false,
  });
  const full = await ran(["-s", "a", "--label=x", "--times", "9", "--mode", "fast", "--check", "--json"]);
  assert.deepEqual(JSON.parse(full.out), {
    sourceFile: "a",
    label: "x",
    times: 9,
    mode: "fast",
    check: true,
  });
});

Deno.test("execute() prints lines, or with --json one document, on standard output", async () => {
  assert.equal((await ran(["-s", "a"])).out, "echoed\n");
  assert.equal((await ran(["-s", "a", "--json"])).out.split("\n").length, 2);
});

Deno.test("execute() drops one leading --", async () => {
  assert.equal((await ran(["--", "-s", "a"])).exit, 0);
  assert.equal((await ran(["--", "count-lines", "-s", "a"], { alone: false })).exit, 0);
  assert.equal((await ran(["--", "--", "-s", "a"])).exit, 2);
});

Deno.test({
  name: "execute() needs no permission of its own, not even for help and mistakes",
  permissions: "none",
  fn: async () => {
    assert.equal((await ran(["-s", "a"])).exit, 0);
    assert.equal((await ran(["--help"])).exit, 0);
    assert.equal((await ran(["--hlp"])).exit, 2);
    assert.equal((await ran(["verfy"], { alone: false })).exit, 2);
  },
});

Deno.test("execute() exits 2 for each mistake on the command line and suggests what is near", async () => {
  const cases: readonly [readonly string[], string, string][] = [
    [["-s", "a", "--tmes", "3"], "unknown option '--tmes'", "did you mean --times?"],
    [["--times", "3"], "required option '-s, --source-file <file>' not specified", "prog --help"],
    [["-s"], "option '-s, --source-file <file>' argument missing", "prog --help"],
    [["-s", "a", "--times", "0"], "It must be a whole number from 1 to 9.", "prog --help"],
    [["-s", "a", "--times", "1.5"], "It must be a whole number from 1 to 9.", "prog --help"],
    [["-s", "a", "--mode", "medium"], "Allowed choices are slow, fast.", "prog --help"],
    [["-s", "a", "one", "two"], "too many arguments", "prog --help"],
  ];
  for (const [args, what, hint] of cases) {
    const { exit, out, err } = await ran(args);
    assert.deepEqual([exit, out], [2, ""]);
    assert.ok(err.startsWith("error: ") && err.includes(what), err);
    assert.ok(err.includes(`hint:     ${hint}\n`), err);
  }
});

Deno.test("execute() exits 2 for an unknown or missing command", async () => {
  const unknown = await ran(["verfy"], { alone: false });
  assert.equal(unknown.exit, 2);
  assert.match(unknown.err, /unknown command 'verfy'[^]*did you mean verify\?/);
  const missing = await ran([], { alone: false });
  assert.equal(missing.exit, 2);
  assert.match(missing.err, /one of count-lines, verify/);
  assert.match((await ran(["count-lines"], { alone: false })).err, /hint: {5}prog count-lines --help/);
});

Deno.test("execute() prints help with examples and needs", async () => {
  const alone = await ran(["--help"]);
  assert.equal(alone.exit, 0);
  assert.match(alone.out, /--times <count> +how often \(default: 3\)/);
  assert.match(alone.out, /Examples:\n {2}prog -s a\.txt\n\nNeeds:\n {2}--allow-read/);
  const list = await ran(["--help"], { alone: false });
  assert.match(list.out, /count-lines \[options\] \[what\] +count things/);
});

Deno.test("execute() exits 1 for a wrong verdict and still prints the result", async () => {
  const body = () => Promise.resolve({ json: { good: 0 }, lines: ["wrong"], verdict: "wrong" } as const);
  assert.deepEqual(await ran(["-s", "a"], { body }), { exit: 1, out: "wrong\n", err: "" });
});

Deno.test("execute() maps an error to its exit code and, with --json, to a document", async () => {
  const failing = (error: unknown) => ({ body: () => Promise.reject(error) });
  const wrong = new TracewrightError("trace_mismatch", {
    step: 4,
    expected: -0.5,
    actual: NaN,
    hint: "look",
  });
  const { exit, out, err } = await ran(["-s", "a", "--json"], failing(wrong));
  assert.equal(exit, 1);
  assert.deepEqual(JSON.parse(out), {
    error: {
      code: "trace_mismatch",
      message: "trace mismatch",
      step: 4,
      expected: -0.5,
      actual: "NaN",
      hint: "look",
    },
  });
  assert.match(err, /^error: trace mismatch \[trace_mismatch\]\n {2}where: {4}step 4\n/);
  assert.equal((await ran(["-s", "a"], failing(new TracewrightError("disk_full")))).exit, 3);
  assert.equal((await ran(["-s", "a"], failing(new TypeError("x is not a function")))).exit, 3);
});

Deno.test("execute() shows progress and notes on standard error only", async () => {
  const body: CommandBody<typeof COUNT> = (_options, { progress, note }) => {
    progress.report({ type: "cached", node: "benchmark", key: KEY, outputs: {} });
    note("a note");
    return Promise.resolve({ json: null, lines: [progress.summary] });
  };
  assert.deepEqual(await ran(["-s", "a"], { body }), {
    exit: 0,
    out: "1 stages, 1 cached\n",
    err: "benchmark  cached\na note\n",
  });
});

Deno.test({
  name: "executeAndExit() ends with 130 at an interrupt",
  ignore: Deno.build.os === "windows", // which has no signals to send
  fn: async () => {
    const module = new URL("./_command.ts", import.meta.url).href;
    const program = `
      import { command, executeCommand } from ${JSON.stringify(module)};
      const spec = { name: "wait", summary: "wait", options: {}, examples: [], permissions: [] };
      const forever = (_options, { note }) => {
        note("waiting");
        return new Promise((resolve) => setTimeout(resolve, 2 ** 30));
      };
      await executeCommand(command(spec, forever));`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-lock", program],
      cwd: new URL("..", import.meta.url),
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let seen = "";
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      seen += chunk;
      if (seen.endsWith("waiting\n")) child.kill("SIGINT");
    }
    assert.equal((await child.status).code, 130);
    assert.match(seen, /interrupted; finished stages are kept/);
  },
});
