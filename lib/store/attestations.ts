import { canonicalBytes } from "../core/canonical_json.ts";
import { type Digest, digestOf, hexOf } from "../core/digest.ts";
import { EMPTY_CONFIG, EMPTY_CONFIG_BYTES, indexBytes, MANIFEST_MEDIA_TYPE } from "./_oci.ts";
import { textDifference } from "./_run_files.ts";
import { Temporaries } from "./_temporaries.ts";
import { OCI_LAYOUT_BYTES } from "./blob_store.ts";
import { bundleError } from "./bundle_error.ts";
import { type Envelope, IN_TOTO_PAYLOAD, MAX_ENVELOPE, parseEnvelope } from "./dsse.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { foldersOf } from "./folders_of.ts";
import type { Run } from "./read_run.ts";
import { RUN_ARTIFACT_TYPE, runManifestBytes } from "./run_manifest.ts";
import { parseStatement, type Statement } from "./statement.ts";

/** Media type of an envelope's layer. */
export const ENVELOPE_MEDIA_TYPE = "application/vnd.dsse.envelope.v1+json";
/** The name under which an envelope lies for people and for openssl. */
export const ENVELOPE_FILE = "envelope.json";
/** Most attestations beside one run. */
export const MAX_ATTESTATIONS = 100;

/** A statement about a run, in its envelope, beside the run. Its form has been checked, its signature has not. */
export interface Attestation {
  /** Digest of its OCI manifest, under which a registry knows it. */
  readonly digest: Digest;
  /** Folder name: the first 16 hexadecimal digits of the digest. */
  readonly name: string;
  readonly envelope: Envelope;
  readonly statement: Statement;
  /** The files of its folder. */
  readonly files: readonly AttestationFile[];
}

/** One file in the folder of an attestation. */
export interface AttestationFile {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Where the attestations of a run lie: in a folder beside the run's own. The run folder holds what its DAG leads to and
 * nothing else, so a statement made later, by anybody, changes no byte of it.
 */
export function attestationsPath(runPath: string, { layer = diskLayer }: { layer?: FileLayer } = {}): string {
  return `${layer.realPath(runPath)}.attestations`; // not beside a link, or inside of "."
}

/**
 * The folder of one attestation, which follows from the envelope and the run: an OCI image layout whose one manifest has
 * the run's manifest as its `subject`, which makes it a referrer (OCI distribution specification 1.1).
 *
 * @throws TracewrightError "bad_envelope", "bad_attestation"
 */
export function attestationOf(run: Run, bytes: Uint8Array<ArrayBuffer>): Attestation {
  const envelope = parseEnvelope(bytes);
  const statement = parseStatement(envelope.payload, run);
  const subject = runManifestBytes(run.layers);
  const manifest = canonicalBytes({
    schemaVersion: 2,
    mediaType: MANIFEST_MEDIA_TYPE,
    artifactType: IN_TOTO_PAYLOAD,
    config: EMPTY_CONFIG,
    layers: [{
      mediaType: ENVELOPE_MEDIA_TYPE,
      digest: digestOf(bytes),
      size: bytes.length,
      annotations: { "in-toto.io/predicate-type": statement.predicateType },
    }],
    subject: {
      mediaType: MANIFEST_MEDIA_TYPE,
      artifactType: RUN_ARTIFACT_TYPE,
      digest: run.runId,
      size: subject.length,
    },
  });
  const digest = digestOf(manifest);
  const name = hexOf(digest).slice(0, 16);
  const blob = (content: Uint8Array<ArrayBuffer>): AttestationFile => {
    return { path: `blobs/sha256/${hexOf(digestOf(content))}`, bytes: content };
  };
  const files: AttestationFile[] = [
    blob(EMPTY_CONFIG_BYTES),
    blob(bytes),
    blob(manifest),
    { path: ENVELOPE_FILE, bytes },
    { path: "index.json", bytes: indexBytes(manifest, { artifactType: IN_TOTO_PAYLOAD, name }) },
    { path: "manifest.json", bytes: manifest },
    { path: "oci-layout", bytes: OCI_LAYOUT_BYTES },
  ];
  return { digest, name, envelope, statement, files };
}

/**
 * Puts an attestation beside its run: whole or not at all. The same one again changes nothing.
 *
 * @returns its folder
 * @throws TracewrightError as {@link attestationOf} and {@link readAttestations}, and I/O codes
 */
export function writeAttestation(
  run: Run,
  envelope: Uint8Array<ArrayBuffer>,
  { layer = diskLayer }: { layer?: FileLayer } = {},
): string {
  const { name, files } = attestationOf(run, envelope);
  const directory = attestationsPath(run.path, { layer });
  const target = `${directory}/${name}`;
  if (layer.facts(target) !== undefined) {
    readAttestation(run, name, layer);
    return target;
  }
  const parent = directory.slice(0, directory.lastIndexOf("/"));
  using temporaries = new Temporaries(layer, `${parent}/.tmp`);
  const temporary = temporaries.next();
  try {
    const folders = [...foldersOf(files.map(({ path }) => path))].map((folder) => `${temporary}/${folder}`);
    for (const folder of [temporary, ...folders]) layer.makeDirectory(folder);
    for (const { path, bytes } of files) {
      using file = layer.create(`${temporary}/${path}`);
      file.write(bytes);
      file.sync();
    }
    for (const folder of [temporary, ...folders]) layer.syncDirectory(folder);
    layer.makeDirectory(directory);
    layer.rename(temporary, target);
    layer.syncDirectory(directory);
    layer.syncDirectory(parent);
  } finally {
    temporaries.discard(temporary);
  }
  return target;
}

/**
 * The attestations beside a run, sorted by name. Everything in the folder must be one: each file has the bytes that
 * follow from its envelope and the run. Signatures are for `verifyEnvelope`.
 *
 * @throws TracewrightError "bad_envelope", "bad_attestation"
 */
export function readAttestations(run: Run, { layer = diskLayer }: { layer?: FileLayer } = {}): Attestation[] {
  const entries = layer.list(attestationsPath(run.path, { layer }));
  if (entries.length > MAX_ATTESTATIONS) {
    throw bundleError("bad_attestation", {
      message: "too many attestations",
      expected: `at most ${MAX_ATTESTATIONS}`,
      actual: entries.length,
    });
  }
  return entries.map(({ name, kind }) => {
    if (kind === "directory") return readAttestation(run, name, layer);
    throw bundleError("bad_attestation", {
      message: "something beside a run is no attestation",
      path: `${attestationsPath(run.path, { layer })}/${name}`,
      expected: "a folder",
      actual: kind,
    });
  });
}

function readAttestation(run: Run, name: string, layer: FileLayer): Attestation {
  const folder = `${attestationsPath(run.path, { layer })}/${name}`;
  const read = (path: string) => {
    const facts = layer.facts(`${folder}/${path}`);
    if (facts?.kind === "file" && facts.size <= MAX_ENVELOPE) {
      const bytes = layer.read(`${folder}/${path}`);
      if (bytes !== undefined) return bytes;
    }
    throw bundleError("bad_attestation", {
      message: "a file of an attestation is not there, is no file, or is too large",
      folder,
      path,
      expected: `a file of at most ${MAX_ENVELOPE} bytes`,
      actual: facts === undefined ? "nothing" : `${facts.kind} of ${facts.size} bytes`,
    });
  };
  const attestation = attestationOf(run, read(ENVELOPE_FILE));
  if (attestation.name !== name) {
    throw bundleError("bad_attestation", {
      message: "the folder of an attestation has another name than follows from it",
      folder,
      expected: attestation.name,
      actual: name,
    });
  }
  for (const { path, bytes } of attestation.files) {
    const actual = read(path);
    if (digestOf(actual) === digestOf(bytes)) continue;
    throw bundleError("bad_attestation", {
      message: "a file is not what the envelope and the run lead to",
      folder,
      path,
      ...textDifference(bytes, actual),
    });
  }
  const expected = new Set(attestation.files.map(({ path }) => path));
  const stranger = strangers(folder, "", { layer, expected, folders: foldersOf(expected) })[0];
  if (stranger === undefined) return attestation;
  throw bundleError("bad_attestation", {
    message: "something in the folder belongs to no attestation",
    folder,
    path: stranger,
  });
}

/** Paths that do not belong into a folder. */
function strangers(
  folder: string,
  prefix: string,
  known: { layer: FileLayer; expected: ReadonlySet<string>; folders: ReadonlySet<string> },
): string[] {
  return known.layer.list(`${folder}/${prefix}`).flatMap(({ name, kind }) => {
    const path = prefix + name;
    if (kind === "directory" && known.folders.has(path)) return strangers(folder, `${path}/`, known);
    return kind === "file" && known.expected.has(path) ? [] : [path];
  });
}
