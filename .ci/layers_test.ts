import assert from "node:assert/strict";
import plugin from "./laws_plugin.ts";
import { importFault, type Room, ROOMS } from "./rooms.ts";

function faults(path: string, code: string): string[] {
  const file = decodeURIComponent(new URL(`../${path}`, import.meta.url).pathname);
  return Deno.lint.runPlugin(plugin, file, code)
    .filter(({ id }) => id === "tracewright/layers").map(({ message }) => message);
}

Deno.test("layers: the table of rooms has no way upward", () => {
  const order = Object.keys(ROOMS);
  for (const [room, allowed] of Object.entries(ROOMS)) {
    for (const other of allowed as readonly string[]) {
      const below = other.split("/")[0] ?? "";
      assert.ok(order.indexOf(below) < order.indexOf(room), `${room} imports ${other}`);
    }
  }
});

Deno.test("layers: each room may import what stands in the table, and nothing else", () => {
  const all = Object.keys(ROOMS) as Room[];
  for (const from of all) {
    for (const to of all) {
      const allowed = from === to || (ROOMS[from] as readonly string[]).includes(to);
      const fault = importFault({ from: `lib/${from}/a.ts`, to: `lib/${to}/b.ts` });
      assert.equal(fault === undefined, allowed, `${from} to ${to}`);
    }
  }
});

Deno.test("layers: every form of import counts, types too", () => {
  for (
    const code of [
      'import { a } from "../verify/a.ts";',
      'import type { A } from "../verify/a.ts";',
      'import "../verify/a.ts";',
      'export { a } from "../verify/a.ts";',
      'export * from "../verify/a.ts";',
      'await import("../verify/a.ts");',
      'type A = import("../verify/a.ts").A;',
    ]
  ) {
    assert.deepEqual(
      faults("lib/core/x.ts", code),
      ["lib/core may import no other room, not lib/verify"],
      code,
    );
  }
  assert.deepEqual(faults("lib/core/x.ts", 'import { z } from "zod"; import "./y.ts";'), []);
});

Deno.test("layers: an import that names no file is a fault, but for executors and runtimes", () => {
  assert.equal(faults("lib/learn/x.ts", "await import(name);").length, 1);
  assert.deepEqual(faults("lib/stage/worker_executor.ts", "await import(name);"), []);
});

Deno.test("layers: policy sees of the world only the policy input", () => {
  assert.equal(importFault({ from: "lib/policy/a.ts", to: "lib/world/policy_input.ts" }), undefined);
  assert.match(
    importFault({ from: "lib/policy/a.ts", to: "lib/world/environment.ts" }) ?? "",
    /not lib\/world/,
  );
});

Deno.test("layers: pipeline sees of the verifier only the types of its subject", () => {
  const from = "lib/pipeline/a.ts";
  assert.equal(importFault({ from, to: "lib/verify/verify_subject.ts" }), undefined);
  assert.match(importFault({ from, to: "lib/verify/verify_run.ts" }) ?? "", /not lib\/verify/);
});

Deno.test("layers: files with a leading underscore are private to their room", () => {
  assert.match(importFault({ from: "lib/learn/a.ts", to: "lib/core/_b.ts" }) ?? "", /private to lib\/core/);
  assert.match(importFault({ from: "lib/pipeline/a.ts", to: "cli/_b.ts" }) ?? "", /private to cli/);
  assert.equal(importFault({ from: "lib/pipeline/stages/a.ts", to: "lib/pipeline/_b.ts" }), undefined);
  assert.equal(importFault({ from: "cli/a.ts", to: "cli/_b.ts" }), undefined);
});

Deno.test("layers: lib stands on nothing outside lib", () => {
  for (const to of ["cli/main.ts", "mod.ts", ".ci/wasm.ts"]) {
    assert.match(importFault({ from: "lib/verify/a.ts", to }) ?? "", /lib may not import/);
  }
  assert.match(importFault({ from: "cli/a.ts", to: ".ci/wasm.ts" }) ?? "", /cli may not import/);
  assert.equal(importFault({ from: "mod.ts", to: "lib/core/a.ts" }), undefined);
});

Deno.test("layers: a test may use what stands beside its room, but not what stands above it", () => {
  assert.equal(importFault({ from: "lib/policy/a_test.ts", to: "lib/world/environment.ts" }), undefined);
  assert.notEqual(
    importFault({ from: "lib/policy/a_test.ts", to: "lib/episode/run_episodes.ts" }),
    undefined,
  );
});
