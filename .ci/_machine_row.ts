import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import type { RuntimeName } from "../lib/policy/runtime.ts";
import { tableLine } from "./_readme_section.ts";

/** What a machine found: the result id, and the digest of each output by title. */
export interface MachineResult {
  /** JavaScript engine with its version. */
  readonly engine: string;
  readonly result_id: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** How much is run: smoke, or every stage of it in a fifth of the time. */
export type MachineSize = "smoke" | "small";

/** What is run, and what every machine must find. Outputs come in the order in which they are made. */
export interface MachineTask {
  readonly config: ExperimentConfig;
  readonly expected: Omit<MachineResult, "engine">;
}

/** The tasks by size. */
export type MachineTasks = Readonly<Record<MachineSize, MachineTask>>;

/** A way to run an experiment: on some processor, in some engine, with some runtime. */
export interface Machine {
  readonly machine: string;
  /** Model, and the emulator where there is one. */
  readonly cpu: string;
  readonly size: MachineSize;
  readonly runtime: RuntimeName;
  readonly workers: number;
  /** @throws LeftOut where this host has not what it takes */
  run(config: ExperimentConfig): Promise<MachineResult>;
}

/** Says that a machine cannot be had on this host, and why. */
export class LeftOut extends Error {}

/** A line of the table. */
export interface MachineRow extends Omit<Machine, "run"> {
  /** One of these is there. */
  readonly left_out?: string;
  readonly failed?: string;
  readonly engine?: string;
  readonly seconds?: number;
  readonly result_id?: string;
  /** The first output that is not the expected one. */
  readonly differs_from?: string;
}

/** Runs an experiment on a machine and compares what it found. */
export async function machineRow(
  { run, ...machine }: Machine,
  tasks: MachineTasks,
): Promise<MachineRow> {
  const { config, expected } = tasks[machine.size];
  const began = performance.now();
  try {
    const { engine, result_id, outputs } = await run(config);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    const row = { ...machine, engine, seconds, result_id };
    if (result_id === expected.result_id) return row;
    const titles = [...new Set([...Object.keys(expected.outputs), ...Object.keys(outputs)])];
    const first = titles.find((title) => outputs[title] !== expected.outputs[title]);
    return { ...row, differs_from: first ?? "the config" };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return error instanceof LeftOut ? { ...machine, left_out: why } : { ...machine, failed: why };
  }
}

/** Whether nothing speaks against one result everywhere: a row may be missing, but none may differ or fail. */
export function allSame(rows: readonly MachineRow[]): boolean {
  return rows.every(({ left_out, failed, differs_from }) =>
    left_out !== undefined || (failed === undefined && differs_from === undefined)
  );
}

/** The two lines above the rows. */
export const MACHINE_TABLE_HEAD: readonly string[] = [
  tableLine(["machine", "CPU", "engine", "runtime", "workers", "size", "seconds", "result id", ""]),
  "|---|---|---|---|---:|---|---:|---|---|",
];

function verdict({ left_out, failed, differs_from }: MachineRow): string {
  if (left_out !== undefined) return `left out: ${left_out}`;
  if (failed !== undefined) return `FAILED: ${failed}`;
  return differs_from === undefined ? "same" : `DIFFERENT from \`${differs_from}\` on`;
}

/** A row as a line of a Markdown table. */
export function machineLine(row: MachineRow): string {
  const { machine, cpu, engine = "", runtime, workers, size, seconds, result_id } = row;
  return tableLine([
    machine,
    cpu,
    engine,
    runtime,
    `${workers}`,
    size,
    seconds?.toFixed(1) ?? "",
    result_id === undefined ? "" : `\`${result_id.slice(0, 23)}…\``,
    verdict(row).replaceAll("|", "\\|").replaceAll(/\s+/g, " "),
  ]);
}
