import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import {
  millisecondsOf,
  MUTATING_TIERS_MS,
  READ_ONLY_MS,
  REJECTED_MS,
  REPLAY_MS,
  secondsOf,
  SERVICE_TIME_SOURCE,
} from "./service_time.ts";

Deno.test("service times are the frozen quantiles of the Azure trace", () => {
  assert.deepEqual(MUTATING_TIERS_MS.map(secondsOf), [1.592, 1.633, 1.658, 1.686, 1.734]);
  assert.deepEqual([READ_ONLY_MS, REPLAY_MS, REJECTED_MS].map(secondsOf), [0.902, 0.14, 0.334]);
  assert.equal(
    SERVICE_TIME_SOURCE.archive_sha256,
    "sha256:aff8b3ca7240a41a109e4ee598e0a96e45fcb92e7b8395ac19cb3748cd260d89",
  );
  assert.deepEqual([SERVICE_TIME_SOURCE.rows, SERVICE_TIME_SOURCE.invocations], [662922, 12481740344]);
});

Deno.test("millisecondsOf() undoes secondsOf() for every whole millisecond up to ten minutes", () => {
  for (let ms = 0; ms <= 600_000; ms++) if (millisecondsOf(secondsOf(ms)) !== ms) assert.fail(`${ms}`);
});

Deno.test("millisecondsOf() refuses what is not whole milliseconds", () => {
  for (const seconds of [-0.001, 0.0005, NaN, Infinity, 1e300]) {
    assert.throws(() => millisecondsOf(seconds), (error) => hasCode(error, "bad_service_time"));
  }
});
