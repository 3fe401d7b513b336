import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { digestOf, digestOfJson } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { scratchFolder } from "../store/scratch_folder.ts";
import { stageCodes } from "./code_closure.ts";
import {
  codeDigest,
  type Codes,
  CODES_SCHEMA,
  digestOfCode,
  parseCodes,
  requireFreshCodes,
  staleFiles,
} from "./codes.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const hash = (text: string) => digestOf(text).slice("sha256:".length);

const FILES = [{ path: "a.ts", sha256: hash("a") }, { path: "b.ts", sha256: hash("b") }];
const PACKAGES = [{ name: "zod@4.6.7", integrity: "sha512-x" }];
const CODES: Codes = {
  schema: CODES_SCHEMA,
  stages: { bc: { code: digestOfCode(FILES, PACKAGES), files: FILES, packages: PACKAGES } },
};

Deno.test("digestOfCode() is the digest of the canonical lists under their schema", () => {
  equal(
    digestOfCode(FILES, PACKAGES),
    digestOfJson({ schema: "tracewright.codes.v1", files: FILES, packages: PACKAGES }),
  );
});

Deno.test("parseCodes() reads a good file and refuses one whose digest or order is wrong", () => {
  deepEqual(parseCodes(JSON.parse(JSON.stringify(CODES))), CODES);
  const entry = CODES.stages["bc"]!;
  const bad: unknown[] = [
    null,
    { ...CODES, schema: "other" },
    { ...CODES, extra: 1 },
    { ...CODES, stages: { bc: { ...entry, files: [] } } },
    { ...CODES, stages: { bc: { ...entry, code: digestOf("other") } } },
    { ...CODES, stages: { bc: { ...entry, files: [...FILES].reverse() } } },
    { ...CODES, stages: { bc: { ...entry, files: [...FILES, FILES[1]] } } },
    { ...CODES, stages: { bc: { ...entry, files: [{ path: "a.ts", sha256: "x" }] } } },
  ];
  for (const value of bad) {
    throws(() => parseCodes(value), (error) => hasCode(error, "bad_codes"), JSON.stringify(value));
  }
});

Deno.test("codeDigest() knows the listed stages only", () => {
  equal(codeDigest(CODES, "bc"), CODES.stages["bc"]?.code);
  for (const name of ["ppo", "toString"]) {
    throws(() => codeDigest(CODES, name), (error) => hasCode(error, "unknown_code"));
  }
});

Deno.test("staleFiles() reports edited and missing files, and requireFreshCodes() stops", () => {
  const content: Record<string, string> = { "a.ts": "a", "b.ts": "b" };
  const read = (path: string) => content[path] === undefined ? undefined : bytes(content[path]);
  deepEqual(staleFiles(CODES, read), []);
  requireFreshCodes(CODES, read);
  content["a.ts"] = "edited";
  delete content["b.ts"];
  deepEqual(staleFiles(CODES, read), [
    { path: "a.ts", expected: hash("a"), actual: hash("edited") },
    { path: "b.ts", expected: hash("b"), actual: undefined },
  ]);
  throws(
    () => requireFreshCodes(CODES, read),
    (error) =>
      hasCode(error, "codes_stale") && error.details["path"] === "a.ts" && error.details["files"] === 2,
  );
});

const ROOT = "file:///repo/";
/** As `deno info --json` of Deno 2.9 writes it. */
const GRAPH = {
  roots: [`${ROOT}lib/x_stage.ts`],
  modules: [
    {
      kind: "esm",
      specifier: `${ROOT}lib/x_stage.ts`,
      dependencies: [
        { specifier: "./types.ts", type: { specifier: `${ROOT}lib/types.ts` } },
        { specifier: "./b.ts", code: { specifier: `${ROOT}lib/b.ts` } },
        { specifier: "./late.ts", code: { specifier: `${ROOT}lib/late.ts` }, isDynamic: true },
        { specifier: "node:crypto", code: { specifier: "node:crypto" } },
        { specifier: "p/sub", code: { specifier: "npm:/p@1.0.0/sub" } },
      ],
    },
    { kind: "esm", specifier: `${ROOT}lib/types.ts` },
    {
      kind: "esm",
      specifier: `${ROOT}lib/b.ts`,
      dependencies: [
        { specifier: "./k.wasm", code: { specifier: `${ROOT}lib/k.wasm` } },
        { specifier: "./x_stage.ts", code: { specifier: `${ROOT}lib/x_stage.ts` } },
      ],
    },
    { kind: "esm", specifier: `${ROOT}lib/late.ts` },
    { kind: "wasm", specifier: `${ROOT}lib/k.wasm` },
    { kind: "npm", specifier: "npm:/p@1.0.0/sub", npmPackage: "p@1.0.0" },
  ],
  redirects: {},
  npmPackages: {
    "p@1.0.0": { dependencies: ["q@2.0.0"] },
    "q@2.0.0": { dependencies: ["p@1.0.0"] },
    "unused@1.0.0": { dependencies: [] },
  },
};
const LOCK = { npm: { "p@1.0.0": { integrity: "sha512-p" }, "q@2.0.0": { integrity: "sha512-q" } } };

function closure(change: { graph?: unknown; lock?: unknown } = {}) {
  return stageCodes({ graph: GRAPH, lock: LOCK, root: ROOT, readFile: (path) => bytes(path), ...change });
}

Deno.test("stageCodes() takes all that runs: imports, wasm, fixed dynamic imports and packages, but no types", () => {
  const { code, files, packages } = closure();
  deepEqual(
    files,
    ["lib/b.ts", "lib/k.wasm", "lib/late.ts", "lib/x_stage.ts"].map((path) => ({ path, sha256: hash(path) })),
  );
  deepEqual(packages, [
    { name: "p@1.0.0", integrity: "sha512-p" },
    { name: "q@2.0.0", integrity: "sha512-q" },
  ]);
  equal(code, digestOfCode(files, packages));
});

Deno.test("stageCodes() refuses code that nothing pins", () => {
  const withImport = (dependency: unknown, ...modules: unknown[]) => ({
    ...GRAPH,
    modules: [{ specifier: GRAPH.roots[0], dependencies: [dependency] }, ...modules],
  });
  const remote = "https://elsewhere/x.ts";
  const own = `${ROOT}lib/pipeline/codes.json`;
  const graphs = [
    withImport({ specifier: "x", code: { specifier: remote } }, { specifier: remote }),
    withImport({ specifier: "x", code: { specifier: "file:///other/x.ts" } }, {
      specifier: "file:///other/x.ts",
    }),
    withImport({ specifier: "./gone.ts", code: { specifier: `${ROOT}gone.ts` } }),
    withImport({ specifier: "./bad.ts", code: { specifier: `${ROOT}bad.ts` } }, {
      specifier: `${ROOT}bad.ts`,
      error: "no",
    }),
    withImport({ specifier: "bare", code: { error: "not in the import map" } }),
    withImport({ specifier: "./codes.json", code: { specifier: own } }, { specifier: own }),
  ];
  for (const graph of graphs) throws(() => closure({ graph }), (error) => hasCode(error, "bad_codes"));
  throws(() => closure({ lock: { npm: {} } }), (error) => hasCode(error, "bad_codes"));
});

Deno.test(".ci/codes.ts writes a current file, and --check notices an edit and its effect", async () => {
  using folder = scratchFolder();
  const root = folder.path;
  const stages = `${root}/lib/pipeline/stages`;
  Deno.mkdirSync(stages, { recursive: true });
  Deno.writeTextFileSync(`${root}/deno.json`, "{}");
  Deno.writeTextFileSync(`${root}/deno.lock`, '{"version":"5"}\n');
  Deno.writeTextFileSync(`${root}/lib/sum.ts`, "export const sum = (a: number, b: number) => a + b;\n");
  Deno.writeTextFileSync(
    `${stages}/one_stage.ts`,
    'import { sum } from "../../sum.ts";\nconsole.log(sum(1, 2));\n',
  );
  Deno.writeTextFileSync(
    `${stages}/two_stage.ts`,
    'import type { sum } from "../../sum.ts";\nexport type Two = typeof sum;\n',
  );
  const run = async (...args: string[]) => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${import.meta.dirname}/../../.ci/codes.ts`, "--root", root, ...args],
    }).output();
    return { code, stderr: new TextDecoder().decode(stderr) };
  };
  equal((await run()).code, 0);
  equal((await run("--check")).code, 0);
  const read = () => parseCodes(JSON.parse(Deno.readTextFileSync(`${root}/lib/pipeline/codes.json`)));
  const before = read();
  deepEqual(before.stages["one"]?.files.map(({ path }) => path), [
    "lib/pipeline/stages/one_stage.ts",
    "lib/sum.ts",
  ]);
  deepEqual(before.stages["two"]?.files.map(({ path }) => path), ["lib/pipeline/stages/two_stage.ts"]);
  Deno.writeTextFileSync(`${root}/lib/sum.ts`, "export const sum = (a: number, b: number) => b + a;\n");
  const stale = await run("--check");
  equal(stale.code, 1);
  ok(stale.stderr.includes("lib/sum.ts"));
  equal((await run()).code, 0);
  const after = read();
  ok(after.stages["one"]?.code !== before.stages["one"]?.code);
  equal(after.stages["two"]?.code, before.stages["two"]?.code);
});
