import type { Job, Reply } from "./_mutant_runner.ts";

/** Far above what any attack takes; whatever needs longer does not end. */
const PATIENCE_MS = 120_000;

/** A runner in a folder of rewritten sources; started again where a mutant has broken it or does not end. */
export class MutantProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #patienceMs: number;
  #child: Deno.ChildProcess | undefined;
  #lines: AsyncGenerator<string> | undefined;
  /** What may be asked about: an honest run, then every attack. */
  attacks: readonly string[] = [];

  /** @param patienceMs after which a job that has not ended is given up */
  constructor(folder: string, { patienceMs = PATIENCE_MS } = {}) {
    this.#folder = folder;
    this.#patienceMs = patienceMs;
  }

  async #start(): Promise<void> {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--frozen", "--no-prompt", "-A", ".ci/_mutant_runner.ts"],
      cwd: this.#folder,
      env: { DENO_NO_UPDATE_CHECK: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#lines = linesOf(this.#child.stdout);
    this.attacks = JSON.parse((await this.#lines.next()).value as string) as string[];
  }

  /** Starts the runner, so that {@link attacks} is known. */
  async open(): Promise<this> {
    await this.#start();
    return this;
  }

  /** Carries out one job. */
  async ask(job: Job): Promise<Reply> {
    if (this.#child === undefined) await this.#start();
    const writer = this.#child!.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(job) + "\n"));
    writer.releaseLock();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<"late">((resolve) =>
      timer = setTimeout(() => resolve("late"), this.#patienceMs)
    );
    const line = await Promise.race([this.#lines!.next(), late]);
    clearTimeout(timer);
    if (line !== "late" && !line.done) return JSON.parse(line.value) as Reply;
    await this.#stop();
    return {
      outcome: "crashed",
      answer: line === "late" ? "it does not end" : "the process ends",
      fired: [],
    };
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    try {
      child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended by itself
    }
    await child.status;
    await child.stdout.cancel().catch(() => {}); // the reader may hold it
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
