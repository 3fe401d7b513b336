import { MemoryLayer } from "../../lib/store/memory_layer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A disk in memory that holds these files. Of two with one path, the later one. */
export function layerWith(files: Iterable<readonly [path: string, content: Bytes]>): MemoryLayer {
  const layer = new MemoryLayer();
  for (const [path, content] of files) {
    layer.makeDirectory(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    if (layer.facts(path)?.kind === "file") layer.remove(path);
    using file = layer.create(path);
    file.write(content);
  }
  return layer;
}
