import { canonicalBytes } from "../../../lib/core/canonical_json.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { checkRunBlobs, checkRunViews, readRun } from "../../../lib/store/read_run.ts";
import type { StoreCode } from "../../../lib/store/store_error.ts";
import { bytes, text } from "../corpus.ts";
import { exampleFiles } from "../example_files.ts";
import { joined } from "../joined.ts";
import { jsonInputs } from "../json_inputs.ts";
import { layerWith } from "../layer_with.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { target } from "../target.ts";

const CODES: readonly StoreCode[] = [
  "run_not_found",
  "missing_file",
  "too_large",
  "not_canonical",
  "bad_manifest",
  "path_not_allowed",
  "unexpected_file",
  "missing_blob",
  "blob_damaged",
  "view_mismatch",
];
const { files } = exampleFiles();
const NAMES = [...files.keys()];
const json = jsonInputs(
  NAMES.filter((name) => /^[{[]/.test(text(files.get(name)!))).map((name) => text(files.get(name)!)),
);
const raw = [...files.values()];
const OTHER = ["extra", "blobs/sha256/00", "traces/e/17.jsonl.bak", "report.html"] as const;

/** A run folder in which one file is another; an input is the file's path, a line feed, and what it holds. */
export default target({
  codes: CODES,
  make(random: RandomStream) {
    const path = random.integer(12) === 0 ? random.pick(OTHER) : random.pick(NAMES);
    const seed = files.get(path) ?? bytes("{}");
    const content = random.integer(4) === 0 ? json(random) : mutateBytes(seed, raw, random);
    return joined(bytes(`${path}\n`), content);
  },
  read(input) {
    const end = input.indexOf(10);
    const path = text(input.subarray(0, Math.max(0, end)));
    const forged = [...files, [path, input.slice(end + 1)] as const];
    const layer = layerWith(forged.map(([name, content]) => [`run/${name}`, content]));
    const run = readRun("run", { layer });
    checkRunBlobs(run);
    checkRunViews(run, { layer });
    return { path, content: input.slice(end + 1) };
  },
  hold({ path, content }) {
    // A view that no digest covers may hold anything; every other file has one content.
    const wanted = files.get(path);
    if (path === "report.html" || (wanted !== undefined && text(wanted) === text(content))) return;
    throw new Error(`${path} may be ${text(canonicalBytes(text(content).slice(0, 200)))}`);
  },
});
