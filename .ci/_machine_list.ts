import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { canonicalJson } from "../lib/core/canonical_json.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import type { RuntimeName } from "../lib/policy/runtime.ts";
import { arm64Deno, emulatorVersion, x64Emulator, x64Level } from "./_emulators.ts";
import { type CommandWords, machineResult, outputOf } from "./_machine_program.ts";
import type { Machine, MachineResult } from "./_machine_row.ts";
import { nodeBundle } from "./_node_bundle.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** How an experiment is run on a machine that stands in more than one row. */
interface Way {
  readonly size: Machine["size"];
  readonly runtime: RuntimeName;
  readonly workers: number;
}

const NATIVE: Way = { size: "smoke", runtime: "native", workers: 1 };
const WASM: Way = { size: "smoke", runtime: "wasm", workers: 1 };
/** For what an emulator takes too long to do at full size: with AVX, qemu 7.2 takes several times longer still to train. */
const SMALL: Pick<Way, "size"> = { size: "small" };
const WAYS: readonly Way[] = [NATIVE, { ...NATIVE, workers: 2 }, WASM, { ...WASM, workers: 2 }];

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "x86-64", aarch64: "arm64" };
const SYSTEMS: Readonly<Record<string, string>> = { linux: "Linux", darwin: "macOS", windows: "Windows" };

async function written(folder: string, config: ExperimentConfig): Promise<string> {
  const path = `${folder}/config.json`;
  await Deno.writeTextFile(path, canonicalJson(config));
  return path;
}

/** A Deno that is started by some words, and what it must be told. */
interface OneDeno {
  readonly words: CommandWords;
  readonly flags: readonly string[];
}

/** An emulated Deno takes the packages as they are; what belongs to one processor neither comes from the host nor stays. */
const EMULATED = ["--no-code-cache", "--node-modules-dir=manual", "--cached-only", "--no-remote"];

/** Runs an experiment in a folder of its own. */
async function runInDeno(
  { words, flags }: OneDeno,
  { runtime, workers, config }: Omit<Way, "size"> & { readonly config: ExperimentConfig },
): Promise<MachineResult> {
  const folder = await Deno.makeTempDir();
  try {
    await written(folder, config);
    return machineResult(
      await outputOf([
        ...words,
        "run",
        "--frozen",
        "--no-prompt",
        ...flags,
        "--allow-read",
        `--allow-write=${folder}`,
        "--allow-ffi",
        ".ci/_machine_process.ts",
        folder,
        runtime,
        `${workers}`,
      ], ROOT),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A value that is made when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

/** This host as it is: in Deno both runtimes, each with one worker and with two, and in Node. */
export async function hostMachines(): Promise<Machine[]> {
  const name = `${ARCHITECTURES[Deno.build.arch] ?? Deno.build.arch}, ${
    SYSTEMS[Deno.build.os] ?? Deno.build.os
  }`;
  const level = Deno.build.os === "linux" && Deno.build.arch === "x86_64" ? await x64Level() : undefined;
  const cpu = [cpus()[0]?.model ?? "unknown", level].filter((part) => part !== undefined).join(", ");
  return [
    ...WAYS.map((way): Machine => ({
      machine: name,
      cpu,
      ...way,
      run: (config) => runInDeno({ words: [Deno.execPath()], flags: [] }, { ...way, config }),
    })),
    {
      machine: `${name}, a second V8`,
      cpu,
      size: "smoke",
      runtime: "reference",
      workers: 1,
      run: async (config) => {
        const folder = await Deno.makeTempDir();
        try {
          const node = await nodeBundle(folder);
          return machineResult(await outputOf([...node, await written(folder, config)], folder));
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      },
    },
  ];
}

/**
 * Processors that this host is not, imitated.
 *
 * @param folder takes a Deno for arm64, where one is asked to run
 */
export async function emulatedMachines(folder: string): Promise<Machine[]> {
  const emulator = await emulatorVersion();
  const arm64 = once(() => arm64Deno(folder));
  const x64 = (
    machine: string,
    cpu: { readonly model: string; readonly level: string },
    way: Way,
  ): Machine => ({
    machine,
    cpu: `${cpu.model}, ${cpu.level}, emulated by ${emulator}`,
    ...way,
    run: async (config) => runInDeno({ words: await x64Emulator(cpu), flags: EMULATED }, { ...way, config }),
  });
  const arm = (model: string, way: Way): Machine => ({
    machine: "arm64, Linux",
    cpu: `${model}, emulated by ${emulator}`,
    ...way,
    run: async (config) => {
      const [qemu, ...words] = await arm64();
      return await runInDeno({ words: [qemu, "-cpu", model, ...words], flags: EMULATED }, { ...way, config });
    },
  });
  const nehalem = { model: "Nehalem", level: "x86-64-v2" };
  const haswell = { model: "Haswell", level: "x86-64-v3" };
  const [without, with2] = ["x86-64 without AVX, Linux", "x86-64 with AVX2, without AVX-512, Linux"];
  return [
    x64(without, nehalem, NATIVE),
    x64(without, nehalem, { ...WASM, ...SMALL, workers: 2 }),
    x64(with2, haswell, { ...NATIVE, ...SMALL }),
    x64(with2, haswell, { ...WASM, ...SMALL, workers: 2 }),
    arm("cortex-a72", NATIVE),
    arm("cortex-a72", { ...WASM, ...SMALL, workers: 2 }),
    arm("max", { ...NATIVE, ...SMALL }),
  ];
}
