import type { Counted } from "../lib/stage/define_stage.ts";
import type { RunEvent } from "../lib/stage/scheduler.ts";
import { VERIFY_STEPS } from "../lib/verify/verify_code.ts";
import type { VerifyEvent } from "../lib/verify/verify_run.ts";
import { Rate, rateText } from "./_rate.ts";
import type { Terminal } from "./_terminal.ts";
import { type Job, TimeLeft, timeLeftText } from "./_time_left.ts";

const BAR_CELLS = 16;
/** A terminal is redrawn at most this often, in milliseconds. */
const REDRAW_EVERY = 80;

interface Running {
  readonly since: number;
  share: number;
  counted: Counted | undefined;
  readonly rate: Rate;
}

/** One list of jobs that a command works off: the stages of a run, or the checks of a verification. */
interface Phase {
  readonly what: string;
  planned: number;
  ended: number;
  readonly running: Map<string, Running>;
  readonly timeLeft: TimeLeft;
}

function phase(what: string, jobs: readonly Job[] = []): Phase {
  const timeLeft = new TimeLeft();
  timeLeft.plan(jobs);
  return { what, planned: jobs.length, ended: 0, running: new Map(), timeLeft };
}

/** A running job: how far, what it counts, how fast. */
function runningText(name: string, { share, counted, rate }: Running, now: number): string {
  const perSecond = rate.perSecond(now);
  return [
    name,
    `${Math.floor(share * 100)}%`,
    ...(counted?.total === undefined ? [] : [`${counted.count}/${counted.total}`]),
    ...(counted === undefined || perSecond === undefined ? [] : [`${rateText(perSecond)} ${counted.unit}/s`]),
  ].join(" ");
}

/**
 * Shows how a command gets on, on standard error: one line for each job that ended, and on a terminal a live line below
 * them with a bar, the time left and the running jobs. It writes no colours, and nothing but plain lines where there is no
 * terminal.
 *
 * @param now milliseconds from any fixed moment
 */
export class ProgressDisplay implements Disposable {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #phase = phase("stages");
  #stages = 0;
  #cached = 0;
  #drawnAt = -Infinity;
  #drawn = false;

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
  }

  /** Takes one event of a run; may be passed on as a function. */
  readonly report = (event: RunEvent): void => {
    switch (event.type) {
      case "planned":
        this.#phase = phase("stages", event.nodes.map(({ id, stage }) => ({ id, kind: stage })));
        return this.#draw();
      case "started":
        return this.#start(event.node);
      case "progress":
        return this.#reach(event.node, event);
      case "cached":
        this.#stages++;
        this.#cached++;
        return this.#end(event.node, "cached");
      case "finished":
        this.#stages++;
        return this.#end(event.node);
    }
  };

  /**
   * Takes the events of a verification.
   *
   * @param level `rebuild` has one more step
   */
  verification(level: string): (event: VerifyEvent) => void {
    const steps = VERIFY_STEPS.filter((step) => level === "rebuild" || step !== "training");
    const name = (step: string) => `verify ${step}`;
    this.#phase = phase("checks", steps.map((step) => ({ id: name(step), kind: step })));
    return (event) => {
      if (event.type === "started") this.#start(name(event.step));
      else if (event.type === "progress") this.#reach(name(event.step), event);
      else this.#end(name(event.step));
    };
  }

  /** How many stages ended and how many of them did no work: `8 stages, 8 cached`. */
  get summary(): string {
    return `${this.#stages} stages, ${this.#cached} cached`;
  }

  /** Prints a line that stays. */
  note(line: string): void {
    this.#line(line);
    this.#draw();
  }

  /** Draws the live line again, for rates and times change while nothing happens. */
  tick(): void {
    this.#draw();
  }

  /** Removes the live line. Lines that were printed stay. */
  close(): void {
    this.#erase();
    this.#phase.running.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #start(id: string): void {
    const now = this.#now();
    this.#phase.running.set(id, { since: now, share: 0, counted: undefined, rate: new Rate() });
    this.#phase.timeLeft.start(id, now);
    this.#draw();
  }

  #reach(id: string, { fraction, counted }: { readonly fraction: number; readonly counted?: Counted }): void {
    const job = this.#phase.running.get(id);
    if (job === undefined) return;
    const now = this.#now();
    job.share = Math.min(1, Math.max(0, fraction));
    job.counted = counted;
    if (counted !== undefined) job.rate.add(counted.count, now);
    this.#phase.timeLeft.reach(id, job.share);
    if (now - this.#drawnAt >= REDRAW_EVERY) this.#draw();
  }

  #end(id: string, word?: string): void {
    const now = this.#now();
    const since = this.#phase.running.get(id)?.since ?? now;
    this.#phase.running.delete(id);
    this.#phase.timeLeft.end(id, now);
    this.#phase.ended++;
    this.#line(`${id}  ${word ?? `${((now - since) / 1000).toFixed(1)} s`}`);
    this.#draw();
  }

  #line(text: string): void {
    this.#erase();
    this.#terminal.err(text + "\n");
  }

  #erase(): void {
    if (this.#drawn) this.#terminal.err("\r\x1b[K");
    this.#drawn = false;
  }

  #draw(): void {
    const { what, running, ended, planned, timeLeft } = this.#phase;
    if (!this.#terminal.interactive || running.size === 0) return;
    const now = this.#now();
    const shares = [...running.values()].reduce((sum, { share }) => sum + share, 0);
    const total = Math.max(planned, ended + running.size);
    const filled = Math.floor((ended + shares) / total * BAR_CELLS);
    const bar = "#".repeat(filled) + ".".repeat(BAR_CELLS - filled);
    const left = timeLeft.left(now);
    const line = [
      `[${bar}] ${ended}/${total} ${what}`,
      ...(left === undefined ? [] : [timeLeftText(left)]),
      ...[...running].map(([name, job]) => runningText(name, job, now)),
    ].join("  ");
    this.#terminal.err("\r\x1b[K" + line.slice(0, this.#terminal.columns - 1));
    this.#drawn = true;
    this.#drawnAt = now;
  }
}
