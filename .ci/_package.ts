import { gunzipSync, gzipSync } from "node:zlib";
import codes from "../lib/pipeline/codes.json" with { type: "json" };
import { TarWriter } from "../lib/store/tar_writer.ts";
import { committedFiles } from "./_tree.ts";

/** The npm package: what `deno pack` makes of the committed files, completed and written so that every byte is decided. */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const LAUNCHER = "bin/tracewright.js";
/** Entries that `deno pack` has to compile besides the library: the program, and what it starts as threads. */
const ENTRIES = { "./cli": "./cli/main.ts" };
const THREADS = ["./cli/_verify_worker.ts", "./lib/pipeline/stage_worker.ts"];
/** What goes into the package of what `deno pack` collects. */
const KEPT = [
  /^(README\.md|LICENSE|CHANGELOG\.md|package\.json|mod\.(js|d\.ts))$/,
  /^(cli|lib)\/.*\.(js|d\.ts|wasm)$/,
  /^lib\/[a-z]+\/(README|FORMAT|BUNDLE_FORMAT)\.md$/,
  /^lib\/pipeline\/codes\.json$/,
  /^configs\/[a-z0-9-]+\.yaml$/,
];

/** A package that has been built. */
export interface BuiltPackage {
  readonly name: string;
  readonly version: string;
  /** The `.tgz`. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
}

/** Builds the package from the committed files of this checkout, in a folder of its own. */
export async function buildPackage(): Promise<BuiltPackage> {
  const folder = await Deno.makeTempDir();
  try {
    for (const path of await committedFiles()) {
      const target = `${folder}/${path}`;
      await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      await Deno.copyFile(`${ROOT}/${path}`, target);
    }
    const settings = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`)) as Manifest;
    const threads = Object.fromEntries(THREADS.map((path, i) => [`./thread${i}`, path]));
    const exports = { ".": "./mod.ts", ...ENTRIES, ...threads };
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ ...settings, exports, nodeModulesDir: "none" }),
    );
    const packed = `${folder}/packed.tgz`;
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "-o", packed],
      cwd: folder,
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdout: "null",
    }).output();
    if (!success) throw new Error(`deno pack failed:\n${new TextDecoder().decode(stderr)}`);
    const files = complete(membersOf(gunzipSync(await Deno.readFile(packed))), settings);
    return { name: settings.name, version: settings.version, bytes: await archiveOf(files), files };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The files of an archive that `deno pack` wrote, by path inside of `package/`. */
function membersOf(tar: Uint8Array): Map<string, Uint8Array> {
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\0.*$/s, "");
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + 512);
    const prefix = text(header.subarray(345, 500));
    const name = (prefix === "" ? "" : `${prefix}/`) + text(header.subarray(0, 100));
    const size = parseInt(text(header.subarray(124, 136)), 8);
    const isFile = header[156] === 0 || header[156] === 0x30;
    if (!isFile || !name.startsWith("package/")) throw new Error(`deno pack wrote ${name}, which is no file`);
    files.set(name.slice("package/".length), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

function complete(packed: ReadonlyMap<string, Uint8Array>, settings: Manifest): Map<string, Uint8Array> {
  const encoder = new TextEncoder();
  const files = new Map<string, Uint8Array>();
  const add = (path: string, text: string) => files.set(path, encoder.encode(text));
  for (const [path, bytes] of packed) {
    if (!KEPT.some((pattern) => pattern.test(path))) continue;
    if (!path.endsWith(".js")) files.set(path, bytes);
    else add(path, threadsByTheirNewName(new TextDecoder().decode(bytes)));
  }
  for (const path of THREADS.map((thread) => thread.replace(/^\.\/(.*)\.ts$/, "$1.js"))) {
    if (!files.has(path)) throw new Error(`deno pack left out ${path}`);
  }
  // The sources that the code digests are about: a run says by which code it was made.
  for (const { files: listed } of Object.values(codes.stages)) {
    for (const { path } of listed) files.set(path, Deno.readFileSync(`${ROOT}/${path}`));
  }
  files.set(LAUNCHER, Deno.readFileSync(`${ROOT}/.ci/package/tracewright.js`));
  const manifest = JSON.parse(new TextDecoder().decode(packed.get("package.json")));
  const exports = Object.fromEntries(
    [".", ...Object.keys(ENTRIES)].map((name) => [name, manifest.exports[name]]),
  );
  const dependencies = Object.keys(manifest.dependencies).sort().map((
    name,
  ) => [name, pinned(name, settings)]);
  add(
    "package.json",
    JSON.stringify(
      {
        ...manifest,
        exports,
        bin: { tracewright: `./${LAUNCHER}` },
        dependencies: Object.fromEntries(dependencies),
      },
      null,
      2,
    ) + "\n",
  );
  return files;
}

/** Threads are started by the address of their file, which `deno pack` leaves as it is. */
function threadsByTheirNewName(code: string): string {
  return code.replaceAll(/(new URL\(["`]\.[^"`]*)\.ts((?:\?[^"`]*)?["`], import\.meta\.url\))/g, "$1.js$2");
}

/** The one version of a dependency that this was tested with. */
function pinned(name: string, { imports }: Manifest): string {
  const version = Object.values(imports).map((target) => /^npm:(@?[^@]+)@(.+)$/.exec(target))
    .find((parts) => parts?.[1] === name)?.[2];
  if (version === undefined) throw new Error(`${name} has no version in deno.json`);
  return version;
}

async function archiveOf(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const writer = new TarWriter((bytes) => parts.push(bytes.slice()));
  const names = [...files.keys()].sort((a, b) => (`package/${a}` < `package/${b}` ? -1 : 1));
  for (const name of names) {
    const content = files.get(name) ?? new Uint8Array();
    writer.add({ name: `package/${name}`, size: content.length }, [content]);
  }
  writer.finish();
  const tar = new Uint8Array(await new Blob(parts).arrayBuffer());
  const packed = new Uint8Array(gzipSync(tar, { level: 9 }));
  packed.fill(0, 4, 8); // no time
  packed[9] = 255; // no operating system
  return packed;
}
