import { parseRunManifest, runIndexBytes, runManifestBytes } from "../../../lib/store/run_manifest.ts";
import type { StoreCode } from "../../../lib/store/store_error.ts";
import { releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { exampleFiles } from "../example_files.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly StoreCode[] = ["too_large", "not_canonical", "bad_manifest"];

/** The OCI manifest of a run. */
export default target({
  codes: CODES,
  make: jsonInputs([text(exampleFiles().manifest), text(releasedRun().manifest)]),
  read: parseRunManifest,
  hold(layers, input) {
    equalBytes(runManifestBytes(layers), input, "written again");
    runIndexBytes(input);
  },
});
