import { importLayout } from "../lib/store/import_layout.ts";
import { packBundle } from "../lib/store/pack_bundle.ts";
import { readRun } from "../lib/store/read_run.ts";
import { unpackBundle } from "../lib/store/unpack_bundle.ts";
import { actionOf, needed } from "./_action.ts";
import { BUNDLE } from "./_bundle_specs.ts";
import { command, type CommandResult, executeCommand } from "./_command.ts";
import type { OptionValues } from "./_options.ts";
import { usageError } from "./_usage_error.ts";

type Options = OptionValues<typeof BUNDLE.options>;

const TABLE = {
  pack: ["run", "runs", "file", "withoutAttestations"],
  unpack: ["file", "output"],
  import: ["layout", "runs"],
} as const;

function transportOf(file: string): "zstd" | "plain" {
  if (file.endsWith(".tar.zst")) return "zstd";
  if (file.endsWith(".tar")) return "plain";
  throw usageError("bad_command_line", {
    message: "the name of a bundle says how it is written",
    expected: "a name ending in .tar.zst or .tar",
    actual: file,
  });
}

async function pack(options: Options): Promise<CommandResult> {
  const reference = needed(options.run, BUNDLE.options.run.flags);
  const file = needed(options.file, BUNDLE.options.file.flags);
  const transport = transportOf(file);
  const run = readRun(reference, { directory: options.runs });
  const packed = await packBundle(run, {
    target: file,
    transport,
    attestations: options.withoutAttestations ? "left-out" : "included",
  });
  return {
    json: { run_id: run.runId, result_id: run.resultId, ...packed },
    lines: [
      `run     ${run.runId}`,
      `bundle  ${packed.digest}  (of the uncompressed archive: ${packed.members} files, ${packed.size} bytes)`,
      `file    ${packed.path}  (${packed.attestations} attestations)`,
    ],
  };
}

async function unpack(options: Options): Promise<CommandResult> {
  const bundle = needed(options.file, BUNDLE.options.file.flags);
  const target = needed(options.output, BUNDLE.options.output.flags);
  const { path, runId, resultId, archive, attestations } = await unpackBundle({ bundle, target });
  return {
    json: {
      run_id: runId,
      result_id: resultId,
      path,
      digest: archive.digest,
      size: archive.size,
      members: archive.members,
      attestations: attestations.length,
    },
    lines: [
      `bundle  ${archive.digest}  (${archive.members} files, ${archive.size} bytes)`,
      `run     ${runId}`,
      `result  ${resultId}`,
      `folder  ${path}  (${attestations.length} attestations)`,
      `structure, blobs and views are good; next: verify --manifest ${path}/manifest.json`,
    ],
  };
}

function imported(options: Options): CommandResult {
  const layout = needed(options.layout, BUNDLE.options.layout.flags);
  const { runId, resultId, path, status } = importLayout(layout, { directory: options.runs });
  return {
    json: { run_id: runId, result_id: resultId, path, status },
    lines: [
      `run     ${runId}`,
      `result  ${resultId}`,
      `folder  ${path}  (${status})`,
      `next: verify --manifest ${path}/manifest.json`,
    ],
  };
}

/** `bundle`: one file of a run and back, or a run from an OCI image layout. */
export const bundle = command(BUNDLE, async (options, { argument }) => {
  switch (actionOf({ spec: BUNDLE, table: TABLE }, argument, options)) {
    case "pack":
      return await pack(options);
    case "unpack":
      return await unpack(options);
    default:
      return imported(options);
  }
});

if (import.meta.main) await executeCommand(bundle);
