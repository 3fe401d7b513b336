import { fromWire, type WireError } from "../lib/stage/wire_error.ts";
import type { RuntimeName } from "../lib/policy/runtime.ts";
import type { Part, Replayer } from "../lib/verify/replayer.ts";

/** What a replaying thread is told: first which run, then one part after the other. */
export type ToReplayer =
  | {
    readonly type: "open";
    readonly reference: string;
    readonly directory: string;
    readonly runtime: RuntimeName;
  }
  | { readonly type: "replay"; readonly part: Part; readonly index: number };

/** What it answers. */
export type FromReplayer =
  | { readonly type: "progress"; readonly fraction: number }
  | { readonly type: "done"; readonly steps: number }
  | { readonly type: "failed"; readonly error: WireError };

interface Thread {
  readonly worker: Worker;
  answer?: { resolve(steps: number): void; reject(error: unknown): void; progress(fraction: number): void };
}

/**
 * Computes parts of a run again in threads. Each opens the run for itself and believes as little of it; they have the permissions of
 * the calling thread.
 */
export class ReplayPool implements Replayer, Disposable {
  readonly capacity: number;
  readonly #idle: Thread[];
  readonly #threads: readonly Thread[];

  constructor(
    { workers, ...run }: {
      readonly workers: number;
      readonly reference: string;
      readonly directory: string;
      readonly runtime: RuntimeName;
    },
  ) {
    this.capacity = workers;
    this.#threads = Array.from({ length: workers }, () => this.#start({ type: "open", ...run }));
    this.#idle = [...this.#threads];
  }

  replay(part: Part, index: number, progress: (fraction: number) => void): Promise<number> {
    return this.#ask({ type: "replay", part, index }, progress);
  }

  #start(open: ToReplayer): Thread {
    const worker = new Worker(new URL("./_replay_worker.ts", import.meta.url), { type: "module" });
    const thread: Thread = { worker };
    const settle = (how: (answer: NonNullable<Thread["answer"]>) => void) => {
      const { answer } = thread;
      if (answer === undefined) return;
      delete thread.answer;
      this.#idle.push(thread);
      how(answer);
    };
    worker.onmessage = ({ data }: MessageEvent<FromReplayer>) => {
      if (data.type === "progress") thread.answer?.progress(data.fraction);
      else if (data.type === "done") settle(({ resolve }) => resolve(data.steps));
      else settle(({ reject }) => reject(fromWire(data.error)));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      settle(({ reject }) => reject(new Error(`a replaying thread broke down: ${event.message}`)));
    };
    worker.postMessage(open);
    return thread;
  }

  #ask(question: ToReplayer, progress: (fraction: number) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const thread = this.#idle.pop();
      if (thread === undefined) throw new Error("no replaying thread is free");
      thread.answer = { resolve, reject, progress };
      thread.worker.postMessage(question);
    });
  }

  [Symbol.dispose](): void {
    for (const { worker } of this.#threads) worker.terminate();
  }
}
