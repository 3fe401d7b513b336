import { diskLayer, type FileLayer } from "../lib/store/file_layer.ts";

/** A file for a person, by its name inside a folder. */
export interface OutputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
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
