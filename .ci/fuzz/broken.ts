import { TracewrightError } from "../../lib/core/error.ts";
import type { RandomStream } from "../../lib/core/random_stream.ts";
import { type Target, target } from "./target.ts";

/** Reads 32 random bytes; does what it should not where the first is below 16, which is one input in sixteen. */
function broken(wrong: (input: Uint8Array) => unknown, more: Partial<Target> = {}): Target {
  return target({
    codes: ["refused"],
    make: (random: RandomStream) => Uint8Array.from({ length: 32 }, () => random.integer(256)),
    read: (input) => input[0]! < 16 ? wrong(input) : "good",
    hold: () => {},
    ...more,
  });
}

/** An exception that is none of ours. */
export const exception: Target = broken(() => {
  throw new RangeError("Invalid array length");
});
/** A code that was not promised. */
export const code: Target = broken(() => {
  throw new TracewrightError("surprising");
});
/** Something accepted that does not hold. */
export const property: Target = broken(() => "bad", {
  hold: (value) => {
    if (value !== "good") throw new Error("written again, it is something else");
  },
});
/** No end. */
export const loop: Target = broken(() => {
  for (;;);
});
/** More than 512 MiB. */
export const memory: Target = broken(() => new Uint8Array(9 * 2 ** 26).fill(1).length);
/** The end of the process. */
export const exit: Target = broken(() => Deno.exit(0));
/** An answer that never comes. */
export const promise: Target = broken(() => new Promise(() => {}));
/** More than reading and writing where it may. */
export const permission: Target = broken(() => Deno.writeTextFileSync("../written", ""));
