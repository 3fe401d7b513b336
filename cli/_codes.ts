import { type Codes, requireFreshCodes } from "../lib/stage/codes.ts";
import { recordedCodes } from "../lib/pipeline/recorded_codes.ts";

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
  const codes = recordedCodes();
  requireFreshCodes(codes, read);
  return codes;
}
