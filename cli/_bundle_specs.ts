import type { CommandSpec } from "./_command.ts";
import { choice, flag, requiredText, text, textOr } from "./_options.ts";

/** The commands about stores, bundles, signatures and releases; see `_specs.ts`. */

const run = text("--run <folder|digest>", "folder of the run, its manifest, or a unique prefix of its id");
const requiredRun = requiredText(
  "--run <folder|digest>",
  "folder of the run, its manifest, or a unique prefix of its id",
);
const runs = textOr("artifacts/runs", "--runs <folder>", "where runs are looked up by id");
const privateKey = requiredText("--key <file>", "private key in PEM (PKCS #8); see keygen");

export const BUNDLE = {
  name: "bundle",
  summary: "pack a run into one file, unpack one, or import a run that came from a registry",
  argument: { name: "action", description: "pack, unpack or import" },
  options: {
    run,
    runs,
    file: text("-f, --file <file>", "the bundle: .tar.zst, or .tar for the bare archive"),
    output: text("-o, --output <folder>", "unpack: run folder to make; it must not exist"),
    layout: text(
      "--layout <folder>",
      "import: OCI image layout, as skopeo copy docker://... oci:<folder> writes",
    ),
    withoutAttestations: flag("--without-attestations", "pack: leave out the statements beside the run"),
  },
  examples: [
    "bundle pack --run 0123 --file artifacts/run.tar.zst",
    "bundle unpack --file artifacts/run.tar.zst --output artifacts/runs/fetched",
    "bundle import --layout artifacts/fetched",
  ],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;

export const STORE = {
  name: "store",
  summary: "check a store, collect what no name leads to, or change names",
  argument: { name: "action", description: "check, gc, names, pin or forget" },
  options: {
    store: textOr("artifacts/store", "--store <folder>", "the store"),
    readData: flag("--read-data", "check: hash every blob too"),
    dryRun: flag("--dry-run", "gc: say what would be removed, and remove nothing"),
    name: text("--name <name>", "pin: a name of your own; forget: a name such as runs/0123456789abcdef"),
    digest: text("--digest <digest>", "pin: what the name keeps, a blob or the manifest of a run"),
  },
  examples: [
    "store check --read-data",
    "store gc --dry-run",
    "store names",
    "store forget --name runs/0123456789abcdef",
  ],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;

export const KEYGEN = {
  name: "keygen",
  summary: "make a key pair for signing: ECDSA on P-256",
  options: {
    privateKey: requiredText(
      "--private-key <file>",
      "where the private key is written, outside of any checkout",
    ),
    publicKey: requiredText("--public-key <file>", "where the public key is written"),
  },
  examples: ["keygen --private-key ../signing.pem --public-key artifacts/signing.pub.pem"],
  permissions: ["--allow-read", "--allow-write"],
} as const satisfies CommandSpec;

export const SIGN = {
  name: "sign",
  summary: "sign where a run comes from: SLSA provenance in a DSSE envelope, beside the run",
  options: {
    run: requiredRun,
    runs,
    key: privateKey,
    finishedOn: text("--finished-on <time>", "state a time, such as 2026-01-31T12:00:00Z; none without it"),
  },
  examples: ["sign --run 0123 --key ../signing.pem"],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;

export const ATTEST = {
  name: "attest",
  summary: "verify a run and sign the verdict: in-toto test result in a DSSE envelope, beside the run",
  options: {
    run: requiredRun,
    runs,
    key: privateKey,
    level: choice(["standard", "rebuild"], "--level <name>", "rebuild also trains again from scratch"),
    otherCode: flag("--other-code", "go on where the run was made by other code, and say so in the verdict"),
  },
  examples: ["attest --run 0123 --key ../signing.pem"],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;

export const SIGNATURES = {
  name: "signatures",
  summary: "check who signed the statements beside a run, and show them; reads only",
  options: { run: requiredRun, runs, key: requiredText("--key <file>", "public key in PEM, from its owner") },
  examples: ["signatures --run 0123 --key artifacts/signing.pub.pem"],
  permissions: ["--allow-read"],
} as const satisfies CommandSpec;

export const VERIFY_RELEASE = {
  name: "verify-release",
  summary: "check a published release against what this version of the program knows of it",
  options: { release: requiredText("--release <name>", "name of the release") },
  examples: ["verify-release --release smoke-v0.1.0"],
  permissions: ["--allow-read", "--allow-write=artifacts"],
} as const satisfies CommandSpec;
