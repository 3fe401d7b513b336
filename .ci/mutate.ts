/**
 * Switches off the checks of the verifier one by one, in a copy of the sources, and sees which attacks pass then.
 *
 *     deno task mutate                     every check; writes the table
 *     deno task mutate --file read_run     checks of files whose path holds this
 *     deno task mutate --only PATTERN      checks whose name matches
 *     deno task mutate --check             the recorded attack of each check once more; writes nothing
 */
import { parseArgs } from "node:util";
import { scratchFolder } from "../lib/store/scratch_folder.ts";
import type { Reply } from "./_mutant_runner.ts";
import { MutantProcess } from "./_mutant_process.ts";
import type { CheckSite } from "./check_sites.ts";
import { type MutationRow, readMutationTable, type Verdict, writeMutationTable } from "./mutation_table.ts";
import { writeMutationSummary } from "./mutation_summary.ts";

const HONEST = "an honest run";

const { values: options } = parseArgs({
  args: Deno.args.filter((arg) => arg !== "--"),
  options: { only: { type: "string" }, file: { type: "string" }, check: { type: "boolean" } },
});

/** The attacks that each check refused when nothing was off, and the checks that said no during an honest run. */
async function answersOf(runner: MutantProcess): Promise<ReadonlyMap<string, readonly string[]>> {
  const attacksOn = new Map<string, string[]>();
  for (const attack of runner.attacks) {
    const { outcome, answer, fired } = await runner.ask({ attack });
    if (outcome !== (attack === HONEST ? "accepted" : "same")) {
      throw new Error(`with every check on, "${attack}" ends as ${answer}`);
    }
    for (const site of fired) attacksOn.set(site, [...attacksOn.get(site) ?? [], attack]);
  }
  return attacksOn;
}

const RANK: Readonly<Record<Reply["outcome"], Verdict>> = {
  accepted: "needed",
  crashed: "broken",
  other: "backed",
  same: "unnoticed",
};
const ORDER = Object.keys(RANK) as Reply["outcome"][];

/** Switches one check off and tries what it has answered before, until something is accepted. */
async function judge(
  runner: MutantProcess,
  { name, check, kind }: CheckSite,
  attacks: readonly string[],
): Promise<MutationRow> {
  // What a condition never said no to, switching it off cannot change.
  if (kind === "call" || attacks.includes(HONEST)) {
    const { outcome, answer } = await runner.ask({ attack: HONEST, off: name });
    if (outcome !== "accepted") return { site: name, check, verdict: "working", attack: HONEST, answer };
  }
  let worst:
    | { readonly outcome: Reply["outcome"]; readonly attack: string; readonly answer: string }
    | undefined;
  for (const attack of attacks) {
    if (attack === HONEST) continue;
    const { outcome, answer } = await runner.ask({ attack, off: name });
    if (worst === undefined || ORDER.indexOf(outcome) < ORDER.indexOf(worst.outcome)) {
      worst = { outcome, attack, answer };
    }
    if (outcome === "accepted") break;
  }
  if (worst === undefined) return { site: name, check, verdict: "unreached" };
  return { site: name, check, verdict: RANK[worst.outcome], attack: worst.attack, answer: worst.answer };
}

function line({ site, verdict, attack, answer }: MutationRow): string {
  const shown = attack === undefined ? "" : verdict === "needed" ? `"${attack}"` : `"${attack}": ${answer}`;
  return `${verdict.padEnd(9)}  ${site}  ${shown}`;
}

function isChosen({ name }: CheckSite): boolean {
  return (options.file === undefined || name.split(" ", 1)[0]!.includes(options.file)) &&
    (options.only === undefined || new RegExp(options.only).test(name));
}

/** Judges the chosen checks anew and leaves the other rows as they are. */
async function judgeAll(runner: MutantProcess, sites: readonly CheckSite[]): Promise<void> {
  const attacksOn = await answersOf(runner);
  const before = new Map(readMutationTable().map((row) => [row.site, row]));
  const rows: MutationRow[] = [];
  for (const site of sites) {
    const known = before.get(site.name);
    if (!isChosen(site) && known?.check === site.check) {
      rows.push(known);
      continue;
    }
    rows.push(await judge(runner, site, attacksOn.get(site.name) ?? []));
    console.log(line(rows.at(-1)!));
  }
  writeMutationTable(rows);
  writeMutationSummary(rows);
}

/** Carries out what is recorded of the chosen checks. @returns how many ended otherwise */
async function checkAll(runner: MutantProcess, sites: readonly CheckSite[]): Promise<number> {
  const rows = new Map(readMutationTable().map((row) => [row.site, row]));
  let tried = 0;
  let wrong = 0;
  for (const { name } of sites.filter(isChosen)) {
    const { attack, answer } = rows.get(name) ?? {};
    if (attack === undefined) continue;
    tried++;
    const reply = await runner.ask({ attack, off: name });
    if (reply.answer === answer) continue;
    wrong++;
    console.log(`${name}: "${attack}" ends as ${reply.answer}, not as ${answer}`);
  }
  console.log(`${tried} checks switched off, ${wrong} with another effect than recorded`);
  return wrong;
}

using folder = scratchFolder();
const instrument = await new Deno.Command(Deno.execPath(), {
  args: ["test", "--no-check", "--frozen", "-A", "-q", ".ci/_instrument.ts", "--", folder.path],
  cwd: new URL("../", import.meta.url),
  stdout: "null",
}).output();
if (!instrument.success) Deno.exit(1);
const sites = JSON.parse(Deno.readTextFileSync(`${folder.path}/sites.json`)) as CheckSite[];
await using runner = await new MutantProcess(folder.path).open();
if (options.check) {
  if (await checkAll(runner, sites) > 0) Deno.exitCode = 1;
} else await judgeAll(runner, sites);
