import assert from "node:assert/strict";
import { digestOf } from "../lib/core/digest.ts";
import type { ActionKey } from "../lib/store/action_record.ts";
import { ProgressDisplay } from "./_progress.ts";

const KEY = digestOf("any key") as string as ActionKey;

function display(kind: "terminal" | "plain", columns = 80) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const progress = new ProgressDisplay(
    { out: () => {}, err: (text) => written.push(text), interactive: kind === "terminal", columns },
    () => clock.ms,
  );
  return { written, clock, progress };
}

Deno.test("ProgressDisplay prints one plain line a finished stage where there is no terminal", () => {
  const { written, clock, progress } = display("plain");
  progress.report({
    type: "planned",
    nodes: [{ id: "benchmark", stage: "benchmark" }, { id: "bc/17", stage: "bc" }],
  });
  progress.report({ type: "cached", node: "benchmark", key: KEY, outputs: {} });
  progress.report({ type: "started", node: "bc/17", key: KEY, reason: "no_earlier_action" });
  progress.report({ type: "progress", node: "bc/17", fraction: 0.5 });
  clock.ms = 1_260;
  progress.report({ type: "finished", node: "bc/17", key: KEY, outputs: {} });
  assert.deepEqual(written, ["benchmark  cached\n", "bc/17  1.3 s\n"]);
  assert.equal(progress.summary, "2 stages, 1 cached");
});

Deno.test("ProgressDisplay draws one live line on a terminal, below lines that stay, and removes it at the end", () => {
  const { written, clock, progress } = display("terminal");
  progress.report({
    type: "planned",
    nodes: [{ id: "benchmark", stage: "benchmark" }, { id: "bc/17", stage: "bc" }],
  });
  progress.report({ type: "started", node: "bc/17", key: KEY, reason: "no_earlier_action" });
  assert.equal(written.at(-1), `\r\x1b[K[${".".repeat(16)}] 0/2 stages  bc/17 0%`);
  for (const [ms, count] of [[500, 5], [1_000, 10]] as const) {
    clock.ms = ms;
    progress.report({
      type: "progress",
      node: "bc/17",
      fraction: count / 20,
      counted: { unit: "epochs", count, total: 20 },
    });
  }
  assert.equal(
    written.at(-1),
    `\r\x1b[K[${"#".repeat(4)}${".".repeat(12)}] 0/2 stages  over 1 s left  bc/17 50% 10/20 10.0 epochs/s`,
  );
  progress.report({ type: "progress", node: "bc/17", fraction: 0.9 });
  assert.match(written.at(-1) ?? "", / 50% /); // drawn a moment ago
  clock.ms = 1_200;
  progress.tick();
  assert.match(written.at(-1) ?? "", / 90%$/);
  progress.report({ type: "finished", node: "bc/17", key: KEY, outputs: {} });
  progress.report({ type: "started", node: "report", key: KEY, reason: "no_earlier_action" });
  assert.deepEqual(written.slice(-3, -1), ["\r\x1b[K", "bc/17  1.2 s\n"]);
  progress.close();
  progress.close();
  assert.equal(written.filter((text) => text === "\r\x1b[K").length, 2);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(written.join(""), /\x1b\[[\d;]*m/); // no colours
});

Deno.test("ProgressDisplay shows of what a stage cannot count in advance only the rate", () => {
  const { written, clock, progress } = display("terminal");
  progress.report({ type: "started", node: "evaluate/b/17", key: KEY, reason: "no_earlier_action" });
  for (const [ms, count] of [[1_000, 250], [2_000, 500]] as const) {
    clock.ms = ms;
    const counted = { unit: "episodes", count };
    progress.report({ type: "progress", node: "evaluate/b/17", fraction: count / 2_000, counted });
  }
  assert.match(written.at(-1) ?? "", /0\/1 stages {2}6 s left {2}evaluate\/b\/17 25% 250 episodes\/s$/);
});

Deno.test("ProgressDisplay shows how many cases a verification has replayed, how fast, and the time left", () => {
  const { written, clock, progress } = display("terminal", 200);
  progress.report({ type: "cached", node: "report", key: KEY, outputs: {} });
  const verified = progress.verification("standard");
  for (const step of ["structure", "completeness", "keys", "regenerate"] as const) {
    verified({ type: "started", step });
    clock.ms += 100;
    verified({ type: "passed", step, checked: "all" });
  }
  verified({ type: "started", step: "environment" });
  for (const count of [1_500, 7_500]) {
    clock.ms += count === 1_500 ? 1_000 : 4_000;
    const counted = { unit: "cases", count, total: 30_000 };
    verified({ type: "progress", step: "environment", fraction: count / 30_000, counted });
  }
  assert.match(
    written.at(-1) ?? "",
    /4\/8 checks {2}over 15 s left {2}verify environment 25% 7500\/30000 1500 cases\/s$/,
  );
  clock.ms += 10_000;
  verified({ type: "passed", step: "environment", checked: "all" });
  assert.ok(written.includes("verify environment  15.0 s\n"));
  assert.equal(progress.summary, "1 stages, 1 cached"); // checks are no stages
});

Deno.test("ProgressDisplay prints one plain line a check where there is no terminal", () => {
  const { written, clock, progress } = display("plain");
  const verified = progress.verification("rebuild");
  verified({ type: "started", step: "training" });
  verified({ type: "progress", step: "training", fraction: 0.5 });
  clock.ms = 2_000;
  progress.tick();
  verified({ type: "passed", step: "training", checked: "all" });
  assert.deepEqual(written, ["verify training  2.0 s\n"]);
});

Deno.test("ProgressDisplay never draws a line wider than the terminal", () => {
  const { written, progress } = display("terminal", 20);
  progress.report({ type: "started", node: "evaluate/E/17", key: KEY, reason: "no_earlier_action" });
  assert.equal(written.at(-1)?.replace("\r\x1b[K", "").length, 19);
});
