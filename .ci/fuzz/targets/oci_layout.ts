import { hexOf } from "../../../lib/core/digest.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { importLayout } from "../../../lib/store/import_layout.ts";
import { readRun } from "../../../lib/store/read_run.ts";
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
  "bad_manifest",
  "not_canonical",
  "path_not_allowed",
  "too_large",
  "missing_blob",
  "blob_damaged",
];
const { files, root } = exampleFiles();
const INDEX = files.get("index.json")!;
const indexes = jsonInputs([text(INDEX), '{"manifests":[],"mediaType":"x","schemaVersion":2}']);
const PATHS = ["index.json", ...[...files.keys()].filter((path) => path.startsWith("blobs/"))];

/** An OCI image layout by another program, in which one file is another; an input is as in the target `run-folder`. */
export default target({
  codes: CODES,
  make(random: RandomStream) {
    const path = random.integer(4) === 0 ? random.pick(PATHS) : "index.json";
    const seed = files.get(path)!;
    const content = path === "index.json" && random.integer(5) > 0
      ? indexes(random)
      : mutateBytes(seed, [seed, INDEX], random);
    return joined(bytes(`${path}\n`), content);
  },
  read(input) {
    const end = input.indexOf(10);
    const path = text(input.subarray(0, Math.max(0, end)));
    const forged = [
      ...[...files].filter(([name]) => PATHS.includes(name)),
      [path, input.slice(end + 1)] as const,
    ];
    const layer = layerWith(forged.map(([name, content]) => [`layout/${name}`, content]));
    return { written: importLayout("layout", { directory: "runs", layer }), layer };
  },
  hold({ written, layer }) {
    const run = readRun(written.path, { layer });
    if (written.path !== `runs/${root}` || hexOf(run.runId).slice(0, 16) !== root) {
      throw new Error("another run");
    }
  },
});
