/** What came of each check of the verifier when it was switched off. */

/**
 * `needed`: an attack is then accepted. `backed`: every attack is still refused, by another check. `broken`: an attack makes
 * the verifier break, or never end. `working`: a call that does work, too, so that an honest run does not pass without it.
 * `unnoticed`: every attack gets the same answer all the same. `unreached`: no attack comes that far.
 */
export const VERDICTS = ["needed", "backed", "broken", "working", "unnoticed", "unreached"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One check and its verdict. */
export interface MutationRow {
  /** See `CheckSite`. */
  readonly site: string;
  /** The condition or call that the verdict is about. */
  readonly check: string;
  readonly verdict: Verdict;
  /** An attack that shows it. */
  readonly attack?: string;
  /** How that attack ends without the check: `accepted`, a code and its step, or what breaks. */
  readonly answer?: string;
}

const FILE = new URL("../fixtures/attacks/mutation.json", import.meta.url);

/** The table as it was committed; empty where there is none yet. */
export function readMutationTable(): readonly MutationRow[] {
  try {
    return (JSON.parse(Deno.readTextFileSync(FILE)) as { readonly checks: readonly MutationRow[] }).checks;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Writes the table, one check a line. */
export function writeMutationTable(rows: readonly MutationRow[]): void {
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`);
  Deno.writeTextFileSync(
    FILE,
    `{\n  "schema": "tracewright.mutation.v1",\n  "checks": [\n${lines.join(",\n")}\n  ]\n}\n`,
  );
}
