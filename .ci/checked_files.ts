import { filesUnder, textOf } from "./_tree.ts";
import type { Source } from "./_parsed_source.ts";

/** What reads a run, what admits a graph, what compares: the sources whose checks have to be needed. */
const CHECKED = [
  /^lib\/verify\/[a-z]\w*\.ts$/,
  /^lib\/policy\/(admission|onnx_reader|_protobuf_reader|interval_proof|exact_network|float_to_exact)\.ts$/,
  /^lib\/store\/(read_run|_run_files|manifest|run_manifest|run_name|action_record|blob_reader|lines)\.ts$/,
  /^lib\/core\/canonical_json\.ts$/,
  /^lib\/report\/_parse_record\.ts$/,
];

/** The sources of the verifier whose checks are switched off one by one. */
export function checkedFiles(): Source[] {
  return filesUnder("lib/")
    .filter((path) => CHECKED.some((pattern) => pattern.test(path)) && !/_(test|bench)\.ts$/.test(path))
    .map((path) => ({ path, text: textOf(path) }));
}
