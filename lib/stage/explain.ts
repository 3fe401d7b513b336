import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { type ActionKey, type ActionRecord, keyOf, type Outputs } from "../store/action_record.ts";
import type { RecordedAction } from "../store/action_cache.ts";
import { actionOf, type DagManifest } from "../store/manifest.ts";
import { stageError } from "./stage_error.ts";

/** One field of two action records that is not the same. */
export interface FieldDifference {
  /** E.g. `params.learning_rate`, `stage.code`, `inputs.train`. */
  readonly field: string;
  /** As JSON; undefined where the field is absent. */
  readonly earlier: string | undefined;
  readonly here: string | undefined;
}

/** What makes a computation the one it is, and why it was run. */
export interface Explanation {
  readonly key: ActionKey;
  readonly action: ActionRecord;
  /** Undefined where the action has not been run with this store. */
  readonly outputs: Outputs | undefined;
  /** Nodes of the manifest at hand that are this action. */
  readonly nodes: readonly string[];
  /** The recorded action of the same stage with the fewest differing fields; undefined where there is none. */
  readonly nearest: {
    readonly key: ActionKey;
    readonly differences: readonly FieldDifference[];
  } | undefined;
}

/** What {@link explain} looks through. */
export interface ExplainSources {
  /** All that the store has recorded: `store.actions.list()`. */
  readonly actions: readonly RecordedAction[];
  /** The run that node ids and stage names refer to. */
  readonly dag?: DagManifest;
}

/**
 * Explains one action.
 *
 * @param reference a node id or a stage name, or at least four hexadecimal digits of an action key or of an output's
 * digest, with or without `sha256:`
 * @throws TracewrightError "reference_not_found", "ambiguous_reference" with what it could mean
 */
export function explain(reference: string, { actions, dag }: ExplainSources): Explanation {
  const known = new Map<ActionKey, Known>();
  for (const { key, action, outputs, recorded } of actions) {
    known.set(key, { action, outputs, recorded, nodes: [] });
  }
  for (const node of dag?.nodes ?? []) {
    const action = actionOf(node, dag?.numerics ?? []);
    const entry = known.get(keyOf(action)) ?? { action, outputs: undefined, recorded: Infinity, nodes: [] };
    entry.nodes.push(node.id);
    known.set(keyOf(action), entry);
  }
  const key = resolve(reference, known);
  const { action, outputs, recorded, nodes } = known.get(key)!;
  const earlier = actions.filter((other) =>
    other.key !== key && other.recorded <= recorded && other.action.stage.name === action.stage.name
  );
  return { key, action, outputs, nodes, nearest: nearestOf(action, earlier) };
}

interface Known {
  readonly action: ActionRecord;
  readonly outputs: Outputs | undefined;
  readonly recorded: number;
  readonly nodes: string[];
}

function resolve(reference: string, known: ReadonlyMap<ActionKey, Known>): ActionKey {
  const entries = [...known];
  const hex = /^(?:sha256:)?([0-9a-f]{4,64})$/.exec(reference)?.[1];
  const begins = (digest: string) => hex !== undefined && digest.startsWith(`sha256:${hex}`);
  const made = entries.filter(([, { outputs }]) =>
    Object.values(outputs ?? {}).some(({ digest }) => begins(digest))
  );
  const ofStage = entries.filter(([, { action }]) => action.stage.name === reference);
  const readings = [
    entries.filter(([, { nodes }]) => nodes.includes(reference)),
    ofStage.filter(([, { nodes }]) => nodes.length > 0),
    ofStage,
    entries.filter(([key]) => begins(key)),
    made.filter(([, { nodes }]) => nodes.length > 0),
    made,
  ];
  const matches = readings.find((reading) => reading.length > 0);
  if (matches === undefined) {
    throw stageError("reference_not_found", {
      expected: "a node id, a stage name, or the start of an action key or output digest",
      actual: reference,
      hint: "a stage that has never been run with this store cannot be explained",
    });
  }
  if (matches.length > 1) {
    throw stageError("ambiguous_reference", {
      message: `${JSON.stringify(reference)} could mean ${matches.length} actions`,
      actual: matches.map(([key, { nodes, action }]) =>
        nodes[0] ?? `${action.stage.name} ${key.slice(0, 19)}`
      ).sort(),
      hint: "name the node, or give more digits of the key",
    });
  }
  return matches[0]![0];
}

function nearestOf(action: ActionRecord, earlier: readonly RecordedAction[]): Explanation["nearest"] {
  let best: { key: ActionKey; recorded: number; differences: FieldDifference[] } | undefined;
  for (const { key, action: other, recorded } of earlier) {
    const differences = fieldDifferences(other, action);
    const better = best === undefined || differences.length < best.differences.length ||
      (differences.length === best.differences.length &&
        (recorded > best.recorded || (recorded === best.recorded && key < best.key)));
    if (better) best = { key, recorded, differences };
  }
  return best === undefined ? undefined : { key: best.key, differences: best.differences };
}

/** The fields in which two actions differ, sorted by name. */
export function fieldDifferences(earlier: ActionRecord, here: ActionRecord): FieldDifference[] {
  const before = fieldsOf(earlier);
  const now = fieldsOf(here);
  return [...new Set([...before.keys(), ...now.keys()])].sort().flatMap((field) =>
    before.get(field) === now.get(field) ? [] : [{ field, earlier: before.get(field), here: now.get(field) }]
  );
}

function fieldsOf(action: ActionRecord): Map<string, string> {
  const fields = new Map<string, string>();
  const visit = (value: Json, path: string) => {
    const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (inner.length === 0) fields.set(path, canonicalJson(value));
    else for (const [name, part] of inner) visit(part, path === "" ? name : `${path}.${name}`);
  };
  visit(action as unknown as Json, "");
  return fields;
}

/** An {@link Explanation} as lines of text for a terminal. */
export function renderExplanation({ key, action, outputs, nodes, nearest }: Explanation): string {
  const { stage, numerics, params, inputs } = action;
  const rows: [string, string][] = [
    ["stage", `${stage.name}, version ${stage.version}`],
    ["node", nodes.join(", ") || "none of this run"],
    ["key", key],
    ["code", stage.code],
    ["numerics", numerics.join(", ")],
    ...named("param", params, canonicalJson),
    ...named("input", inputs, (digest) => digest),
    ...named(
      "output",
      outputs ?? {},
      ({ digest, size, media_type }) => `${digest} (${size} bytes, ${media_type})`,
    ),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  lines.push("", ...reasonLines(outputs, nearest));
  return lines.join("\n") + "\n";
}

function reasonLines(outputs: Outputs | undefined, nearest: Explanation["nearest"]): string[] {
  const did = outputs === undefined ? "It has to run" : "It ran";
  if (nearest === undefined) return [`${did} because nothing of this stage had been recorded before.`];
  const { key, differences } = nearest;
  const count = differences.length === 1 ? "1 field differs" : `${differences.length} fields differ`;
  return [
    `${did} because its key was new. ${count} from the nearest earlier key,`,
    `${key}:`,
    ...differences.map(({ field, earlier, here }) =>
      `  ${field}: ${earlier ?? "absent"} -> ${here ?? "absent"}`
    ),
  ];
}

function named<T>(
  label: string,
  record: { readonly [name: string]: T },
  show: (value: T) => string,
): [string, string][] {
  return Object.keys(record).sort().map((name) => [`${label} ${name}`, show(record[name]!)]);
}
