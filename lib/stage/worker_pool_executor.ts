import type { Outputs } from "../store/action_record.ts";
import { fromWire, type FromWorker, type ToWorker } from "./wire_error.ts";
import type { Executor, StageRequest } from "./executor.ts";
import type { Progress } from "./run_stage.ts";
import { stageError } from "./stage_error.ts";

interface Job {
  readonly request: StageRequest;
  readonly onProgress: (progress: Progress) => void;
  resolve(outputs: Outputs): void;
  reject(error: unknown): void;
}

/** Runs stages in Deno workers, one stage a worker at a time. Workers have the permissions of the process. */
export class WorkerPoolExecutor implements Executor {
  readonly capacity: number;
  readonly #entry: URL;
  readonly #storePath: string;
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();
  #disposed = false;

  /**
   * @param options.entry a module that imports all stages and calls `serveStages`
   * @param options.storePath the folder of the store; the same from the worker's side
   * @param options.workers how many at most; they are started when first needed
   */
  constructor({ entry, storePath, workers }: { entry: URL; storePath: string; workers: number }) {
    if (!Number.isSafeInteger(workers) || workers < 1) {
      throw stageError("worker_failed", { expected: "an integer from 1", actual: workers, field: "workers" });
    }
    this.capacity = workers;
    this.#entry = entry;
    this.#storePath = storePath;
  }

  /**
   * @throws what the stage throws, with its code and details; TracewrightError "worker_failed" where the worker
   * itself broke down, or more than `capacity` requests are under way
   */
  run(request: StageRequest, onProgress: (progress: Progress) => void): Promise<Outputs> {
    return new Promise<Outputs>((resolve, reject) => {
      if (this.#disposed) {
        throw stageError("worker_failed", { message: "the pool is closed", node: request.node });
      }
      if (this.#busy.size >= this.capacity) {
        throw stageError("worker_failed", {
          message: "no worker is free",
          node: request.node,
          expected: this.capacity,
        });
      }
      const worker = this.#idle.pop() ?? this.#start();
      this.#busy.set(worker, { request, onProgress, resolve, reject });
      worker.postMessage({ store: this.#storePath, request } satisfies ToWorker);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#drop(worker, event.message);
    };
    worker.onmessageerror = () => this.#drop(worker, "a message could not be read");
    return worker;
  }

  #receive(worker: Worker, message: FromWorker): void {
    const job = this.#busy.get(worker);
    if (job === undefined) return;
    if (message.type === "progress") {
      const { type: _type, ...progress } = message;
      job.onProgress(progress);
      return;
    }
    this.#busy.delete(worker);
    this.#idle.push(worker);
    if (message.type === "done") job.resolve(message.outputs);
    else job.reject(fromWire(message.error));
  }

  /** A worker that broke down is not used again; another one is started for the next request. */
  #drop(worker: Worker, message: string): void {
    const job = this.#busy.get(worker);
    this.#busy.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
    worker.terminate();
    job?.reject(stageError("worker_failed", { message, node: job.request.node, stage: job.request.stage }));
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const worker of this.#busy.keys()) this.#drop(worker, "the pool was closed");
    for (const worker of this.#idle.splice(0)) worker.terminate();
  }
}
