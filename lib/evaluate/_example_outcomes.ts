import { RandomStream } from "../core/random_stream.ts";
import type { Outcomes } from "./paired_comparison.ts";

/** Outcomes for tests, one text a seed, one character a case: `+` a success. Cases are called c0, c1 ... */
export function outcomesOf(rows: Readonly<Record<number, string>>): Outcomes {
  return new Map(
    Object.entries(rows).map(([seed, row]) => [
      Number(seed),
      new Map([...row].map((mark, c) => [`c${c}`, mark === "+"])),
    ]),
  );
}

/** Random outcomes for tests. */
export function randomOutcomes(
  { name, rate, seeds, cases }: {
    readonly name: string;
    readonly rate: number;
    readonly seeds: readonly number[];
    readonly cases: number;
  },
): Outcomes {
  const stream = new RandomStream(1, "example_outcomes", name);
  return new Map(seeds.map((seed) => [
    seed,
    new Map(Array.from({ length: cases }, (_, c) => [`c${c}`, stream.uniform() < rate])),
  ]));
}

/** The same outcomes with seeds and cases the other way round. */
export function reversed(outcomes: Outcomes): Outcomes {
  return new Map([...outcomes].reverse().map(([seed, row]) => [seed, new Map([...row].reverse())]));
}
