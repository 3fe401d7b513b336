/** What the tests of commands stand on: a folder, a tiny config, graphs of its widths, and a way to run a command here. */
import { KernelArena } from "../lib/learn/arena.ts";
import { ActorCritic } from "../lib/learn/actor_critic.ts";
import { ProgressEstimator } from "../lib/learn/estimator.ts";
import { exportActorCritic, exportEstimator } from "../lib/learn/export_policy.ts";
import { RandomStream } from "../lib/core/random_stream.ts";
import { type CommandSpec, execute, type RunnableCommand } from "./_command.ts";

/** What a command did. */
export interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process as its file would. */
export async function run(runnable: RunnableCommand, ...args: readonly string[]): Promise<Ended> {
  let [out, err] = ["", ""];
  const terminal = {
    out: (piece: string) => void (out += piece),
    err: (piece: string) => void (err += piece),
    interactive: false,
    columns: 80,
  };
  const { spec } = runnable;
  const program = { call: spec.name, commands: [{ spec, load: () => Promise.resolve(runnable) }] };
  return { exit: await execute(program, args, terminal), out, err };
}

/** The permissions that a spec documents, for `Deno.test`, with a folder of the test in place of `artifacts`. */
export function documented({ permissions }: CommandSpec, folder: string): Deno.PermissionOptionsObject {
  const given = new Map(permissions.map((flag) => {
    const [, name = "", value] = /^--allow-([a-z]+)(?:=(.*))?$/.exec(flag) ?? [];
    return [name, value?.split(",").map((part) => part === "artifacts" ? folder : part) ?? true];
  }));
  return {
    read: given.get("read") ?? false,
    write: given.get("write") ?? false,
    ffi: given.get("ffi") ?? false,
    env: given.get("env") as string[] | undefined ?? false,
    net: false,
    run: false,
    sys: false,
    import: false,
  };
}

/** Files in a folder by name, with their content; empty where there is no folder. */
export function contentOf(folder: string): Record<string, string> {
  try {
    return Object.fromEntries(
      [...Deno.readDirSync(folder)].map(({ name }) => [name, Deno.readTextFileSync(`${folder}/${name}`)]),
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** A folder for the tests of one file. */
export class TestBed {
  readonly folder = Deno.makeTempDirSync({ prefix: "tracewright-" });
  readonly store = `${this.folder}/store`;
  readonly runs = `${this.folder}/runs`;

  constructor() {
    Deno.test.afterAll(() => Deno.removeSync(this.folder, { recursive: true }));
  }

  /** Writes a config: the smoke one with ten tasks a split, and with further texts replaced. */
  config(name: string, ...replace: readonly (readonly [string | RegExp, string])[]): string {
    const path = `${this.folder}/${name}.yaml`;
    const smoke = Deno.readTextFileSync(new URL("../configs/smoke.yaml", import.meta.url));
    const tiny = [
      [/_tasks: \d+/g, "_tasks: 10"],
      [/bootstrap_samples: \d+/, "bootstrap_samples: 20"],
      ...replace,
    ] as const;
    Deno.writeTextFileSync(path, tiny.reduce((text, [from, to]) => text.replace(from, to), smoke));
    return path;
  }

  /** Writes the exact graph of an untrained policy of the smoke config's widths. */
  policy(name: string, seed: number, hidden = 48): string {
    using arena = new KernelArena();
    const network = new ActorCritic(arena, { stateWidth: 64, actionWidth: 64, hidden });
    network.initialise(new RandomStream(seed, "test"));
    return this.#write(name, exportActorCritic(network).bytes());
  }

  /** Writes the exact graph of an untrained estimator. */
  estimator(name: string, seed: number): string {
    using arena = new KernelArena();
    const estimator = new ProgressEstimator(arena, 64);
    estimator.initialise(new RandomStream(seed, "test"));
    return this.#write(name, exportEstimator(estimator).bytes());
  }

  #write(name: string, bytes: Uint8Array): string {
    const path = `${this.folder}/${name}.onnx`;
    Deno.writeFileSync(path, bytes);
    return path;
  }
}
