import type { Benchmark } from "../benchmark/generate.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import type { Run } from "../store/read_run.ts";
import { checkCalibration } from "./recompute_run.ts";
import { checkDerived } from "./rebuild_run.ts";
import { environmentOf, policyOf } from "./replay_run.ts";
import type { Rebuild, VerifySubject } from "./verify_subject.ts";

/** What of a run is computed again part by part: evaluations twice, calibrations, and stages that follow from them. */
export type Part = "environment" | "policy" | "calibration" | "derived";

/** Computes one part at a time, by its position in the subject. */
export interface Replayer {
  /** How many parts may be under way at once. */
  readonly capacity: number;
  /** @returns how many steps it took; 0 where a part has none */
  replay(part: Part, index: number, progress: (fraction: number) => void): Promise<number>;
}

/** Computes parts in the calling thread. */
export function replayHere(
  run: Run,
  subject: VerifySubject,
  { benchmark, runtime, rebuild }: {
    readonly benchmark: Benchmark;
    readonly runtime: RuntimeName;
    readonly rebuild: Rebuild;
  },
): Replayer {
  return {
    capacity: 1,
    async replay(part, index, progress) {
      switch (part) {
        case "environment":
          return environmentOf(run, subject.evaluations[index]!, {
            tasks: benchmark.test,
            runtime,
            progress,
          });
        case "policy":
          return await policyOf(run, subject.evaluations[index]!, {
            tasks: benchmark.test,
            runtime,
            progress,
          });
        case "calibration":
          await checkCalibration(run, subject, { index, benchmark, runtime });
          return 0;
        case "derived":
          await checkDerived(run, subject, { index, rebuild });
          return 0;
      }
    },
  };
}

/**
 * Computes parts again, as many at once as there is room for. Of several that fail, the first in order is reported.
 *
 * @returns how many steps they took in all
 */
export async function replayAll(
  replayer: Replayer,
  parts: readonly { readonly part: Part; readonly index: number }[],
  progress: (fraction: number) => void = () => {},
): Promise<number> {
  const shares = new Float64Array(parts.length);
  const failures: { readonly at: number; readonly error: unknown }[] = [];
  let next = 0;
  let steps = 0;
  const lane = async () => {
    while (next < parts.length && failures.length === 0) {
      const at = next++;
      const { part, index } = parts[at]!;
      try {
        const own = await replayer.replay(part, index, (fraction) => {
          shares[at] = fraction;
          progress(Math.min(1, shares.reduce((sum, share) => sum + share, 0) / parts.length));
        });
        steps += own; // not in one expression: the sum would be read before the wait
      } catch (error) {
        failures.push({ at, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(replayer.capacity, parts.length) }, lane));
  const first = failures.sort((a, b) => a.at - b.at)[0];
  if (first !== undefined) throw first.error;
  return steps;
}

/** All parts of one kind. */
export function partsOf(
  part: Part,
  items: readonly unknown[],
): { readonly part: Part; readonly index: number }[] {
  return items.map((_, index) => ({ part, index }));
}
