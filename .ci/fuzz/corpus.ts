import { zstdDecompressSync } from "node:zlib";
import { Buffer } from "node:buffer";
import { hexOf } from "../../lib/core/digest.ts";
import { type DagManifest, parseDagManifest } from "../../lib/store/manifest.ts";
import { parseRunManifest } from "../../lib/store/run_manifest.ts";
import { TarReader } from "../../lib/store/tar_reader.ts";

/** The repository's root, with a `/` at its end. */
export const ROOT = new URL("../../", import.meta.url);

type Bytes = Uint8Array<ArrayBuffer>;

/** The text of a file of the repository. */
export function textFile(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** A file of the repository that holds JSON. */
export function jsonFile<T>(path: string): T {
  return JSON.parse(textFile(path)) as T;
}

/** The members of an archive of ours by name. */
export function membersOf(archive: Uint8Array): Map<string, Bytes> {
  const files = new Map<string, Bytes>();
  const reader = new TarReader(({ name }) => {
    const parts: Uint8Array[] = [];
    return {
      write: (part) => void parts.push(part.slice()),
      end: () => void files.set(name, Uint8Array.from(Buffer.concat(parts))),
    };
  });
  reader.push(archive);
  reader.finish();
  return files;
}

/** The run of the release in the fixtures. */
export interface ReleasedRun {
  /** Files by path in the bundle. */
  readonly files: ReadonlyMap<string, Bytes>;
  readonly manifest: Bytes;
  readonly dagBytes: Bytes;
  readonly dag: DagManifest;
  /** An output of a node. */
  output(node: string, name: string): Bytes;
  /** The files whose path ends so. */
  ending(suffix: string): Bytes[];
}

/** Unpacks the release of the fixtures in memory. */
export function releasedRun(): ReleasedRun {
  const files = membersOf(
    zstdDecompressSync(Deno.readFileSync(new URL("fixtures/release/smoke-v0.1.0.tar.zst", ROOT))),
  );
  const root = [...files.keys()].map((name) => name.split("/", 1)[0]!).find((name) => !name.includes("."))!;
  const file = (path: string): Bytes => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new Error(`the release has no ${path}`);
    return bytes;
  };
  const blob = (digest: Parameters<typeof hexOf>[0]) => file(`${root}/blobs/sha256/${hexOf(digest)}`);
  const manifest = file(`${root}/manifest.json`);
  const dagBytes = blob(parseRunManifest(manifest)[0]!.digest);
  const dag = parseDagManifest(dagBytes);
  return {
    files,
    manifest,
    dagBytes,
    dag,
    output(node, name) {
      const output = dag.nodes.find(({ id }) => id === node)?.outputs[name];
      if (output === undefined) throw new Error(`the release has no output ${name} of ${node}`);
      return blob(output.digest);
    },
    ending: (suffix) => [...files].filter(([path]) => path.endsWith(suffix)).map(([, bytes]) => bytes),
  };
}

/** The lines of a file. */
export function lines(bytes: Uint8Array): string[] {
  return new TextDecoder().decode(bytes).split("\n").filter((line) => line !== "");
}

/** Bytes as text. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Text as bytes. */
export function bytes(value: string): Bytes {
  return new TextEncoder().encode(value) as Bytes;
}
