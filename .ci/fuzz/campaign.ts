import { fromBase64 } from "../../lib/store/base64.ts";
import { sha256Hex } from "../../lib/core/digest.ts";

/** What to run of one target. */
export interface Campaign {
  readonly target: string;
  readonly seed: number;
  /** So many inputs, or as many as there is time for. */
  readonly budget: { readonly inputs: number } | { readonly seconds: number };
  /** An input that takes so long hangs, however busy the machine is, in milliseconds; 30 s if not given. */
  readonly patience?: number;
  /** After so many processes that hung or died there is nothing new to learn; 3 if not given. */
  readonly deaths?: number;
}

/** Something that must not be. */
export interface FuzzFinding {
  readonly index: number;
  readonly what: string;
  readonly input: Uint8Array<ArrayBuffer>;
}

/** What came of a campaign. */
export interface FuzzReport {
  readonly target: string;
  readonly inputs: number;
  readonly accepted: number;
  /** How often each code was given. */
  readonly codes: Readonly<Record<string, number>>;
  /** Most memory the process had, in bytes. */
  readonly peak: number;
  /** Of processor time. */
  readonly seconds: number;
  readonly findings: readonly FuzzFinding[];
}

interface Told {
  /** False where more comes. */
  readonly done: boolean;
  readonly inputs: number;
  readonly accepted: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly peak: number;
  readonly cpu: number;
}

interface Watched {
  readonly findings: FuzzFinding[];
  /** What the process last said of all that it did. */
  readonly told: Told | undefined;
  /** The input that was being read when the process went or was taken away. */
  readonly last: number | undefined;
  /** `"silent"`: it said nothing for too long and was killed. */
  readonly fate: "done" | "silent" | "died";
  readonly errors: string;
}

const CHILD = new URL("child.ts", import.meta.url);
const CONFIG = new URL("../../deno.json", import.meta.url);
/** An input may take so much processor time, in seconds. */
const MAX_SECONDS = 1;
/** A process that says nothing for so long is looked at, in milliseconds. */
const SILENCE = 1_000;
/** With so little work done it has been kept waiting by others, or has just begun, and is given this long. */
const PATIENCE = 30_000;
/** For loading a target, which needs all of its corpus. */
const LOADING = 300_000;
const MAX_DEATHS = 3;

/** A process that may read, and write to one folder, which is where it is. */
function command(args: readonly string[], folder: string): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    cwd: folder,
    args: [
      "run",
      `--config=${decodeURIComponent(CONFIG.pathname)}`,
      "--cached-only",
      "--no-remote",
      "--frozen",
      "--no-prompt",
      "--no-check",
      "--node-modules-dir=manual", // what is there is used as it is, without a lock
      "--v8-flags=--max-old-space-size=256",
      "--allow-read",
      `--allow-write=${folder}`,
      "--allow-env=LOG_STREAM,LOG_TOKENS",
      decodeURIComponent(CHILD.pathname),
      ...args,
    ],
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

interface Event {
  readonly index: number;
  readonly what: string;
  readonly input: string;
}

/** Seconds of processor time a process has used; undefined where the system does not say. */
function processorTime(pid: number): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  try {
    // proc(5): after the name in brackets, fields 14 and 15 in hundredths.
    const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined; // it has just gone
  }
}

/** Runs a child and kills it where it says nothing for `silence` milliseconds after an input has begun. */
async function watch(args: readonly string[], silence: number): Promise<Watched> {
  const folder = Deno.makeTempDirSync();
  const child = command(args, folder).spawn();
  const findings: FuzzFinding[] = [];
  let told: Told | undefined;
  let last: number | undefined;
  let heard = performance.now();
  let silent = false;
  let noticed: number | undefined;
  let before: number | undefined;
  const timer = setInterval(() => {
    const now = performance.now();
    if (heard !== noticed) {
      noticed = heard;
      before = processorTime(child.pid);
    }
    const worked = processorTime(child.pid);
    const idle = worked !== undefined && before !== undefined && worked - before < MAX_SECONDS;
    if (now - heard < (last === undefined ? LOADING : idle ? PATIENCE : silence)) return;
    silent = true;
    try {
      child.kill("SIGKILL");
    } catch { /* it has just gone by itself */ }
  }, 50);
  const errors = new Response(child.stderr).text();
  try {
    let rest = "";
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      heard = performance.now();
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith("@")) last = Number(line.slice(1));
        else if (line.startsWith("!")) {
          const { index, what, input } = JSON.parse(line.slice(1)) as Event;
          findings.push({ index, what, input: fromBase64(input)! });
        } else if (line.startsWith(".")) told = JSON.parse(line.slice(1)) as Told;
      }
    }
    const { success } = await child.status;
    const fate = silent ? "silent" : success && told?.done ? "done" : "died";
    return { findings, told, last, fate, errors: await errors };
  } finally {
    clearInterval(timer);
    Deno.removeSync(folder, { recursive: true });
  }
}

async function inputAt({ target, seed }: Campaign, index: number): Promise<Uint8Array<ArrayBuffer>> {
  const { stdout } = await command([
    `--target=${target}`,
    `--seed=${seed}`,
    `--from=${index}`,
    "--show",
  ], Deno.cwd()).output();
  const { input } = JSON.parse(new TextDecoder().decode(stdout).slice(1)) as Event;
  return fromBase64(input)!;
}

/**
 * Reads one input in a process of its own. Nothing is found where the process was only kept waiting by others.
 *
 * @param patience milliseconds, as in {@link Campaign}
 */
export async function tryInput(
  target: string,
  input: Uint8Array<ArrayBuffer>,
  patience: number = PATIENCE,
): Promise<FuzzReport> {
  const file = Deno.makeTempFileSync();
  try {
    Deno.writeFileSync(file, input);
    const { findings, told, fate, errors } = await watch(
      [`--target=${target}`, `--input=${file}`],
      patience,
    );
    const what = fate === "silent"
      ? `no answer in ${patience / 1000} s`
      : fate === "died"
      ? `the process ended: ${errors.slice(-2000) || "without a word"}`
      : told!.cpu > MAX_SECONDS
      ? `${told!.cpu.toFixed(2)} s of work for one input`
      : undefined;
    const all = [...findings, ...(what === undefined ? [] : [{ index: 0, what, input }])];
    const { inputs = 1, accepted = 0, codes = {}, peak = 0, cpu = 0 } = told ?? {};
    return { target, inputs, accepted, codes, peak, seconds: cpu, findings: all };
  } finally {
    Deno.removeSync(file);
  }
}

/** Runs inputs of one target; after a hang or a death goes on behind the input that was to blame. */
export async function runCampaign(campaign: Campaign): Promise<FuzzReport> {
  const { target, seed, budget } = campaign;
  const findings: FuzzFinding[] = [];
  const codes: Record<string, number> = {};
  let [accepted, peak, seconds, deaths] = [0, 0, 0, 0];
  let from = 0;
  const start = performance.now();
  for (;;) {
    const left = "inputs" in budget
      ? budget.inputs - from
      : Math.ceil(budget.seconds * 1000 - (performance.now() - start));
    if (left <= 0 || deaths >= (campaign.deaths ?? MAX_DEATHS)) break;
    const { told, last, fate, errors, findings: found } = await watch([
      `--target=${target}`,
      `--seed=${seed}`,
      `--from=${from}`,
      "inputs" in budget ? `--count=${left}` : `--milliseconds=${left}`,
    ], SILENCE);
    findings.push(...found);
    if (told !== undefined) {
      accepted += told.accepted;
      peak = Math.max(peak, told.peak);
      seconds += told.cpu;
      for (const [code, count] of Object.entries(told.codes)) codes[code] = (codes[code] ?? 0) + count;
    }
    if (fate === "done") {
      from += told!.inputs;
      break;
    }
    if (last === undefined) throw new Error(`target ${target} does not start: ${errors}`);
    const input = await inputAt(campaign, last);
    const alone = await tryInput(target, input, campaign.patience);
    const blamed = alone.findings.map(({ what }) => ({ index: last, what, input }));
    if (blamed.length > 0) deaths++;
    else if (fate === "died") {
      deaths++;
      blamed.push({
        index: last,
        what: `the process ended, but not at this input alone: ${errors.slice(-2000)}`,
        input,
      });
    }
    findings.push(...blamed);
    from = last + 1;
  }
  return { target, inputs: from, accepted, codes, peak, seconds, findings };
}

/** Saves the inputs of findings; returns the paths in their order. */
export function saveFindings({ target, findings }: FuzzReport, folder: string): string[] {
  if (findings.length > 0) Deno.mkdirSync(folder, { recursive: true });
  return findings.map(({ input }) => {
    const path = `${folder}/${target}-${sha256Hex(input).slice(0, 12)}.bin`;
    Deno.writeFileSync(path, input);
    return path;
  });
}
