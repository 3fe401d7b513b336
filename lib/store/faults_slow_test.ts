import { deepEqual, equal, ok } from "node:assert/strict";
import { TracewrightError } from "../core/error.ts";
import { type FaultScenario, faultScenarios, RUNS, STORE } from "./_fault_scenarios.ts";
import { Temporaries } from "./_temporaries.ts";
import { checkStore } from "./check_store.ts";
import { CHANGES, type Fault, type FaultChoice, FaultyLayer, type Operation } from "./faulty_layer.ts";
import type { FileLayer } from "./file_layer.ts";
import { MemoryLayer, type PowerCutChoice } from "./memory_layer.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import { Store } from "./store.ts";
import { storeError } from "./store_error.ts";

/** Stands for the end of the process: nothing that happens after it reaches the disk. */
class Death extends Error {}

/** What can happen to an operation; nothing where it cannot happen to this one. */
interface Kind {
  readonly name: string;
  /** Whether the operation says that all went well. Then nobody but a check can know. */
  readonly silent?: true;
  readonly dies?: true;
  fault(operation: Operation): Fault | undefined;
}

const eio = () => storeError("io_error", { message: "input/output error" });
const full = () => storeError("disk_full", { message: "no space left on device" });
const onChanges = (fault: () => Fault) => (operation: Operation) =>
  CHANGES.has(operation) ? fault() : undefined;
const onWrites = (fault: () => Fault) => (operation: Operation) =>
  operation === "write" ? fault() : undefined;

const KINDS: readonly Kind[] = [
  { name: "EIO", fault: () => ({ error: eio(), done: "nothing" }) },
  { name: "ENOSPC", fault: onChanges(() => ({ error: full(), done: "nothing" })) },
  { name: "done, but reported as EIO", fault: onChanges(() => ({ error: eio(), done: "all" })) },
  { name: "torn, ENOSPC", fault: onWrites(() => ({ error: full(), done: "half" })) },
  { name: "torn, EIO", fault: onWrites(() => ({ error: eio(), done: "half" })) },
  { name: "torn, reported as done", silent: true, fault: onWrites(() => ({ done: "half" })) },
  { name: "lost, reported as done", silent: true, fault: onWrites(() => ({ done: "nothing" })) },
  { name: "the process dies", dies: true, fault: () => ({ error: new Death(), done: "nothing" }) },
  {
    name: "torn, the process dies",
    dies: true,
    fault: onWrites(() => ({ error: new Death(), done: "half" })),
  },
];

interface Step {
  readonly operation: Operation;
  readonly path: string;
}

interface Attempt {
  readonly result?: unknown;
  readonly error?: unknown;
}

async function attempt(scenario: FaultScenario, layer: FileLayer): Promise<Attempt> {
  try {
    return { result: await scenario.work(layer) };
  } catch (error) {
    return { error };
  }
}

interface Rehearsal {
  /** What lies there before the work, all of it on the disk. */
  readonly start: MemoryLayer;
  /** The operations of the work. */
  readonly steps: readonly Step[];
  /** What lies there after it. */
  readonly end: MemoryLayer;
  readonly result: unknown;
}

/** Does the work without any disturbance. */
async function rehearse(scenario: FaultScenario): Promise<Rehearsal> {
  const before = new MemoryLayer();
  before.makeDirectory("/disk");
  await scenario.prepare(before);
  const start = before.powerCut((choices) => Math.min(1, choices - 1));
  const steps: Step[] = [];
  const watch: FaultChoice = (operation, path) => void steps.push({ operation, path });
  const end = start.copy();
  const { result, error } = await attempt(scenario, new FaultyLayer(watch, { base: end }));
  equal(error, undefined);
  scenario.holds(end.copy());
  return { start, steps, end, result };
}

/** The disk, and how the work ended, when one operation goes wrong. */
async function disturbed(scenario: FaultScenario, start: MemoryLayer, { at, fault, dies = false }: {
  at: number;
  fault: Fault;
  dies?: boolean | undefined;
}): Promise<{ disk: MemoryLayer } & Attempt> {
  const base = start.copy();
  let count = 0;
  const layer = new FaultyLayer(() => {
    const n = count++;
    if (n === at) return fault;
    return dies && n > at ? { error: fault.error ?? new Death(), done: "nothing" } : undefined;
  }, { base });
  const ended = await attempt(scenario, layer);
  ok(count > at, "the operation took place");
  return { disk: base.copy(), ...ended };
}

interface Named {
  readonly code: string;
  /** What has to be taken away before the work makes it anew. */
  readonly path: string;
}

/** Everything that a check of the store and of each run folder finds wrong, but for what was missing from the beginning. */
function damage(disk: FileLayer, { incomplete = false }: { incomplete?: boolean } = {}): Named[] {
  const store = Store.open(STORE, { layer: disk });
  const named: Named[] = checkStore(store, { depth: "content" }).problems.map(({ code, path }) => ({
    code,
    path,
  }));
  for (const { name } of disk.list(RUNS).filter(({ name }) => /^[0-9a-f]{16}$/.test(name))) {
    const path = `${RUNS}/${name}`;
    try {
      const run = readRun(path, { layer: disk });
      checkRunBlobs(run);
      checkRunViews(run, { layer: disk });
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      if (incomplete && error.code.startsWith("missing_")) continue;
      named.push({ code: error.code, path });
    }
  }
  return named;
}

/** What was done may find all its content there and write nothing; the next command that writes clears up. */
function writeOnce(disk: FileLayer): void {
  if (disk.facts(STORE) !== undefined) {
    using store = Store.open(STORE, { layer: disk });
    using _writer = store.blobs.writer();
  }
  using temporaries = new Temporaries(disk, `${RUNS}/.tmp`);
  temporaries.next();
}

/** Does the work again on what is left, which must end as if nothing had happened. */
async function heal(scenario: FaultScenario, disk: MemoryLayer, expected: unknown): Promise<void> {
  const { result, error } = await attempt(scenario, disk);
  if (error !== undefined) throw error;
  deepEqual(result, expected);
  writeOnce(disk);
  scenario.holds(disk.copy());
  deepEqual(damage(disk.copy()), []);
  const left = [...disk.paths()].filter(({ path, kind }) => /\/\.?tmp\//.test(path) && kind === "file");
  deepEqual(left.map(({ path }) => path), [], "temporary files stay");
}

/**
 * What may fail unheard: to remove a temporary file, and to give a run folder its name where it then lies there all the
 * same, as when another process was faster; it is compared, byte by byte.
 */
const HARMLESS = /^remove(Tree)? of a temporary file$|^rename \/disk\/runs\/[0-9a-f]{16}$/;

/** An operation in words that are the same each time. */
const inWords = ({ operation, path }: Step) =>
  `${operation} ${/\/\.?tmp\//.test(path) ? "of a temporary file" : path}`;

/** Numbers below what they are asked for, from a seed (the generator of Park and Miller). */
function drawn(seed: number): PowerCutChoice {
  let state = seed + 1;
  return (choices) => {
    state = (state * 48271) % 2147483647;
    return state % choices;
  };
}

/** Lets each kind of fault happen to one operation. @returns what failed unheard, in words, and how many were silent and named */
async function faultsAt(scenario: FaultScenario, rehearsed: Rehearsal, at: number) {
  const { start, steps, result: expected } = rehearsed;
  const step = steps[at]!;
  const tried = { faults: 0, named: 0, unheard: [] as string[] };
  for (const kind of KINDS) {
    const fault = kind.fault(step.operation);
    if (fault === undefined) continue;
    tried.faults++;
    try {
      const { disk, error, result } = await disturbed(scenario, start, { at, fault, dies: kind.dies });
      if (kind.silent) {
        // Nothing told the store. The work may have noticed by itself; else a check does.
        if (error !== undefined) ok(error instanceof TracewrightError, String(error));
        const named = damage(disk.copy(), scenario);
        for (const { path } of named) disk.removeTree(path);
        if (named.length > 0 || error !== undefined) tried.named++;
      } else {
        if (error === undefined) {
          // What was promised is there, for good.
          tried.unheard.push(inWords(step));
          deepEqual(result, expected);
          scenario.holds(disk.powerCut(() => 0));
        } else if (!kind.dies) equal(error, fault.error, "another error took its place");
        deepEqual(damage(disk.copy(), scenario), []);
      }
      await heal(scenario, disk, expected);
    } catch (cause) {
      throw new Error(`${kind.name} at ${at}: ${inWords(step)}`, { cause });
    }
  }
  return tried;
}

Deno.test("a store names or survives any fault of any one operation, and no failure is lost", async (t) => {
  const total = { faults: 0, named: 0 };
  for (const scenario of faultScenarios) {
    await t.step(scenario.name, async () => {
      const rehearsed = await rehearse(scenario);
      for (const [at, { operation, path }] of rehearsed.steps.entries()) {
        if (scenario.only?.(operation, path) === false) continue;
        const { faults, named, unheard } = await faultsAt(scenario, rehearsed, at);
        total.faults += faults;
        total.named += named;
        for (const words of unheard) ok(HARMLESS.test(words), words);
      }
    });
  }
  console.log(`${total.faults} faults, ${total.named} of them silent and then named`);
  ok(total.faults > 1000 && total.named > 20, JSON.stringify(total));
});

Deno.test("a store has after a power cut what it promised before, and is sound", async (t) => {
  let cuts = 0;
  for (const scenario of faultScenarios) {
    await t.step(scenario.name, async () => {
      const { start, steps, end, result: expected } = await rehearse(scenario);
      // Between two changes the disk is the same.
      const moments = [...steps.keys()].filter((at) => {
        const { operation, path } = steps[at]!;
        return CHANGES.has(operation) && scenario.only?.(operation, path) !== false;
      });
      for (const at of [...moments, steps.length]) {
        const fault = { error: new Death(), done: "nothing" } as const;
        const isEnd = at === steps.length;
        const { disk } = isEnd ? { disk: end } : await disturbed(scenario, start, { at, fault, dies: true });
        for (const seed of [0, 1, 2]) {
          cuts++;
          const cut = disk.powerCut(seed === 0 ? () => 0 : drawn(seed * 1000 + at));
          try {
            if (isEnd) scenario.holds(cut.copy());
            deepEqual(damage(cut.copy(), scenario), []);
            await heal(scenario, cut, expected);
          } catch (cause) {
            const where = isEnd ? "the end" : inWords(steps[at]!);
            throw new Error(`seed ${seed}, at ${at}: ${where}`, { cause });
          }
        }
      }
    });
  }
  console.log(`${cuts} power cuts`);
  ok(cuts > 500, String(cuts));
});
