/** A thread of a {@link ReplayPool}. */
import { generateSplit } from "../lib/benchmark/generate.ts";
import { toWire } from "../lib/stage/wire_error.ts";
import { type Replayer, replayHere } from "../lib/verify/replay_run.ts";
import { openRun } from "../lib/verify/verify_run.ts";
import type { FromReplayer, ToReplayer } from "./_replay_pool.ts";
import { subjectOf } from "./subject.ts";

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
  const { run, subject } = openRun({ ...where, subjectOf });
  const { sizes, baseSeed } = subject.benchmark;
  const tasks = generateSplit({ split: "test", size: sizes.test, baseSeed });
  return replayHere(run, subject, { tasks, runtime });
}

scope.onmessage = async ({ data }) => {
  if (data.type === "open") {
    told = data;
    return;
  }
  try {
    replayer ??= open(told!);
    let last = 0;
    const steps = await replayer[data.type](data.evaluation, (fraction) => {
      if (fraction - last < STEP) return;
      last = fraction;
      scope.postMessage({ type: "progress", fraction });
    });
    scope.postMessage({ type: "done", steps });
  } catch (error) {
    scope.postMessage({ type: "failed", error: toWire(error) });
  }
};
