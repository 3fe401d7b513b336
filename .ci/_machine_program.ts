import { LeftOut, type MachineResult } from "./_machine_row.ts";

/** Words that start a program: itself, and what stands before its own arguments. */
export type CommandWords = readonly [program: string, ...words: string[]];

/** Only against an emulator that hangs; the slowest row takes some minutes. */
const HANGS_MS = 30 * 60_000;

/**
 * Runs a program to its end. Returns what it printed.
 *
 * @throws LeftOut where there is no such program; Error with the end of what it complained of where it failed
 */
export async function outputOf(words: CommandWords, cwd: string): Promise<string> {
  const [program, ...args] = words;
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, {
      args,
      cwd,
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(HANGS_MS),
    }).output();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) throw new LeftOut(`no ${program} here`);
    throw cause;
  }
  const decoder = new TextDecoder();
  if (output.success) return decoder.decode(output.stdout);
  const complaint = decoder.decode(output.stderr).trim().split("\n").slice(-4).join(" ");
  throw new Error(`${program} ended with ${output.signal ?? output.code}: ${complaint}`);
}

/** What a program that runs an experiment has printed, its last line. */
export function machineResult(printed: string): MachineResult {
  return JSON.parse(printed.trimEnd().split("\n").at(-1) ?? "") as MachineResult;
}
