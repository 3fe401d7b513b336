import type { FileLayer } from "./file_layer.ts";

/**
 * Makes a directory with its parents and brings the names of those that were not there to the disk: what is written into a
 * directory is safe only once its own name is.
 */
export function makeDirectory(layer: FileLayer, path: string): void {
  const parents: string[] = [];
  for (let at = path; layer.facts(at) === undefined;) {
    const end = at.lastIndexOf("/");
    const parent = end < 0 ? "." : at.slice(0, end) || "/";
    if (parent === at) break;
    parents.push(parent);
    at = parent;
  }
  layer.makeDirectory(path);
  for (const parent of parents) layer.syncDirectory(parent);
}
