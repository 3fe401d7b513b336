import { hexOf } from "../../lib/core/digest.ts";
import { exampleExperiment } from "../../lib/store/example_run.ts";
import { readRun } from "../../lib/store/read_run.ts";
import { MemoryLayer } from "../../lib/store/memory_layer.ts";
import { Store } from "../../lib/store/store.ts";
import { writeRun } from "../../lib/store/write_run.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A small finished run: its files by path in its folder. */
export interface ExampleFiles {
  readonly files: ReadonlyMap<string, Bytes>;
  /** The name of its folder. */
  readonly root: string;
  readonly manifest: Bytes;
  readonly dagBytes: Bytes;
}

/** Makes the example run of the room `store` in memory, without its view that no digest covers. */
export function exampleFiles(): ExampleFiles {
  const layer = new MemoryLayer();
  using store = Store.open("store", { layer });
  const { path } = writeRun(exampleExperiment(store), { store: store.blobs, directory: "runs" });
  const files = new Map<string, Bytes>();
  for (const { path: file, kind } of layer.paths(path)) {
    if (kind === "file") files.set(file.slice(path.length + 1), layer.read(file)!);
  }
  const run = readRun(path, { layer });
  return {
    files,
    root: path.slice("runs/".length),
    manifest: files.get("manifest.json")!,
    dagBytes: files.get(`blobs/sha256/${hexOf(run.layers[0]!.digest)}`)!,
  };
}
