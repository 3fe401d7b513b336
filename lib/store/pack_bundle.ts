import type { Digest } from "../core/digest.ts";
import { runFiles } from "./_run_files.ts";
import { Temporaries } from "./_temporaries.ts";
import { compressFile } from "./_transport.ts";
import { readAttestations } from "./attestations.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { checkRunViews, type Run } from "./read_run.ts";
import { runFolderName, runManifestBytes } from "./run_manifest.ts";
import { TarWriter } from "./tar_writer.ts";

/** How a run is packed. */
export interface PackOptions {
  /** Path of the file; what lies there is replaced once the new one is complete. */
  readonly target: string;
  /** `"zstd"` is for transport only: the identity of a bundle is the digest of the archive inside. */
  readonly transport: "zstd" | "plain";
  /** Whether the attestations beside the run come along. */
  readonly attestations: "included" | "left-out";
  readonly layer?: FileLayer;
}

/** A packed run. */
export interface PackedBundle {
  readonly path: string;
  /** SHA-256 of the uncompressed archive: the same for the same run and attestations, whoever packs it. */
  readonly digest: Digest;
  /** Bytes, uncompressed. */
  readonly size: number;
  readonly members: number;
  readonly attestations: number;
}

interface Member {
  readonly name: string;
  readonly size: number;
  content(): Iterable<Uint8Array>;
}

/**
 * Packs a run into one file: an archive of `<id>/<file of the run>` and `<id>.attestations/<name>/<file>`, where `<id>` is
 * the name of the run's folder, so that any `tar` gives back folders that this program reads. Every blob is hashed on the
 * way. Views that no digest covers stay behind, since nobody could tell whether they were changed.
 *
 * @throws TracewrightError "missing_blob", "blob_damaged", "missing_file", "view_mismatch", "bad_envelope",
 * "bad_attestation", "archive_name", "archive_too_large" and I/O codes
 */
export async function packBundle(run: Run, options: PackOptions): Promise<PackedBundle> {
  const { target, layer = diskLayer } = options;
  checkRunViews(run, { layer });
  const attestations = options.attestations === "included" ? readAttestations(run, { layer }) : [];
  const root = runFolderName(run.runId);
  const members: Member[] = [];
  for (const { name, files } of attestations) {
    for (const { path, bytes } of files) {
      members.push({
        name: `${root}.attestations/${name}/${path}`,
        size: bytes.length,
        content: () => [bytes],
      });
    }
  }
  const sizes = new Map(run.layers.map(({ digest, size }) => [digest, size]));
  for (const file of runFiles(run.dag, run.layers, runManifestBytes(run.layers)).files) {
    const name = `${root}/${file.path}`;
    if (file.kind === "fixed") {
      members.push({ name, size: file.bytes.length, content: () => [file.bytes] });
    } else {
      const size = sizes.get(file.digest) ?? run.open(file.digest).size;
      members.push({ name, size, content: () => run.open(file.digest).chunks() });
    }
  }
  members.sort((a, b) => (a.name < b.name ? -1 : 1));

  using temporaries = new Temporaries(layer, `${folderOf(target)}/.tmp`);
  const [archive, compressed] = [temporaries.next(), temporaries.next()];
  try {
    const summary = writeArchive(members, archive, layer);
    if (options.transport === "zstd") {
      using out = layer.create(compressed);
      await compressFile(archive, out, layer);
      out.sync();
    }
    layer.rename(options.transport === "zstd" ? compressed : archive, target);
    layer.syncDirectory(folderOf(target));
    return { path: target, ...summary, attestations: attestations.length };
  } finally {
    for (const temporary of [archive, compressed]) temporaries.discard(temporary);
  }
}

function writeArchive(members: readonly Member[], path: string, layer: FileLayer) {
  using out = layer.create(path);
  const writer = new TarWriter((bytes) => out.write(bytes));
  for (const { name, size, content } of members) writer.add({ name, size }, content());
  const summary = writer.finish();
  out.sync();
  return summary;
}

function folderOf(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at < 0 ? "." : path.slice(0, at) || "/";
}
