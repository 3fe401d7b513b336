import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Json } from "../core/canonical_json.ts";
import { configProblems, type ExperimentConfig } from "./config.ts";
import { configError, type ConfigProblem, pathText } from "./config_problem.ts";

/**
 * Largest config file, in UTF-16 units. The shipped ones have a few thousand. The parser takes its time over hostile files:
 * a second and more for four times as much.
 */
export const MAX_CONFIG_LENGTH = 16_384;

/** Deepest nesting of a config file. The schema needs three. */
export const MAX_CONFIG_DEPTH = 16;

/** Problems reported at once. More would bury the first. */
const MAX_PROBLEMS = 20;

/** The text `<<` of YAML 1.1 merges maps; YAML 1.2 has no such key, and neither have configs. */
const MERGE_KEY = "<<";

interface Found {
  readonly problem: ConfigProblem;
  readonly offset: number;
}

/** Turns YAML nodes into plain JSON and remembers where each key and value stands. */
class NodeReader {
  readonly found: Found[] = [];
  readonly #keys = new Map<string, number>();
  readonly #values = new Map<string, number>();

  /** Offset of the thing a problem is about: the key where the key is wrong, else the value, else its parent. */
  offsetOf({ code, path }: ConfigProblem): number {
    const order = code === "unknown_key" || code === "duplicate_key"
      ? [this.#keys, this.#values]
      : [this.#values, this.#keys];
    for (let length = path.length; length >= 0; length--) {
      const text = pathText(path.slice(0, length));
      const offset = order[0]?.get(text) ?? order[1]?.get(text);
      if (offset !== undefined) return offset;
    }
    return 0;
  }

  read(node: Node | null, path: readonly (string | number)[]): Json {
    const offset = node?.range?.[0] ?? this.offsetOf({ code: "wrong_type", path, message: "" });
    this.#values.set(pathText(path), offset);
    if (path.length > MAX_CONFIG_DEPTH) {
      this.#report({ code: "config_too_deep", path, message: "nested too deeply" }, {
        offset,
        expected: `at most ${MAX_CONFIG_DEPTH} levels`,
      });
      return null;
    }
    if (isAlias(node)) {
      this.#feature({ path, offset, what: `the alias *${node.source}`, hint: "write the value out" });
      return null;
    }
    if (node && "anchor" in node && node.anchor) {
      this.#feature({ path, offset, what: `the anchor &${node.anchor}`, hint: "remove it" });
    }
    if (node?.tag) this.#feature({ path, offset, what: `the tag ${node.tag}`, hint: "remove it" });
    if (isMap(node)) {
      const entries: [string, Json][] = [];
      for (const { key, value } of node.items) {
        const name = isScalar(key) && typeof key.value === "string" ? key.value : undefined;
        const at = (key as Node | null)?.range?.[0] ?? offset;
        if (name === undefined || name === MERGE_KEY) {
          const what = name === undefined ? "a key that is not a text" : "a merge key";
          this.#feature({ path, offset: at, what, hint: "use plain keys" });
          continue;
        }
        const place = pathText([...path, name]);
        if (this.#keys.has(place)) {
          const problem = { path: [...path, name], message: "a key stands twice", actual: name };
          this.#report({ code: "duplicate_key", ...problem }, { offset: at, expected: "each key once" });
          continue;
        }
        this.#keys.set(place, at);
        entries.push([name, this.read(value as Node | null, [...path, name])]);
      }
      return Object.fromEntries(entries);
    }
    if (isSeq(node)) return node.items.map((item, i) => this.read(item as Node | null, [...path, i]));
    // Numbers that JSON lacks stay as they are here; the schema refuses them with a better message.
    return isScalar(node) ? node.value as Json : null;
  }

  #report(problem: ConfigProblem, { offset, ...rest }: { offset: number; expected: string }): void {
    this.found.push({ problem: { ...problem, ...rest }, offset });
  }

  #feature(
    { path, offset, what, hint }: {
      path: ConfigProblem["path"];
      offset: number;
      what: string;
      hint: string;
    },
  ): void {
    const message = `${what} has no place in a config`;
    this.found.push({ problem: { code: "yaml_feature", path, message, hint }, offset });
  }
}

function documentOf(text: string, { file, lines }: { readonly file: string; readonly lines: LineCounter }) {
  try {
    return parseDocument(text, {
      version: "1.2",
      schema: "core",
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: lines,
      logLevel: "error",
    });
  } catch (cause) {
    // The parser is recursive. What exhausts the stack is nested far more deeply than a config may be.
    if (!(cause instanceof RangeError)) throw cause;
    throw configError([{
      code: "config_too_deep",
      path: [],
      message: "nested too deeply",
      expected: `at most ${MAX_CONFIG_DEPTH} levels`,
    }], () => ({ file, line: 1, column: 1 }));
  }
}

/**
 * Reads strict YAML as plain JSON and holds it against a schema.
 *
 * The `yaml` package reads the environment variables `LOG_STREAM` and `LOG_TOKENS`: only programs that may do so
 * should import this file.
 *
 * @param text the content of the file
 * @param file its name, for messages only
 * @param problemsOf everything wrong with a value; nothing makes it a `T`
 * @throws TracewrightError of the first problem with file, line, column, key, both values and a hint; all further
 * problems are the `errors` of its `cause`
 */
export function readYaml<T>(
  text: string,
  { file, problemsOf }: {
    readonly file: string;
    readonly problemsOf: (value: unknown) => readonly ConfigProblem[];
  },
): T {
  const lines = new LineCounter();
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  if (text.length > MAX_CONFIG_LENGTH) {
    throw configError([{
      code: "config_too_large",
      path: [],
      message: "the file is too large for a config",
      expected: `at most ${MAX_CONFIG_LENGTH} characters`,
      actual: text.length,
    }], () => ({ file, line: 1, column: 1 }));
  }
  const document = documentOf(text, { file, lines });
  const reader = new NodeReader();
  for (const { code, message, pos } of document.errors) {
    const kind = code === "MULTIPLE_DOCS" ? "yaml_feature" : "yaml_syntax";
    reader.found.push({ problem: { code: kind, path: [], message }, offset: pos[0] });
  }
  if (document.directives?.yaml.explicit) {
    const message = "a %YAML directive has no place in a config";
    reader.found.push({ problem: { code: "yaml_feature", path: [], message, hint: "remove it" }, offset: 0 });
  }
  const value = reader.read(document.contents, []);
  // A file that is not sound YAML has no reliable shape to hold against the schema.
  const problems = document.errors.length === 0 ? problemsOf(value) : [];
  const taken = new Set(reader.found.map(({ offset }) => offset)); // one finding a place is enough
  const found = [
    ...reader.found,
    ...problems.map((problem) => ({ problem, offset: reader.offsetOf(problem) }))
      .filter(({ offset }) => !taken.has(offset)),
  ].sort((a, b) => a.offset - b.offset).slice(0, MAX_PROBLEMS);
  if (found.length === 0) return value as unknown as T;
  const offsets = new Map(found.map(({ problem, offset }) => [problem, offset]));
  throw configError(found.map(({ problem }) => problem), (problem) => place(offsets.get(problem) ?? 0));
}

/**
 * Reads an experiment config from YAML. The result is plain JSON; its canonical bytes are the config blob of a run, so
 * comments, key order and number spelling do not change a run's identity.
 *
 * @param text the content of the file
 * @param file its name, for messages only
 * @throws like {@link readYaml}
 */
export function readConfig(text: string, file: string): ExperimentConfig {
  return readYaml(text, { file, problemsOf: configProblems });
}
