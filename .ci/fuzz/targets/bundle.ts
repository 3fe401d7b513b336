import assert from "node:assert/strict";
import { constants, zstdCompressSync } from "node:zlib";
import { canonicalBytes } from "../../../lib/core/canonical_json.ts";
import { digestOf, hexOf } from "../../../lib/core/digest.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { soundLayer } from "../../../lib/store/example_run.ts";
import { packBundle } from "../../../lib/store/pack_bundle.ts";
import { readRun } from "../../../lib/store/read_run.ts";
import { parseRunManifest, runIndexBytes, runManifestBytes } from "../../../lib/store/run_manifest.ts";
import { attestationOf } from "../../../lib/store/attestations.ts";
import { IN_TOTO_PAYLOAD } from "../../../lib/store/dsse.ts";
import { toBase64 } from "../../../lib/store/base64.ts";
import { provenanceStatement } from "../../../lib/store/statement.ts";
import { TarWriter } from "../../../lib/store/tar_writer.ts";
import { unpackBundle, type UnpackedBundle } from "../../../lib/store/unpack_bundle.ts";
import { bytes, text } from "../corpus.ts";
import { exampleFiles } from "../example_files.ts";
import { joined } from "../joined.ts";
import { jsonInputs } from "../json_inputs.ts";
import { layerWith } from "../layer_with.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { mutateTar } from "../mutate_tar.ts";
import { target } from "../target.ts";
import { TAR_CODES } from "./tar.ts";

const CODES = [
  ...TAR_CODES,
  "archive_compression",
  "archive_root",
  "too_large",
  "missing_blob",
  "blob_damaged",
  "unexpected_file",
  "run_not_found",
  "missing_file",
  "not_canonical",
  "bad_manifest",
  "path_not_allowed",
  "view_mismatch",
  "bad_envelope",
  "bad_attestation",
];
const LIMITS = { size: 2 ** 20, members: 100, file: 2 ** 18 };

type Bytes = Uint8Array<ArrayBuffer>;
type Files = Map<string, Bytes>;

function archive(files: ReadonlyMap<string, Bytes>): Bytes {
  const parts: Uint8Array[] = [];
  const writer = new TarWriter((part) => void parts.push(part.slice()));
  for (const name of [...files.keys()].sort()) {
    const content = files.get(name)!;
    writer.add({ name, size: content.length }, [content]);
  }
  writer.finish();
  return joined(...parts);
}

const example = exampleFiles();

/** The run with an attestation whose signature nobody has looked at. */
function attested(): Files {
  const files: Files = new Map(
    [...example.files].map(([path, content]) => [`${example.root}/${path}`, content]),
  );
  const run = readRun(example.root, { layer: layerWith(files) });
  const envelope = canonicalBytes({
    payload: toBase64(provenanceStatement(run, { version: "0.1.0" })),
    payloadType: IN_TOTO_PAYLOAD,
    signatures: [{ keyid: "0".repeat(64), sig: "MAYCAQECAQE=" }],
  });
  const attestation = attestationOf(run, envelope);
  for (const file of attestation.files) {
    files.set(`${example.root}.attestations/${attestation.name}/${file.path}`, file.bytes);
  }
  return files;
}

const FILES = attested();
const SEED = archive(FILES);
const PLAIN = archive(new Map([...FILES].filter(([name]) => !name.includes(".attestations"))));
const dagInputs = jsonInputs([text(example.dagBytes)]);
const manifestInputs = jsonInputs([text(example.manifest)]);

/** A run around a changed DAG or manifest, with every name that follows from it made anew, as a forger would. */
function forged(random: RandomStream): Bytes {
  const files = new Map(example.files);
  let manifest = example.manifest;
  if (random.integer(2) === 0) {
    const dag = dagInputs(random);
    const [, ...rest] = parseRunManifest(example.manifest);
    const layer0 = { ...parseRunManifest(example.manifest)[0]!, digest: digestOf(dag), size: dag.length };
    manifest = runManifestBytes([layer0, ...rest]);
    files.delete(`blobs/sha256/${hexOf(digestOf(example.dagBytes))}`);
    files.set(`blobs/sha256/${hexOf(digestOf(dag))}`, dag);
  } else manifest = manifestInputs(random);
  files.delete(`blobs/sha256/${hexOf(digestOf(example.manifest))}`);
  files.set(`blobs/sha256/${hexOf(digestOf(manifest))}`, manifest);
  files.set("manifest.json", manifest);
  files.set("index.json", runIndexBytes(manifest));
  const root = hexOf(digestOf(manifest)).slice(0, 16);
  return archive(new Map([...files].map(([path, content]) => [`${root}/${path}`, content])));
}

/** One file with other content. */
function damaged(random: RandomStream): Bytes {
  const files = new Map(FILES);
  const name = random.pick([...files.keys()]);
  const seeds = [files.get(name)!, bytes("{}")];
  files.set(
    name,
    random.integer(2) === 0 ? mutateBytes(seeds[0]!, seeds, random) : jsonOr(seeds[0]!, random),
  );
  return archive(files);
}

function jsonOr(content: Bytes, random: RandomStream): Bytes {
  try {
    return jsonInputs([JSON.stringify(JSON.parse(text(content)))])(random);
  } catch {
    return mutateBytes(content, [content], random);
  }
}

function compressed(plain: Bytes, random: RandomStream): Bytes {
  const params = {
    [constants.ZSTD_c_compressionLevel]: 3,
    [constants.ZSTD_c_windowLog]: random.pick([10, 20, 23, 24, 27]),
    [constants.ZSTD_c_checksumFlag]: random.integer(2),
  };
  const zip = Uint8Array.from(zstdCompressSync(plain, { params }));
  switch (random.integer(4)) {
    case 0:
      return zip;
    case 1: // found out last, where there is a sum
      return zip.map((byte, i) => i === zip.length - 1 ? byte ^ 1 : byte);
    default:
      return mutateBytes(zip, [zip, plain], random);
  }
}

/** What lies below a folder. */
function below(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? [`${folder}/${name}`, ...below(`${folder}/${name}`)] : [`${folder}/${name}`]
  );
}

/** Bundles from the first byte of the file to the folder that is left, plain and compressed. */
export default target<UnpackedBundle>({
  codes: CODES,
  make(random) {
    switch (random.integer(9)) {
      case 0:
        return mutateBytes(SEED, [SEED, PLAIN], random);
      case 1:
      case 2:
        return forged(random);
      case 3:
      case 4:
        return damaged(random);
      case 5:
      case 6: {
        const plain = random.pick([
          SEED,
          PLAIN,
          new Uint8Array(random.pick([0, 2 ** 20, 2 ** 24])),
          forged(random),
        ]);
        return compressed(plain, random);
      }
      default:
        return mutateTar(random.pick([SEED, PLAIN]), random);
    }
  },
  read(input) {
    // On the disk, in the folder that the process may write to; nothing waits for the disk.
    for (const { name } of Deno.readDirSync(".")) Deno.removeSync(name, { recursive: true });
    Deno.mkdirSync("out");
    Deno.writeFileSync("file", input);
    return unpackBundle({ bundle: "file", target: "out/run", limits: LIMITS, layer: soundLayer });
  },
  async hold({ path, archive: { digest } }) {
    const packed = await packBundle(readRun(path), {
      target: "again",
      transport: "plain",
      attestations: "included",
      layer: soundLayer,
    });
    assert.equal(packed.digest, digest, "packed again, it is another archive");
  },
  refused() {
    const left = below("out").filter((path) => path !== "out/.tmp");
    assert.deepEqual(left, [], "something is left of a bundle that was refused");
  },
});
