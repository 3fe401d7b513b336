import type { RunEvent } from "../lib/stage/scheduler.ts";
import type { Terminal } from "./_terminal.ts";

const BAR_CELLS = 24;
/** A terminal is redrawn at most this often, in milliseconds. */
const REDRAW_EVERY = 80;

/**
 * Shows how a run gets on, on standard error: one line for each stage that ended, and on a terminal a bar below them.
 *
 * @param now milliseconds from any fixed moment
 */
export class ProgressDisplay implements Disposable {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #running = new Map<string, { readonly since: number; share: number }>();
  #planned = 0;
  #ended = 0;
  #cached = 0;
  #drawnAt = -Infinity;
  #drawn = false;

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
  }

  /** Takes one event; may be passed on as a function. */
  readonly report = (event: RunEvent): void => {
    switch (event.type) {
      case "planned":
        this.#planned += event.nodes.length;
        break;
      case "started":
        this.#running.set(event.node, { since: this.#now(), share: 0 });
        break;
      case "progress": {
        const stage = this.#running.get(event.node);
        if (stage) stage.share = Math.min(1, Math.max(0, event.fraction));
        if (this.#now() - this.#drawnAt < REDRAW_EVERY) return;
        break;
      }
      case "cached":
        this.#ended++;
        this.#cached++;
        this.#line(`${event.node}  cached`);
        break;
      case "finished": {
        const since = this.#running.get(event.node)?.since ?? this.#now();
        this.#running.delete(event.node);
        this.#ended++;
        this.#line(`${event.node}  ${((this.#now() - since) / 1000).toFixed(1)} s`);
        break;
      }
    }
    this.#draw();
  };

  /** How many stages ended and how many of them did no work: `8 stages, 8 cached`. */
  get summary(): string {
    return `${this.#ended} stages, ${this.#cached} cached`;
  }

  /** Prints a line that stays. */
  note(line: string): void {
    this.#line(line);
    this.#draw();
  }

  /** Removes the bar. Lines that were printed stay. */
  close(): void {
    this.#erase();
    this.#running.clear();
  }

  [Symbol.dispose](): void {
    this.close();
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
    if (!this.#terminal.interactive || this.#running.size === 0) return;
    const shares = [...this.#running.values()].reduce((sum, { share }) => sum + share, 0);
    const total = Math.max(this.#planned, this.#ended + this.#running.size);
    const filled = Math.floor((this.#ended + shares) / total * BAR_CELLS);
    const bar = "#".repeat(filled) + ".".repeat(BAR_CELLS - filled);
    const names = [...this.#running].map(([name, { share }]) => `${name} ${Math.floor(share * 100)}%`);
    const line = `[${bar}] ${this.#ended}/${total}  ${names.join("  ")}`;
    this.#terminal.err("\r\x1b[K" + line.slice(0, this.#terminal.columns - 1));
    this.#drawn = true;
    this.#drawnAt = this.#now();
  }
}
