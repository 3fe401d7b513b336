import { type MutationRow, type Verdict, VERDICTS } from "./mutation_table.ts";
import { UNNEEDED_CHECKS } from "./unneeded_checks.ts";

const FILE = new URL("../fixtures/attacks/coverage.md", import.meta.url);
const [BEGIN, END] = ["<!-- mutation: written by deno task mutate -->", "<!-- mutation ends -->"];

function count(rows: readonly MutationRow[], verdict: Verdict): number {
  return rows.filter((row) => row.verdict === verdict).length;
}

/** The table of verdicts for people: how many of which kind in each file, and why the unneeded ones may stay. */
export function mutationSummary(rows: readonly MutationRow[]): string {
  const files = Map.groupBy(rows, ({ site }) => site.split(" ", 1)[0]!);
  const cells = (name: string, some: readonly MutationRow[]) =>
    `| ${[name, some.length, ...VERDICTS.map((verdict) => count(some, verdict) || "")].join(" | ")} |`;
  const kept = UNNEEDED_CHECKS.map(({ sites, reason }) => {
    const names = rows.filter(({ site, verdict }) => isUnneeded(verdict) && sites.test(site))
      .map(({ site }) => `\`${site}\``);
    return `- ${names.join(", ")}: ${reason}`;
  });
  return [
    `| file | checks | ${VERDICTS.join(" | ")} |`,
    `| --- |${" ---: |".repeat(VERDICTS.length + 1)}`,
    ...[...files].map(([file, some]) => cells(`\`${file}\``, some)),
    cells("all", rows),
    "",
    "Checks that may stay although no attack is answered otherwise without them:",
    "",
    ...kept,
  ].join("\n");
}

/** True for a check that only a reason keeps. */
export function isUnneeded(verdict: Verdict): boolean {
  return verdict === "unnoticed" || verdict === "unreached";
}

/** What stands between the marks in coverage.md. */
export function readMutationSummary(): string {
  const text = Deno.readTextFileSync(FILE);
  return text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)).trim();
}

/** Puts it there. */
export function writeMutationSummary(rows: readonly MutationRow[]): void {
  const text = Deno.readTextFileSync(FILE);
  const [head, tail] = [text.slice(0, text.indexOf(BEGIN) + BEGIN.length), text.slice(text.indexOf(END))];
  Deno.writeTextFileSync(FILE, `${head}\n\n${mutationSummary(rows)}\n\n${tail}`);
}
