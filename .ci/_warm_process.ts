/** How a process ended. */
export interface Ended {
  readonly signal: string | null;
  readonly code: number;
  /** The last line it printed. */
  readonly said: string;
  readonly stderr: string;
}

/** A process that has started, and waits for the line that tells it what to do: a round then costs no start-up. */
export class WarmProcess {
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #ready: Promise<void>;

  /** @param args of deno; the program prints a line when it is ready, and reads one */
  constructor(args: readonly string[]) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const ready = Promise.withResolvers<void>();
    this.#ready = ready.promise;
    this.#ended = this.#follow(ready.resolve);
  }

  async #follow(ready: () => void): Promise<Ended> {
    const stderr = new Response(this.#child.stderr).text();
    let out = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      out += text;
      if (out.includes("\n")) ready();
    }
    ready();
    const { signal, code } = await this.#child.status;
    return { signal, code, said: out.trimEnd().split("\n").at(-1) ?? "", stderr: await stderr };
  }

  /** Returns once it waits for its line. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Tells it what to do, once it is ready. */
  async start(job: unknown): Promise<void> {
    await this.#ready;
    const writer = this.#child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(job) + "\n"));
    await writer.close().catch(() => {}); // where it has killed itself already
  }

  /** Kills it, unless it has ended. */
  kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it ended between the clock and the signal
    }
  }

  /** How it ended, once it has. */
  ended(): Promise<Ended> {
    return this.#ended;
  }
}
