import { dagManifestBytes, parseDagManifest, resultId } from "../../../lib/store/manifest.ts";
import { isRunName } from "../../../lib/store/run_name.ts";
import { runLayers, runManifestBytes } from "../../../lib/store/run_manifest.ts";
import type { StoreCode } from "../../../lib/store/store_error.ts";
import { releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { exampleFiles } from "../example_files.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly StoreCode[] = ["too_large", "not_canonical", "bad_manifest", "path_not_allowed"];

/** The graph of a run. */
export default target({
  codes: CODES,
  make: jsonInputs([text(exampleFiles().dagBytes), text(releasedRun().dagBytes)]),
  read: parseDagManifest,
  hold(dag, input) {
    equalBytes(dagManifestBytes(dag), input, "written again");
    resultId(dag);
    const layers = runLayers(dag, input, () => 0);
    runManifestBytes(layers);
    const bad = layers.find(({ title }) => !title.split("/").every((part) => isRunName(part)));
    if (bad !== undefined) throw new Error(`a layer has the title ${bad.title}`);
  },
});
