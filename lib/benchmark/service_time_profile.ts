/**
 * Simulated service times come from real ones: quantiles of function durations in a public trace, weighted by how often
 * each function ran. Source: protocol/evaluation-and-evidence.md section 13; the data: Shahrad et al., Serverless in the
 * Wild, USENIX ATC 2020.
 */
import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { type JsonDifference, jsonDifferences } from "../core/json_difference.ts";
import {
  MUTATING_TIERS_MS,
  READ_ONLY_MS,
  REJECTED_MS,
  REPLAY_MS,
  secondsOf,
  SERVICE_TIME_SOURCE,
} from "../world/service_time.ts";
import type { BenchmarkCode } from "./_error.ts";

/** Schema of a derived profile. */
export const SERVICE_TIME_SCHEMA = "tracewright.service-time-profile.v1";

/** The quantiles of a profile, in thousandths. */
export const PROFILE_QUANTILES: readonly number[] = [500, 750, 800, 850, 875, 900, 925, 950, 975];

/** Which rows count, in words. */
export const PROFILE_FILTER = "Average is a finite number of at least 0 and Count a positive whole number";

/** A derived profile. Durations are in seconds and exclude cold start and network, as the data set says of itself. */
export interface ServiceTimeProfile {
  readonly schema: typeof SERVICE_TIME_SCHEMA;
  /** Of the archive that was read, where its digest was asked for; a folder has none. */
  readonly archive_sha256: Digest | null;
  readonly filter: string;
  readonly weight: "Count";
  readonly unit: "s";
  /** Rows that count. */
  readonly rows: number;
  readonly rows_left_out: number;
  readonly invocations: number;
  /** Seconds by quantile, e.g. `"0.875"`. */
  readonly quantiles: Readonly<Record<string, number>>;
}

function refuse(code: BenchmarkCode, details: Readonly<Record<string, unknown>>): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, details);
}

/**
 * Durations with weights. It keeps one count per distinct duration, so memory does not grow with the number of rows as
 * long as durations repeat, as whole milliseconds do.
 */
export class WeightedDurations {
  readonly #weights = new Map<number, number>();
  #rows = 0;
  #total = 0;

  /** How often {@link add} was called. */
  get rows(): number {
    return this.#rows;
  }

  /** Sum of all weights. */
  get total(): number {
    return this.#total;
  }

  /**
   * Counts a duration.
   *
   * @param duration finite, at least 0; any unit
   * @param weight a positive whole number
   * @throws TracewrightError "bad_duration" otherwise; "too_many_invocations" where the sum is no longer exact
   */
  add({ duration, weight }: { readonly duration: number; readonly weight: number }): void {
    if (!(Number.isFinite(duration) && duration >= 0 && Number.isSafeInteger(weight) && weight > 0)) {
      refuse("bad_duration", { expected: PROFILE_FILTER, actual: [duration, weight] });
    }
    // The comparison with a quantile multiplies by a thousand, and must be exact too.
    if (!Number.isSafeInteger(1000 * (this.#total + weight))) {
      refuse("too_many_invocations", { expected: "a sum below 2^53 / 1000", actual: this.#total + weight });
    }
    const key = duration + 0;
    this.#weights.set(key, (this.#weights.get(key) ?? 0) + weight);
    this.#total += weight;
    this.#rows++;
  }

  /**
   * Nearest-rank quantiles: for each the smallest duration whose cumulative weight is at least that share of the total.
   *
   * @param thousandths each a whole number from 1 to 1000
   * @returns durations in the order asked for
   * @throws TracewrightError "bad_quantile", or "no_durations" where nothing was counted
   */
  quantiles(thousandths: readonly number[]): number[] {
    for (const q of thousandths) {
      if (!Number.isInteger(q) || q < 1 || q > 1000) {
        refuse("bad_quantile", { expected: "thousandths from 1 to 1000", actual: q });
      }
    }
    if (this.#total === 0) refuse("no_durations", { expected: "at least one row that counts", actual: 0 });
    const durations = Float64Array.from(this.#weights.keys()).sort();
    const cumulative = new Float64Array(durations.length);
    let sum = 0;
    durations.forEach((duration, i) => cumulative[i] = sum += this.#weights.get(duration)!);
    return thousandths.map((q) => {
      const at = cumulative.findIndex((weight) => 1000 * weight >= q * this.#total);
      return durations[at]!;
    });
  }
}

/**
 * The profile of counted durations.
 *
 * @param durations in milliseconds
 * @throws TracewrightError "no_durations"
 */
export function serviceTimeProfile(
  durations: WeightedDurations,
  { archive, rowsLeftOut }: { readonly archive: Digest | null; readonly rowsLeftOut: number },
): ServiceTimeProfile {
  const values = durations.quantiles(PROFILE_QUANTILES);
  return {
    schema: SERVICE_TIME_SCHEMA,
    archive_sha256: archive,
    filter: PROFILE_FILTER,
    weight: "Count",
    unit: "s",
    rows: durations.rows,
    rows_left_out: rowsLeftOut,
    invocations: durations.total,
    quantiles: Object.fromEntries(
      PROFILE_QUANTILES.map((q, i) => [String(q / 1000), secondsOf(values[i]!)]),
    ),
  };
}

/**
 * Where a profile differs from the one that the world's service times were frozen from. The 97.5th percentile is derived but
 * not part of the frozen ones.
 */
export function frozenDifferences(profile: ServiceTimeProfile): JsonDifference[] {
  const tiersMs = [REPLAY_MS, REJECTED_MS, READ_ONLY_MS, ...MUTATING_TIERS_MS];
  const frozen = {
    rows: SERVICE_TIME_SOURCE.rows,
    invocations: SERVICE_TIME_SOURCE.invocations,
    quantiles: Object.fromEntries(
      tiersMs.map((ms, i) => [String(PROFILE_QUANTILES[i]! / 1000), secondsOf(ms)]),
    ),
  };
  const { rows, invocations, quantiles } = profile;
  const shared = Object.fromEntries(Object.keys(frozen.quantiles).map((q) => [q, quantiles[q] ?? null]));
  return jsonDifferences(frozen, { rows, invocations, quantiles: shared } satisfies Json);
}
