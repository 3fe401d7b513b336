/** A thread of a {@link ReplayPool}. */
import { type Benchmark, generateSplit } from "../lib/benchmark/generate.ts";
import { setStageRuntime } from "../lib/pipeline/execution.ts";
import { toWire } from "../lib/stage/wire_error.ts";
import { type Replayer, replayHere } from "../lib/verify/replayer.ts";
import { openRun } from "../lib/verify/verify_run.ts";
import type { FromReplayer, ToReplayer } from "./_replay_pool.ts";
import { rebuild } from "./_rebuild.ts";
import { subjectOf } from "../lib/pipeline/subject.ts";
import type { Split, WorkflowTask } from "../lib/world/contracts.ts";

const scope = globalThis as unknown as {
  onmessage: ((event: { readonly data: ToReplayer }) => void) | null;
  postMessage(message: FromReplayer): void;
};

/** The smallest step of progress that is worth a message to another thread. */
const STEP = 1 / 64;

type Open = Extract<ToReplayer, { type: "open" }>;

let told: Open | undefined;
let replayer: Replayer | undefined;

function open({ runtime, ...where }: Open): Replayer {
  setStageRuntime(runtime);
  const { run, subject } = openRun({ ...where, subjectOf });
  const { sizes, baseSeed } = subject.benchmark;
  // Each split is generated when a part first asks for it.
  const made: Partial<Record<Split, readonly WorkflowTask[]>> = {};
  const split = (name: Split) => made[name] ??= generateSplit({ split: name, size: sizes[name], baseSeed });
  const benchmark: Benchmark = {
    get train() {
      return split("train");
    },
    get dev() {
      return split("dev");
    },
    get test() {
      return split("test");
    },
  };
  return replayHere(run, subject, { benchmark, runtime, rebuild });
}

scope.onmessage = async ({ data }) => {
  if (data.type === "open") {
    told = data;
    return;
  }
  try {
    replayer ??= open(told!);
    let last = 0;
    const steps = await replayer.replay(data.part, data.index, (fraction) => {
      if (fraction - last < STEP) return;
      last = fraction;
      scope.postMessage({ type: "progress", fraction });
    });
    scope.postMessage({ type: "done", steps });
  } catch (error) {
    scope.postMessage({ type: "failed", error: toWire(error) });
  }
};
