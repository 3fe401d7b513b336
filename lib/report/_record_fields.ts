/** Fields that several records share. */
import { z } from "zod";

/** How many: 0 or more. */
export const count = z.int().min(0);
/** How many, where there must be one. */
export const positive = z.int().min(1);
/** Between none and all. */
export const share = z.number().min(0).max(1);
/** A spread, an error or a p value: never below zero. */
export const magnitude = z.number().min(0);
/** What share of intervals shall cover the truth, or a test shall err. */
export const level = z.number().gt(0).lt(1);

/** The point value must be the one division that its two whole numbers ask for. */
export const rational = z.strictObject({ numerator: z.int(), denominator: positive, value: z.number() })
  .refine(({ numerator, denominator, value }) => numerator / denominator === value, {
    message: "the value is not numerator / denominator",
    path: ["value"],
  });

const ends = { low: z.number(), high: z.number(), confidence: level };

/** An interval and how it was made. */
export const interval = z.strictObject({ ...ends, method: z.string(), samples: z.int().min(2) });

/** An interval of a score that a replicate may not have. */
export const partialInterval = z.strictObject({
  ...interval.shape,
  requested_samples: z.int().min(2),
  seed: count,
});

/** One replicate would give an interval without a width. */
const samples = count.refine((value) => value !== 1, { message: "0 or at least 2" });

/** How replicates are drawn. */
export const bootstrap = z.strictObject({ samples, confidence: level, seed: count });

/** Two variants, the second of which is taken from the first. */
export const pair = z.strictObject({ treatment: z.string(), baseline: z.string() });
