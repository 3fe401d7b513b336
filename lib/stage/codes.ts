import { z } from "zod";
import { type Digest, digestOfJson, isDigest, sha256Hex } from "../core/digest.ts";
import { stageError } from "./stage_error.ts";

/** Schema id of `codes.json`. */
export const CODES_SCHEMA = "tracewright.codes.v1";

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const fileSchema = z.strictObject({ path: z.string().min(1), sha256: hashSchema });
const packageSchema = z.strictObject({ name: z.string().min(1), integrity: z.string().min(1) });
const codesSchema = z.strictObject({
  schema: z.literal(CODES_SCHEMA),
  stages: z.record(
    z.string(),
    z.strictObject({
      code: z.custom<Digest>(isDigest),
      files: z.array(fileSchema).min(1),
      packages: z.array(packageSchema),
    }),
  ),
});

/** One file a stage is made of. */
export interface CodeFile {
  /** From the top of the repository, `/` between parts. */
  readonly path: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

/** One npm package a stage uses. */
export interface CodePackage {
  /** `name@version`. */
  readonly name: string;
  /** As the lock file has it. */
  readonly integrity: string;
}

/** All code that one stage is made of. */
export interface StageCodes {
  /** The digest of `files` and `packages`. */
  readonly code: Digest;
  /** Sorted by path. */
  readonly files: readonly CodeFile[];
  /** Sorted by name. */
  readonly packages: readonly CodePackage[];
}

/** The content of `lib/pipeline/codes.json`, which `deno task codes` writes. */
export interface Codes {
  readonly schema: typeof CODES_SCHEMA;
  readonly stages: { readonly [name: string]: StageCodes };
}

/** The digest that stands for the code of a stage. */
export function digestOfCode(files: readonly CodeFile[], packages: readonly CodePackage[]): Digest {
  return digestOfJson({ schema: CODES_SCHEMA, files, packages });
}

/**
 * Reads a `codes.json` that has been parsed as JSON, and checks that its digests follow from its lists.
 *
 * @throws TracewrightError "bad_codes"
 */
export function parseCodes(value: unknown): Codes {
  const hint = "run: deno task codes";
  const parsed = codesSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.join(".") ?? "";
    throw stageError("bad_codes", {
      message: issue?.message ?? "not a codes file",
      field,
      hint,
      cause: parsed.error,
    });
  }
  for (const [stage, { code, files, packages }] of Object.entries(parsed.data.stages)) {
    const names = [files.map(({ path }) => path), packages.map(({ name }) => name)];
    for (const list of names) {
      const at = list.findIndex((name, i) => i > 0 && !(list[i - 1]! < name));
      if (at >= 0) {
        throw stageError("bad_codes", { message: "a list is not sorted", stage, actual: list[at], hint });
      }
    }
    const expected = digestOfCode(files, packages);
    if (code !== expected) {
      throw stageError("bad_codes", { stage, field: "code", expected, actual: code, hint });
    }
  }
  return parsed.data;
}

/** The code digest of a stage. @throws TracewrightError "unknown_code" */
export function codeDigest(codes: Codes, stage: string): Digest {
  const entry = Object.hasOwn(codes.stages, stage) ? codes.stages[stage] : undefined;
  if (entry !== undefined) return entry.code;
  throw stageError("unknown_code", {
    message: "codes.json does not know the stage",
    expected: Object.keys(codes.stages),
    actual: stage,
    hint: "run: deno task codes",
  });
}

/** A listed file that is not what `codes.json` says. */
export interface StaleFile {
  readonly path: string;
  readonly expected: string;
  /** Undefined where the file is gone. */
  readonly actual: string | undefined;
}

/**
 * Hashes every listed file once and returns those that differ, sorted by path. An import that was added or removed
 * changes the importing file, so a stale list cannot go unnoticed.
 *
 * @param readFile content of a path from the top of the repository, undefined where there is none
 */
export function staleFiles(codes: Codes, readFile: (path: string) => Uint8Array | undefined): StaleFile[] {
  const expected = new Map<string, Set<string>>();
  for (const { files } of Object.values(codes.stages)) {
    for (const { path, sha256 } of files) expected.set(path, (expected.get(path) ?? new Set()).add(sha256));
  }
  const stale: StaleFile[] = [];
  for (const [path, hashes] of expected) {
    const bytes = readFile(path);
    const actual = bytes === undefined ? undefined : sha256Hex(bytes);
    for (const hash of hashes) if (hash !== actual) stale.push({ path, expected: hash, actual });
  }
  return stale.sort((
    a,
    b,
  ) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.expected < b.expected ? -1 : 1));
}

/**
 * Refuses to go on with a `codes.json` that is not about the files at hand.
 *
 * @throws TracewrightError "codes_stale", naming the first file and how many differ
 */
export function requireFreshCodes(codes: Codes, readFile: (path: string) => Uint8Array | undefined): void {
  const stale = staleFiles(codes, readFile);
  const first = stale[0];
  if (first === undefined) return;
  throw stageError("codes_stale", {
    message: "lib/pipeline/codes.json is older than the code",
    path: first.path,
    files: stale.length,
    expected: first.expected,
    actual: first.actual ?? "no file",
    hint: "run: deno task codes",
  });
}
