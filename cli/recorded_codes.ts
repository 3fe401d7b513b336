import recorded from "../lib/pipeline/codes.json" with { type: "json" };
import { type Codes, parseCodes } from "../lib/stage/codes.ts";

/** The code digests of the stages as they were recorded for this version of the program. */
export function recordedCodes(): Codes {
  return parseCodes(recorded);
}
