import recorded from "../lib/pipeline/codes.json" with { type: "json" };
import { type Codes, parseCodes, requireFreshCodes } from "../lib/stage/codes.ts";

const ROOT = new URL("../", import.meta.url);

function read(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(new URL(path, ROOT));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * The code digests of the stages, after making sure that they are about the files at hand.
 *
 * @throws TracewrightError "codes_stale" where a listed file was changed since
 */
export function currentCodes(): Codes {
  const codes = parseCodes(recorded);
  requireFreshCodes(codes, read);
  return codes;
}
