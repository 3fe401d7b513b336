import assert from "node:assert/strict";
import { outputDigests } from "../lib/store/manifest.ts";
import { readRun } from "../lib/store/read_run.ts";

/**
 * The smoke experiment as a user runs it: in folders of its own, with one worker and with two, killed in the middle,
 * run again, moved, and damaged.
 */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);
const ENV = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
const OFFLINE = ["--cached-only", "--frozen", "--no-remote", "--no-prompt"];

const GOLDEN = JSON.parse(Deno.readTextFileSync(`${ROOT}fixtures/golden.json`)) as {
  readonly result_id: string;
  readonly outputs: Readonly<Record<string, string>>;
};

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function deno(args: readonly string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", ...OFFLINE, ...args],
    cwd: ROOT,
    env: ENV,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

async function ended(command: Deno.Command): Promise<Ended> {
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

function smoke(folder: string, ...more: string[]): Deno.Command {
  return deno([
    "--allow-read",
    `--allow-write=${folder}`,
    "--allow-ffi",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
    "cli/smoke.ts",
    "--store",
    `${folder}/store`,
    "--output",
    `${folder}/runs`,
    "--json",
    ...more,
  ]);
}

function verify(manifest: string): Promise<Ended> {
  return ended(deno(["--allow-read", "cli/verify.ts", "--manifest", manifest, "--json"]));
}

interface SmokeResult {
  readonly run_id: string;
  readonly result_id: string;
  readonly stages: number;
  readonly cached: number;
}

function resultOf({ code, out, err }: Ended): SmokeResult {
  assert.equal(code, 0, err);
  return JSON.parse(out) as SmokeResult;
}

/** The `script` of Linux, which gives a command a terminal. */
const PSEUDO_TERMINAL = Deno.build.os === "linux" &&
  ["/usr/bin/script", "/bin/script"].some((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });

/** Smoke with its standard error on a terminal of 100 columns, where `NO_COLOR` is not set. */
async function smokeOnTerminal(folder: string): Promise<{ run_id: string; screen: string }> {
  const words = [
    "--allow-read",
    `--allow-write=${folder}`,
    "--allow-ffi",
    "--allow-env=LOG_STREAM,LOG_TOKENS",
  ];
  const own = ["--store", `${folder}/store`, "--output", `${folder}/runs`, "--json"];
  const call = [Deno.execPath(), "run", ...OFFLINE, ...words, "cli/smoke.ts", ...own].map((word) =>
    `'${word}'`
  );
  const { code, stdout } = await new Deno.Command("script", {
    args: ["-qec", `stty cols 100; ${call.join(" ")} > '${folder}/result.json'`, "/dev/null"],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const screen = new TextDecoder().decode(stdout);
  assert.equal(code, 0, screen);
  return { ...JSON.parse(await Deno.readTextFile(`${folder}/result.json`)) as SmokeResult, screen };
}

function runFolder(folder: string): string {
  const runs = [...Deno.readDirSync(`${folder}/runs`)].filter(({ name }) => /^[0-9a-f]{16}$/.test(name));
  assert.equal(runs.length, 1);
  return `${folder}/runs/${runs[0]?.name}`;
}

Deno.test("smoke: the same ids with one worker and with two, and no work at all the second time", async (t) => {
  const folder = await Deno.makeTempDir();
  try {
    const one = resultOf(await ended(smoke(`${folder}/one`, "--workers", "1")));
    const two = resultOf(await ended(smoke(`${folder}/two`, "--workers", "2")));
    assert.deepEqual([one.run_id, one.result_id], [two.run_id, two.result_id]);
    assert.deepEqual([one.stages, one.cached], [8, 0]);

    await t.step("every stage gives the golden outputs", () => {
      const { dag, resultId } = readRun(runFolder(`${folder}/one`));
      // Nodes come in topological order, so the first one that differs is where to look.
      for (const { id, outputs } of dag.nodes) {
        for (const [name, { digest }] of Object.entries(outputs)) {
          assert.equal(
            digest,
            GOLDEN.outputs[`${id}/${name}`],
            `${name} is the first output of ${id} to differ`,
          );
        }
      }
      assert.deepEqual(Object.keys(outputDigests(dag)).sort(), Object.keys(GOLDEN.outputs).sort());
      assert.deepEqual([one.result_id, resultId], [GOLDEN.result_id, GOLDEN.result_id]);
    });

    await t.step("a second run takes everything from the store", async () => {
      const again = await ended(smoke(`${folder}/one`));
      const { run_id, stages, cached } = resultOf(again);
      assert.deepEqual([run_id, stages, cached], [one.run_id, 8, 8]);
    });

    await t.step({
      name: "on a terminal, what goes on is one live line, without colours, and never part of the result",
      ignore: !PSEUDO_TERMINAL,
      fn: async () => {
        const { run_id, screen } = await smokeOnTerminal(`${folder}/one`);
        assert.equal(run_id, one.run_id);
        const live = screen.split("\r\x1b[K");
        const drawn = live.find((line) => /^\[[#.]{16}\] 5\/8 checks {2}.*verify policy \d+%/.test(line));
        assert.ok(drawn !== undefined && drawn.length < 100, screen);
        for (const line of ["benchmark  cached", "report  cached"]) {
          assert.ok(screen.includes(line + "\r\n"), line);
        }
        assert.match(screen, /verify claim {2}\d+\.\d s\r\n/);
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(screen, /\x1b\[[\d;]*m/);
      },
    });

    await t.step("a moved run verifies", async () => {
      await Deno.rename(runFolder(`${folder}/two`), `${folder}/elsewhere`);
      const { code, err } = await verify(`${folder}/elsewhere/manifest.json`);
      assert.equal(code, 0, err);
    });

    await t.step(
      "SQL confirms the metrics where FFI is granted, and is missed where it is required",
      async () => {
        const manifest = ["--manifest", `${folder}/elsewhere/manifest.json`, "--json"];
        const required = [...manifest, "--require", "sql"];
        const saidBy = ({ out }: Ended) => (JSON.parse(out) as { metrics_sql?: string }).metrics_sql;
        const judged = await ended(deno(["--allow-read", "--allow-ffi", "cli/verify.ts", ...required]));
        assert.deepEqual([judged.code, saidBy(judged)], [0, "confirmed"], judged.err);
        const alone = await ended(deno(["--allow-read", "cli/verify.ts", ...manifest]));
        assert.deepEqual([alone.code, saidBy(alone)], [0, "skipped"], alone.err);
        const missed = await ended(deno(["--allow-read", "cli/verify.ts", ...required]));
        assert.equal(missed.code, 1);
        assert.match(missed.err, /\[sql_required\][^]*--allow-ffi/);
      },
    );

    await t.step("an edited report is refused with code, place and both values", async () => {
      const report = `${folder}/elsewhere/report.md`;
      await Deno.writeTextFile(report, (await Deno.readTextFile(report)).replace(/[0-9]/, "x"));
      const { code, out, err } = await verify(`${folder}/elsewhere/manifest.json`);
      assert.equal(code, 1, out + err);
      assert.match(err, /\[view_mismatch\]/);
      assert.match(err, /report\.md/);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("smoke: killed after a stage has ended, the next run goes on from there to the same result", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const child = smoke(folder, "--workers", "1").spawn();
    const decoder = new TextDecoder();
    let seen = "";
    for await (const chunk of child.stderr) {
      seen += decoder.decode(chunk, { stream: true });
      if (/^bc\/17 /m.test(seen)) break;
    }
    child.kill("SIGKILL");
    await child.stdout.cancel();
    assert.notEqual((await child.status).code, 0);
    const { result_id, cached } = resultOf(await ended(smoke(folder, "--workers", "1")));
    assert.equal(result_id, GOLDEN.result_id);
    assert.ok(cached >= 2, `${cached} stages were kept`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("smoke: a bad config exits 2 and writes nothing", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const config = `${folder}/bad.yaml`;
    const text = await Deno.readTextFile(`${ROOT}configs/smoke.yaml`);
    await Deno.writeTextFile(config, text.replace("gamma:", "gama:"));
    const { code, err } = await ended(smoke(folder, "--config", config));
    assert.equal(code, 2);
    assert.match(err, /bad\.yaml:\d+:\d+/);
    assert.match(err, /did you mean "gamma"/);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["bad.yaml"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
