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

Deno.test("ProgressDisplay draws a bar on a terminal, below lines that stay, and removes it at the end", () => {
  const { written, clock, progress } = display("terminal");
  progress.report({
    type: "planned",
    nodes: [{ id: "benchmark", stage: "benchmark" }, { id: "bc/17", stage: "bc" }],
  });
  progress.report({ type: "started", node: "bc/17", key: KEY, reason: "no_earlier_action" });
  assert.equal(written.at(-1), `\r\x1b[K[${".".repeat(24)}] 0/2  bc/17 0%`);
  clock.ms = 100;
  progress.report({ type: "progress", node: "bc/17", fraction: 0.5 });
  assert.equal(written.at(-1), `\r\x1b[K[${"#".repeat(6)}${".".repeat(18)}] 0/2  bc/17 50%`);
  progress.report({ type: "progress", node: "bc/17", fraction: 0.9 });
  assert.match(written.at(-1) ?? "", /50%$/); // drawn a moment ago
  progress.report({ type: "finished", node: "bc/17", key: KEY, outputs: {} });
  progress.report({ type: "started", node: "report", key: KEY, reason: "no_earlier_action" });
  assert.deepEqual(written.slice(-3, -1), ["\r\x1b[K", "bc/17  0.1 s\n"]);
  progress.close();
  progress.close();
  assert.equal(written.filter((text) => text === "\r\x1b[K").length, 2);
});

Deno.test("ProgressDisplay never draws a line wider than the terminal", () => {
  const { written, progress } = display("terminal", 20);
  progress.report({ type: "started", node: "evaluate/E/17", key: KEY, reason: "no_earlier_action" });
  assert.equal(written.at(-1)?.replace("\r\x1b[K", "").length, 19);
});
