import { diskLayer, type FileLayer } from "../lib/store/file_layer.ts";
import { usageError } from "./_usage_error.ts";

/** A file for a person, by its name inside a folder. */
export interface OutputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The folders above a path, the nearest first, as they are written. */
function foldersAbove(path: string): string[] {
  const parts = path.split(/[/\\]/);
  return parts.map((_, i) =>
    parts.slice(0, parts.length - 1 - i).join("/") || (path.startsWith("/") ? "/" : ".")
  );
}

/**
 * Refuses to write where evidence lies: over a file that the command reads, or anywhere inside a store or a run folder.
 * Called before anything is computed.
 *
 * @param inputs files that the command reads, as the user named them
 * @throws TracewrightError "output_not_allowed"
 */
export function requireFreeOutput(
  output: string,
  { inputs = [], kind, layer = diskLayer }: {
    readonly inputs?: readonly string[];
    readonly kind: "file" | "folder";
    readonly layer?: FileLayer;
  },
): void {
  const refuse = (message: string, place: { readonly [where: string]: unknown }) =>
    usageError("output_not_allowed", { message, output, ...place, hint: "name another place with -o" });
  const there = layer.facts(output)?.kind;
  if (there !== undefined && (there === "directory") !== (kind === "folder")) {
    throw refuse("something else is in the way", { expected: `a ${kind}, or nothing`, actual: `a ${there}` });
  }
  for (const folder of [...(kind === "folder" ? [output] : []), ...foldersAbove(output)]) {
    if (layer.facts(`${folder}/oci-layout`) === undefined) continue;
    throw refuse("evidence lies there, and nothing may be written into it", { folder });
  }
  const same = (input: string) => there !== undefined && realPath(input) === realPath(output);
  const read = inputs.find(same);
  if (read !== undefined) throw refuse("the output is a file that is read", { input: read });
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined; // not a file, so not the same one
  }
}

/**
 * Writes files into a folder so that none of them is ever there in part. All are brought to the disk under temporary
 * names first, so that a full disk leaves what was there as it was; only then do they get their names, in the order given:
 * the file that holds the digests of the others comes last, and tells where a killed process left old ones beside new ones.
 *
 * @throws TracewrightError with an I/O code
 */
export function writeWhole(
  folder: string,
  files: readonly OutputFile[],
  layer: FileLayer = diskLayer,
): void {
  layer.makeDirectory(folder);
  const waiting = files.map(({ name, bytes }) => ({
    path: `${folder}/${name}`,
    temporary: `${folder}/.${name}.${crypto.randomUUID()}.partial`,
    bytes,
  }));
  try {
    for (const { temporary, bytes } of waiting) {
      using file = layer.create(temporary);
      file.write(bytes);
      file.sync();
    }
    for (const { temporary, path } of waiting) layer.rename(temporary, path);
    layer.syncDirectory(folder);
  } catch (error) {
    for (const { temporary } of waiting) discard(layer, temporary);
    throw error;
  }
}

/** Writes one file, whole or not at all. @throws TracewrightError with an I/O code */
export function writeFileWhole(path: string, bytes: Uint8Array, layer: FileLayer = diskLayer): void {
  const at = path.search(/[^/\\]*$/);
  writeWhole(path.slice(0, at).replace(/(?<=.)[/\\]$/, "") || ".", [{ name: path.slice(at), bytes }], layer);
}

function discard(layer: FileLayer, path: string): void {
  try {
    layer.remove(path);
  } catch { /* the error on its way up is the one that matters */ }
}
