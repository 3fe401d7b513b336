import { learnError } from "./_error.ts";

/** Consecutive records of one or more trajectories. */
export interface GaeInput {
  /** r_t, shape [T]; floating, because integer storage would cut off fractions. */
  readonly rewards: Float32Array | Float64Array;
  /** V(s_t), shape [T]. */
  readonly values: Float32Array | Float64Array;
  /** 1 where the episode ended with this record, shape [T]. */
  readonly dones: Uint8Array;
  /** Which trajectory a record belongs to, shape [T]; records of one lie side by side. */
  readonly trajectories: readonly (string | number)[];
  /**
   * V(s_T), shape [T]: read only at a trajectory's last record, and only if it is not done. Left out: 0.
   */
  readonly bootstraps?: Float32Array | Float64Array;
  readonly gamma: number;
  readonly lambda: number;
}

/** Shape [T] each. */
export interface GaeOutput {
  readonly advantages: Float32Array;
  /** advantage + value */
  readonly returns: Float32Array;
}

/**
 * Generalised advantage estimation (Schulman et al. 2016, eqs. 11 and 16), from the last record back:
 *
 *     delta_t = r_t + gamma V(s_t+1) - V(s_t)
 *     A_t = delta_t + gamma lambda A_t+1        return_t = A_t + V(s_t)
 *
 * V(s_t+1) is the next record's value inside the same trajectory, 0 where the episode ended, else the bootstrap; the sum
 * is cut wherever the trajectory changes, ended or not. Double precision, rounded once to float32.
 *
 * @throws TracewrightError "not_floating" for integer rewards, "bad_batch" for shapes that differ, "bad_option" for gamma
 * or lambda outside [0, 1], "non_finite" where a result is not finite
 */
export function gae(input: GaeInput): GaeOutput {
  const { rewards, values, dones, trajectories, bootstraps, gamma, lambda } = input;
  for (const [name, column] of Object.entries({ rewards, values, ...bootstraps && { bootstraps } })) {
    if (!(column instanceof Float32Array || column instanceof Float64Array)) {
      throw learnError("not_floating", { column: name, expected: "Float32Array or Float64Array" });
    }
  }
  for (const [option, actual] of Object.entries({ gamma, lambda })) {
    if (!(actual >= 0 && actual <= 1)) throw learnError("bad_option", { option, expected: "0 to 1", actual });
  }
  const T = rewards.length;
  const lengths = [values.length, dones.length, trajectories.length, bootstraps?.length ?? T];
  if (lengths.some((length) => length !== T)) {
    throw learnError("bad_batch", { expected: `columns of ${T} records`, actual: lengths });
  }
  const advantages = new Float32Array(T);
  const returns = new Float32Array(T);
  let advantage = 0;
  for (let t = T - 1; t >= 0; t--) {
    const goesOn = t + 1 < T && trajectories[t + 1] === trajectories[t] && dones[t] === 0;
    const next = dones[t] !== 0 ? 0 : goesOn ? values[t + 1]! : bootstraps?.[t] ?? 0;
    const delta = rewards[t]! + gamma * next - values[t]!;
    advantage = delta + (goesOn ? gamma * lambda * advantage : 0);
    advantages[t] = advantage;
    returns[t] = advantage + values[t]!;
    if (!Number.isFinite(advantages[t]!) || !Number.isFinite(returns[t]!)) {
      throw learnError("non_finite", { message: "an advantage is not finite", record: t, actual: advantage });
    }
  }
  return { advantages, returns };
}
