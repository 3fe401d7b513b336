/**
 * Runs the smoke experiment, training included, on every machine that can be had here, and holds each result id against the
 * golden one; what takes an emulator too long is run at a smaller size. What cannot be run is said and left out; a result that
 * differs ends it with 1.
 *
 *     deno task machines             this host, then emulated processors; some minutes
 *     deno task machines --here      this host only
 *     deno task machines --write     all, and record the table for the README
 */
import { digestOfJson } from "../lib/core/digest.ts";
import { emulatedMachines, hostMachines } from "./_machine_list.ts";
import {
  allSame,
  type Machine,
  MACHINE_TABLE_HEAD,
  machineLine,
  type MachineRow,
  machineRow,
  type MachineSize,
  type MachineTasks,
} from "./_machine_row.ts";
import { machineTasks } from "./_machine_tasks.ts";
import { withSection } from "./_readme_section.ts";

/** What was found on which machines. */
export interface Machines {
  /** Digest of the config that was run, smoke's. */
  readonly config: string;
  /** Result ids that were expected: the golden one of that time, and what the host computed for the small size. */
  readonly expected: Readonly<Record<MachineSize, string>>;
  readonly rows: readonly MachineRow[];
}

const SECTION = {
  start: "<!-- machines, written by `deno task machines --write` -->",
  end: "<!-- end of machines -->",
} as const;

/** The part of the README about machines, line by line. */
export function machinesLines(
  { expected, rows }: Machines,
  { golden }: { readonly golden: string },
): string[] {
  const stale = golden === expected.smoke
    ? []
    : ["", "Since then the smoke experiment has got another result, and the machines were not asked again."];
  return [...MACHINE_TABLE_HEAD, ...rows.map(machineLine), ...stale];
}

/** The README with its table of machines replaced. @param now.golden the golden result id of today */
export function withMachines(readme: string, machines: Machines, now: { readonly golden: string }): string {
  return withSection(readme, SECTION, machinesLines(machines, now));
}

/**
 * Runs an experiment on each machine and prints the table as it comes.
 *
 * @returns the rows, and the exit code: 1 where a result differs or a machine failed
 */
export async function askMachines(
  machines: readonly Machine[],
  { tasks, print }: { readonly tasks: MachineTasks; print(line: string): void },
): Promise<{ readonly rows: readonly MachineRow[]; readonly code: 0 | 1 }> {
  const rows: MachineRow[] = [];
  MACHINE_TABLE_HEAD.forEach((line) => print(line));
  for (const machine of machines) {
    const row = await machineRow(machine, tasks);
    rows.push(row);
    print(machineLine(row));
  }
  print("");
  for (const size of ["smoke", "small"] as const) {
    const asked = rows.filter((row) => row.size === size);
    if (asked.length > 0) print(`expected of ${size}  ${tasks[size].expected.result_id}`);
    for (const found of new Set(asked.flatMap(({ result_id }) => result_id ?? []))) {
      print(`found               ${found}`);
    }
  }
  return { rows, code: allSame(rows) ? 0 : 1 };
}

if (import.meta.main) {
  const asked = Deno.args.filter((arg) => arg !== "--");
  if (asked.length > 1 || asked.some((arg) => arg !== "--here" && arg !== "--write")) {
    console.error(`machines takes --here or --write, not ${asked.join(" ")}`);
    Deno.exit(2);
  }
  const tasks = await machineTasks();
  const folder = await Deno.makeTempDir();
  try {
    const machines = [
      ...await hostMachines(),
      ...(asked[0] === "--here" ? [] : await emulatedMachines(folder)),
    ];
    const { rows, code } = await askMachines(machines, { tasks, print: console.log });
    Deno.exitCode = code;
    if (asked[0] === "--write") {
      const { smoke, small } = tasks;
      const expected = { smoke: smoke.expected.result_id, small: small.expected.result_id };
      const found: Machines = { config: digestOfJson(smoke.config), expected, rows };
      await Deno.writeTextFile("fixtures/results/machines.json", JSON.stringify(found, null, 2) + "\n");
      const readme = await Deno.readTextFile("README.md");
      await Deno.writeTextFile("README.md", withMachines(readme, found, { golden: expected.smoke }));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
