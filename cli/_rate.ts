/** How long a rate looks back, in milliseconds. */
const WINDOW = 10_000;
/** A rate over less than this says nothing. */
const SHORTEST = 200;

/**
 * How fast a count grows, over the last seconds; a pure function of what it was told. Time before the first count was
 * something else: reading, or starting a runtime.
 */
export class Rate {
  /** Oldest first; the first one may lie before the window, so that the window is covered. */
  readonly #samples: { readonly at: number; readonly count: number }[] = [];

  /** Takes a count, with the time in milliseconds. One that falls begins anew. */
  add(count: number, at: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && count < last.count) this.#samples.length = 0;
    this.#samples.push({ at, count });
    while (this.#samples.length > 2 && this.#samples[1]!.at <= at - WINDOW) this.#samples.shift();
  }

  /** Counts a second up to now; nothing before two counts and some time between them. */
  perSecond(now: number): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.count === first.count) return undefined;
    if (now - first.at < SHORTEST) return undefined;
    return (last.count - first.count) / (now - first.at) * 1000;
  }
}

/** A rate in three digits: `1240`, `38.1`, `0.42`. */
export function rateText(perSecond: number): string {
  const digits = perSecond >= 100 ? 0 : perSecond >= 10 ? 1 : 2;
  return perSecond.toFixed(digits);
}
