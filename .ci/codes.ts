/**
 * Writes lib/pipeline/codes.json: for every stage module lib/pipeline/stages/<name>_stage.ts the files and packages it
 * is made of, and their digest, which is part of every action key of that stage.
 *
 *     deno task codes            writes the file
 *     deno task codes --check    exits 1 where the committed file is stale, and names what differs
 *
 * `--root DIR` works on another checkout. Needs no network: modules come from disk, packages from deno.lock.
 */
import { stageCodes } from "../lib/stage/code_closure.ts";
import { type Codes, CODES_SCHEMA, parseCodes, type StageCodes, staleFiles } from "../lib/stage/codes.ts";

const SUFFIX = "_stage.ts";
const rootFlag = Deno.args.indexOf("--root");
const root = await Deno.realPath(rootFlag >= 0 ? Deno.args[rootFlag + 1]! : `${import.meta.dirname}/..`);
const output = `${root}/lib/pipeline/codes.json`;

async function graphOf(module: string): Promise<unknown> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-remote", "--frozen", module],
    cwd: root,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  }).output();
  if (!success) throw new Error(`deno info ${module} failed:\n${new TextDecoder().decode(stderr)}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function currentCodes(): Promise<Codes> {
  const lock = JSON.parse(await Deno.readTextFile(`${root}/deno.lock`));
  const url = new URL(`file:///${root.replaceAll("\\", "/").replace(/^\//, "")}/`).href;
  const names: string[] = [];
  for await (const { name } of Deno.readDir(`${root}/lib/pipeline/stages`)) {
    if (name.endsWith(SUFFIX)) names.push(name.slice(0, -SUFFIX.length));
  }
  const stages: Record<string, StageCodes> = {};
  for (const name of names.sort()) {
    const graph = await graphOf(`./lib/pipeline/stages/${name}${SUFFIX}`);
    stages[name] = stageCodes({
      graph,
      lock,
      root: url,
      readFile: (path) => Deno.readFileSync(`${root}/${path}`),
    });
  }
  return { schema: CODES_SCHEMA, stages };
}

const fresh = await currentCodes();
const text = JSON.stringify(fresh, null, 2) + "\n";
if (!Deno.args.includes("--check")) {
  await Deno.writeTextFile(output, text);
  for (const [name, { code, files, packages }] of Object.entries(fresh.stages)) {
    console.log(`${name}: ${code} (${files.length} files, ${packages.length} packages)`);
  }
} else {
  const committed = await Deno.readTextFile(output).catch(() => "");
  if (committed === text) {
    console.log(`lib/pipeline/codes.json is current (${Object.keys(fresh.stages).length} stages)`);
  } else {
    console.error("lib/pipeline/codes.json is stale; run: deno task codes");
    if (committed !== "") {
      const stale = staleFiles(parseCodes(JSON.parse(committed)), (path) => {
        try {
          return Deno.readFileSync(`${root}/${path}`);
        } catch {
          return undefined; // gone: that is what makes it stale
        }
      });
      for (const { path, expected, actual } of stale) {
        console.error(`  ${path}: listed ${expected.slice(0, 12)}, is ${actual?.slice(0, 12) ?? "gone"}`);
      }
    }
    Deno.exit(1);
  }
}
