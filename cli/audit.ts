import { canonicalBytes, type Json } from "../lib/core/canonical_json.ts";
import { type Digest, digestOf } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { generateSplit } from "../lib/benchmark/generate.ts";
import { AUDIT_TRACE_NAME, type AuditManifest, publicAudit } from "../lib/benchmark/public_audit.ts";
import { readTaskLines } from "../lib/benchmark/task_lines.ts";
import { verifyPublicAudit } from "../lib/benchmark/verify_public_audit.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import type { WorkflowTask } from "../lib/world/contracts.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { writeFileWhole, writeWhole } from "./_output.ts";
import { AUDIT } from "./_specs.ts";

const MANIFEST_NAME = "v1.3-public-ready-audit.manifest.json";
const VERIFICATION_NAME = "v1.3-public-ready-audit.verification.json";

/** What the third file says: nothing is passed before every case was played a second time from what the disk holds. */
interface Verification {
  readonly schema: "tracewright.public-audit-verification.v1";
  readonly passed: boolean;
  readonly state: "pending" | "passed" | "failed";
  readonly trace_sha256: Digest | null;
  readonly manifest_sha256: Digest | null;
}

function verificationBytes(
  state: Verification["state"],
  files?: { readonly trace: Uint8Array; readonly manifest: Uint8Array },
): Uint8Array {
  const record: Verification = {
    schema: "tracewright.public-audit-verification.v1",
    passed: state === "passed",
    state,
    trace_sha256: files === undefined ? null : digestOf(files.trace),
    manifest_sha256: files === undefined ? null : digestOf(files.manifest),
  };
  return canonicalBytes(record);
}

function readFile(path: string): Uint8Array {
  const bytes = diskLayer.read(path);
  if (bytes !== undefined) return bytes;
  throw new TracewrightError<"cli", "no_such_file">("no_such_file", {
    path,
    expected: "a file of an audit",
    actual: "nothing",
    hint: "run `audit` without --verify-only first",
  });
}

/** The tasks to audit: those of a file, or else generated. A file of another size is refused here, of another seed later. */
function tasksOf(
  file: string | undefined,
  { size, baseSeed }: { readonly size: number; readonly baseSeed: number },
): WorkflowTask[] {
  if (file === undefined) return generateSplit({ split: "test", size, baseSeed });
  const bytes = diskLayer.read(file);
  if (bytes === undefined) {
    throw new TracewrightError<"cli", "no_such_file">("no_such_file", {
      option: "--benchmark-test",
      path: file,
    });
  }
  const tasks = readTaskLines(bytes);
  if (tasks.length !== size) {
    throw new TracewrightError<"cli", "other_benchmark">("other_benchmark", {
      message: "the file holds another number of tasks",
      path: file,
      expected: size,
      actual: tasks.length,
      hint: "give the size that the tasks were generated with, with --size or --config",
    });
  }
  return tasks;
}

interface Files {
  readonly trace: Uint8Array;
  readonly manifest: Uint8Array;
}

const filesIn = (folder: string): Files => ({
  trace: readFile(`${folder}/${AUDIT_TRACE_NAME}`),
  manifest: readFile(`${folder}/${MANIFEST_NAME}`),
});

/** Writes trace and manifest. The third file says "pending" before and while they change. */
function writeAudit(folder: string, audit: { trace: Uint8Array; manifest: AuditManifest }): void {
  const pending = verificationBytes("pending");
  writeWhole(folder, [{ name: VERIFICATION_NAME, bytes: pending }]);
  writeWhole(folder, [
    { name: AUDIT_TRACE_NAME, bytes: audit.trace },
    { name: MANIFEST_NAME, bytes: canonicalBytes(audit.manifest) },
  ]);
}

/** Compares the third file with what it must say of files that were just found good. */
function checkVerification(folder: string, files: Files): void {
  const path = `${folder}/${VERIFICATION_NAME}`;
  const [expected, actual] = [verificationBytes("passed", files), readFile(path)];
  if (digestOf(expected) === digestOf(actual)) return;
  const decoder = new TextDecoder();
  throw new TracewrightError<"cli", "audit_mismatch">("audit_mismatch", {
    message: "the cases replay, but the verification file does not say so",
    path,
    expected: decoder.decode(expected),
    actual: decoder.decode(actual),
    hint: "it was edited, or the audit was interrupted; run `audit` again",
  });
}

/**
 * `audit`: plays the public ready-greedy rule over the test split, keeps every decision, and plays it all a second time to
 * check what was kept. With `--verify-only` it only does the latter and writes nothing.
 */
export const audit = command(AUDIT, async (options, { note }) => {
  const { seeds, benchmark } = await loadConfig({ file: options.config, shipped: "full" });
  const size = options.size ?? benchmark.test_tasks;
  const baseSeed = options.baseSeed ?? seeds.benchmark_seed;
  const tasks = tasksOf(options.benchmarkTest, { size, baseSeed });
  const folder = options.output;
  if (!options.verifyOnly) {
    note(`${size} cases …`);
    writeAudit(folder, publicAudit(tasks, { baseSeed }));
  }
  note("replay …");
  const files = filesIn(folder);
  let replayed: ReturnType<typeof verifyPublicAudit>;
  try {
    replayed = verifyPublicAudit(files, tasks, { baseSeed });
  } catch (error) {
    if (!options.verifyOnly) {
      writeFileWhole(`${folder}/${VERIFICATION_NAME}`, verificationBytes("failed", files));
    }
    throw error;
  }
  if (options.verifyOnly) checkVerification(folder, files);
  else writeFileWhole(`${folder}/${VERIFICATION_NAME}`, verificationBytes("passed", files));
  const manifest = JSON.parse(new TextDecoder().decode(files.manifest)) as AuditManifest;
  const { row_sha256: _rows, ...facts } = manifest;
  return {
    json: { passed: true, path: folder, replayed, manifest: facts } as unknown as Json,
    lines: [
      `${manifest.baseline_id}: ${manifest.successful_cases} of ${manifest.case_count} cases succeeded, ` +
      `${manifest.mean_steps} steps on average, ${manifest.forbidden_side_effect_count} forbidden side effects`,
      `trace     ${folder}/${AUDIT_TRACE_NAME}  ${manifest.trace.sha256}`,
      `manifest  ${folder}/${MANIFEST_NAME}  ${digestOf(files.manifest)}`,
      `replayed  ${replayed.cases} cases, ${replayed.decisions} decisions: all equal`,
    ],
  };
});

if (import.meta.main) await executeCommand(audit);
