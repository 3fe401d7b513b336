import recorded from "./codes.json" with { type: "json" };
import { type Codes, parseCodes } from "../stage/codes.ts";

/** The code digests of the stages as they were recorded for this version of the program. */
export function recordedCodes(): Codes {
  return parseCodes(recorded);
}
