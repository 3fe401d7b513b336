import { InvalidArgumentError, Option } from "commander";

/** One option of a command: how it is written, what it means, and the type it gives. */
export interface OptionSpec<T> {
  /** As `commander` takes it: `-c, --config <file>`. */
  readonly flags: string;
  readonly description: string;
  /** Builds the option for `commander`, with its default, its choices and its parser. */
  build(): Option;
  /** Only a type. */
  readonly type?: T;
}

/** The options of a command by the name under which its body sees them. */
export type OptionSet = Readonly<Record<string, OptionSpec<unknown>>>;

/** What a command's body receives for its options. */
export type OptionValues<Set extends OptionSet> = {
  readonly [Name in keyof Set]: Set[Name] extends OptionSpec<infer T> ? T : never;
};

/** An option that takes a text and has no default. */
export function text(flags: string, description: string): OptionSpec<string | undefined> {
  return { flags, description, build: () => new Option(flags, description) };
}

/** An option that takes a text and has one when nothing is given. */
export function textOr(fallback: string, flags: string, description: string): OptionSpec<string> {
  return { flags, description, build: () => new Option(flags, description).default(fallback) };
}

/** An option that takes a text and must be given. */
export function requiredText(flags: string, description: string): OptionSpec<string> {
  return { flags, description, build: () => new Option(flags, description).makeOptionMandatory() };
}

/** An option that is there or not. */
export function flag(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, build: () => new Option(flags, description).default(false, "off") };
}

/** An option that takes one of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  flags: string,
  description: string,
): OptionSpec<Words[number]> {
  return { flags, description, build: () => new Option(flags, description).choices(words).default(words[0]) };
}

/** An option that takes one of a few words and may be left out. */
export function optionalChoice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  flags: string,
  description: string,
): OptionSpec<Words[number] | undefined> {
  return { flags, description, build: () => new Option(flags, description).choices(words) };
}

interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

function wholeNumberIn({ minimum, maximum }: Bounds): (given: string) => number {
  return (given) => {
    const value = /^[0-9]{1,16}$/.test(given) ? Number(given) : NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** An option that takes a whole number within bounds. */
export function wholeNumber(
  { fallback, ...bounds }: Bounds & { readonly fallback: number },
  flags: string,
  description: string,
): OptionSpec<number> {
  const parse = wholeNumberIn(bounds);
  return {
    flags,
    description,
    build: () => new Option(flags, description).default(fallback).argParser(parse),
  };
}

/** An option that takes a whole number within bounds and may be left out. */
export function optionalWholeNumber(
  bounds: Bounds,
  flags: string,
  description: string,
): OptionSpec<number | undefined> {
  const parse = wholeNumberIn(bounds);
  return { flags, description, build: () => new Option(flags, description).argParser(parse) };
}
