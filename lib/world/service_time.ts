/**
 * Simulated service times. Inside the program they are whole milliseconds, so that sums are exact; records hold seconds,
 * always `ms / 1000`. Source: protocol/environment.md section 4.3, evaluation-and-evidence.md section 13.
 */
import { TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";

/** Where the tiers come from: quantiles of function durations, weighted by invocations (Shahrad et al., ATC 2020). */
export const SERVICE_TIME_SOURCE = Object.freeze(
  {
    profile: "azure-functions-2019-invocation-weighted-v1",
    archive_sha256: "sha256:aff8b3ca7240a41a109e4ee598e0a96e45fcb92e7b8395ac19cb3748cd260d89",
    rows: 662_922,
    invocations: 12_481_740_344,
    license: "CC-BY-4.0",
  } as const,
);

/** First valid commit of a mutating operation: the 85th to 95th percentile. One is drawn per node at generation. */
export const MUTATING_TIERS_MS: readonly number[] = Object.freeze([1592, 1633, 1658, 1686, 1734]);
/** A read-only query: the 80th percentile. */
export const READ_ONLY_MS = 902;
/** An idempotent replay: the median. */
export const REPLAY_MS = 140;
/** A rejected call: the 75th percentile. */
export const REJECTED_MS = 334;

/** Whole milliseconds as the seconds a record holds. */
export function secondsOf(ms: number): number {
  return ms / 1000;
}

/**
 * Seconds of a record as whole milliseconds.
 *
 * @throws TracewrightError "bad_service_time" unless the value is non-negative and exactly a whole number of
 * milliseconds divided by 1000
 */
export function millisecondsOf(seconds: number): number {
  const ms = Math.floor(seconds * 1000 + 0.5);
  if (!(Number.isSafeInteger(ms) && ms >= 0 && ms / 1000 === seconds)) {
    throw new TracewrightError<"world", WorldCode>("bad_service_time", {
      expected: "whole milliseconds divided by 1000",
      actual: seconds,
    });
  }
  return ms;
}
