/** A job of the run, and what other jobs it is like: they take about as long. */
export interface Job {
  readonly id: string;
  readonly kind: string;
}

/** How long it may still take. */
export interface Estimate {
  readonly seconds: number;
  /** Whether there are jobs about which nothing is known yet, so that it takes longer. */
  readonly atLeast: boolean;
}

/** Below this share a job's own speed says less than how long others like it took. */
const EARLY = 0.05;

/**
 * Estimates how long a run of jobs will still take, from how long jobs of the same kind took, how far the running ones are,
 * and how many ran at a time. A pure function of what it was told; times are milliseconds from any fixed moment.
 */
export class TimeLeft {
  readonly #waiting = new Map<string, string>();
  readonly #running = new Map<string, { readonly kind: string; readonly since: number; share: number }>();
  readonly #took = new Map<string, { sum: number; count: number }>();
  #lanes = 1;

  plan(jobs: readonly Job[]): void {
    for (const { id, kind } of jobs) this.#waiting.set(id, kind);
  }

  start(id: string, now: number): void {
    this.#running.set(id, { kind: this.#waiting.get(id) ?? id, since: now, share: 0 });
    this.#waiting.delete(id);
    this.#lanes = Math.max(this.#lanes, this.#running.size);
  }

  /** @param share 0 to 1 */
  reach(id: string, share: number): void {
    const job = this.#running.get(id);
    if (job !== undefined) job.share = share;
  }

  /** A job that did not run, for its result was known, says nothing about the others. */
  end(id: string, now: number): void {
    const job = this.#running.get(id);
    this.#waiting.delete(id);
    if (job === undefined) return;
    this.#running.delete(id);
    const { sum, count } = this.#took.get(job.kind) ?? { sum: 0, count: 0 };
    this.#took.set(job.kind, { sum: sum + now - job.since, count: count + 1 });
  }

  /** Nothing where nothing can be said: no job has ended or got anywhere, or none is left. */
  left(now: number): Estimate | undefined {
    let [work, longest, atLeast] = [0, 0, false];
    const add = (milliseconds: number | undefined) => {
      if (milliseconds === undefined) {
        atLeast = true;
        return;
      }
      work += milliseconds;
      longest = Math.max(longest, milliseconds);
    };
    for (const { kind, since, share } of this.#running.values()) {
      const usual = this.#usual(kind);
      const spent = now - since;
      if (share < EARLY && usual !== undefined) add(Math.max(0, usual - spent));
      else add(share === 0 ? undefined : spent * (1 - share) / share);
    }
    for (const kind of this.#waiting.values()) add(this.#usual(kind));
    if (work === 0) return undefined;
    return { seconds: Math.max(longest, work / this.#lanes) / 1000, atLeast };
  }

  #usual(kind: string): number | undefined {
    const took = this.#took.get(kind);
    return took === undefined ? undefined : took.sum / took.count;
  }
}

/** An estimate in words, no finer than it is: `8 s left`, `over 3 min left`, `1 h 20 min left`. */
export function timeLeftText({ seconds, atLeast }: Estimate): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.ceil(seconds / 60);
  const text = whole < 100
    ? `${whole} s`
    : minutes < 100
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${atLeast ? "over " : ""}${text} left`;
}
