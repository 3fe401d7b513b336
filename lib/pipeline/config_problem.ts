import { closestMatch } from "leven";
import { z } from "zod";
import { TracewrightError } from "../core/error.ts";

/** What can be wrong with a config file or a config blob. */
export type ConfigCode =
  | "unknown_key"
  | "missing_key"
  | "duplicate_key"
  | "wrong_type"
  | "wrong_value"
  | "not_finite"
  | "out_of_range"
  | "inconsistent"
  | "yaml_syntax"
  | "yaml_feature"
  | "config_too_large"
  | "config_too_deep";

/** One thing wrong with a config: the place as a path of keys and indices, and the two values to compare. */
export interface ConfigProblem {
  readonly code: ConfigCode;
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly hint?: string;
}

/** Where a problem stands in a file: one-based line and column, counted in UTF-16 units. */
export interface ConfigPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A path of keys and indices as a person writes it: `variants[1].name`. */
export function pathText(path: ConfigProblem["path"]): string {
  return path.map((part, i) => typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`).join("");
}

/**
 * One error for all problems: it is the first one; the rest are the `errors` of its `cause`, so that a reader can
 * mend a file in one go.
 *
 * @param place finds where a problem stands; nothing for a config that came from no file
 */
export function configError(
  problems: readonly ConfigProblem[],
  place: (problem: ConfigProblem) => ConfigPlace | undefined = () => undefined,
): TracewrightError<"pipeline", ConfigCode> {
  const errors = problems.map((problem) => {
    const { code, path, ...rest } = problem;
    const key = pathText(path);
    return { code, details: { ...rest, ...place(problem), ...(key === "" ? {} : { key }) } };
  });
  const [first, ...rest] = errors;
  if (first === undefined) throw new TypeError("configError() needs at least one problem");
  const others = rest.map(({ code, details }) => new TracewrightError<"pipeline", ConfigCode>(code, details));
  return new TracewrightError<"pipeline", ConfigCode>(first.code, {
    ...first.details,
    ...(others.length > 0 ? { cause: new AggregateError(others, `and ${others.length} more`) } : {}),
  });
}

/** The name nearest to a misspelt one, where it is near enough to be what was meant. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  return closestMatch(text, names, { maxDistance: Math.max(1, Math.floor(text.length / 3)) });
}

/** The schema that stands at a path, seen through arrays and `nullable`. */
function schemaAt(schema: z.core.$ZodType, path: readonly (string | number)[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of [...path, undefined]) {
    if (at instanceof z.ZodNullable) at = at.unwrap();
    if (part === undefined) return at;
    at = at instanceof z.ZodArray ? at.element : at instanceof z.ZodObject ? at.shape[part] : undefined;
  }
  return at;
}

/** Every key of a schema with the section it stands in, for keys that were written into the wrong one. */
function* keysOf(schema: z.core.$ZodType, path: readonly string[] = []): Generator<readonly string[]> {
  const inner = schemaAt(schema, []);
  if (inner instanceof z.ZodArray) yield* keysOf(inner.element, path);
  if (!(inner instanceof z.ZodObject)) return;
  for (const [key, value] of Object.entries(inner.shape)) {
    yield [...path, key];
    yield* keysOf(value, [...path, key]);
  }
}

function unknownKey(
  { schema, path, key }: { schema: z.core.$ZodType; path: ConfigProblem["path"]; key: string },
): ConfigProblem {
  const section = schemaAt(schema, path);
  const names = section instanceof z.ZodObject ? Object.keys(section.shape) : [];
  const nearest = nearestName(key, names);
  const elsewhere = nearest ? undefined : [...keysOf(schema)].find((other) => other.at(-1) === key);
  const hint = nearest
    ? `did you mean "${nearest}"?`
    : elsewhere
    ? `"${key}" belongs to ${elsewhere.length === 1 ? "the top level" : pathText(elsewhere.slice(0, -1))}`
    : undefined;
  return {
    code: "unknown_key",
    path: [...path, key],
    message: `no such key`,
    expected: nearest ?? `one of ${names.join(", ")}`,
    actual: key,
    ...(hint ? { hint } : {}),
  };
}

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a section of keys",
};

type Issue = z.core.$ZodIssue;

function bound(issue: Issue & { code: "too_small" | "too_big" }): string {
  const unit = issue.origin === "array" ? " items" : "";
  return issue.code === "too_small"
    ? `${issue.inclusive ? "at least" : "more than"} ${issue.minimum}${unit}`
    : `${issue.inclusive ? "at most" : "less than"} ${issue.maximum}${unit}`;
}

function problemOf(issue: Issue, schema: z.core.$ZodType): ConfigProblem[] {
  const path = issue.path as (string | number)[];
  const actual = issue.input;
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey({ schema, path, key }));
  const field = schemaAt(schema, path);
  const kind = issue.code === "invalid_type"
    ? KINDS[field instanceof z.ZodNumber && field.isInt ? "int" : issue.expected] ?? issue.expected
    : issue.code === "invalid_value"
    ? issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(", ")}`
    : issue.code === "too_small" || issue.code === "too_big"
    ? bound(issue)
    : issue.code === "not_multiple_of"
    ? `a multiple of ${issue.divisor}`
    : issue.code === "invalid_format" && issue.format === "regex"
    ? `a text that matches ${issue.pattern}`
    : issue.message;
  if (actual === undefined) {
    return [{ code: "missing_key", path, message: "a key is missing", expected: kind, actual }];
  }
  const about = { path, expected: kind, actual };
  switch (issue.code) {
    case "invalid_type":
      if (typeof actual === "number" && !Number.isFinite(actual)) {
        return [{ code: "not_finite", message: "the number is not finite", ...about }];
      }
      return [{ code: "wrong_type", message: "the value has another type", ...about }];
    case "too_small":
    case "too_big":
      return [{ code: "out_of_range", message: "the value is out of range", ...about }];
    case "invalid_value": {
      const names = issue.values.filter((value) => typeof value === "string");
      const nearest = typeof actual === "string" ? nearestName(actual, names) : undefined;
      const hint = nearest ? { hint: `did you mean "${nearest}"?` } : {};
      return [{ code: "wrong_value", message: "the value is not one of the choices", ...about, ...hint }];
    }
    default:
      return [{ code: "wrong_value", message: "the value does not fit", ...about }];
  }
}

/** -0 passes every range that starts at zero, and has no canonical form. */
function* negativeZeros(value: unknown, path: readonly (string | number)[]): Generator<ConfigProblem> {
  if (Object.is(value, -0)) {
    yield { code: "wrong_value", path, message: "-0 has no canonical form", expected: 0, actual: -0 };
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* negativeZeros(item, [...path, i]);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* negativeZeros(item, [...path, key]);
  }
}

/** Everything in which a value differs from a strict schema. A misspelt key does not also count as a missing one. */
export function problemsOf(schema: z.core.$ZodType, value: unknown): ConfigProblem[] {
  const result = z.safeParse(schema, value, { reportInput: true });
  const problems = (result.error?.issues ?? []).flatMap((issue) => problemOf(issue, schema));
  const meant = new Set(
    problems.filter(({ code }) => code === "unknown_key")
      .map(({ path, expected }) => pathText([...path.slice(0, -1), String(expected)])),
  );
  return [
    ...problems.filter(({ code, path }) => code !== "missing_key" || !meant.has(pathText(path))),
    ...negativeZeros(value, []),
  ];
}
