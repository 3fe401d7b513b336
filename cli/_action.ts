import leven from "leven";
import type { Json } from "../lib/core/canonical_json.ts";
import type { CommandSpec } from "./_command.ts";
import { usageError } from "./_usage_error.ts";

/** Which options each action of a command takes; all others belong to its other actions. */
export type ActionTable = Readonly<Record<string, readonly string[]>>;

/**
 * Reads which action of a command is asked for, and refuses options that this action does not take: an option that is
 * passed over in silence does not do what its user thinks.
 *
 * @throws TracewrightError "bad_command_line"
 */
export function actionOf<Table extends ActionTable>(
  { spec, table }: { readonly spec: CommandSpec; readonly table: Table },
  given: string | undefined,
  options: Readonly<Record<string, unknown>>,
): keyof Table & string {
  const actions = Object.keys(table);
  const taken = table[given ?? ""];
  if (given === undefined || taken === undefined) {
    const near = actions.toSorted((a, b) => leven(a, given ?? "") - leven(b, given ?? ""))[0];
    throw usageError("bad_command_line", {
      message: given === undefined ? `${spec.name} needs an action` : `${spec.name} has no such action`,
      expected: `one of ${actions.join(", ")}`,
      ...(given === undefined ? {} : { actual: given as Json }),
      hint: given === undefined ? `${spec.name} --help` : `did you mean ${spec.name} ${near}?`,
    });
  }
  const shared = Object.values(table).reduce((all, names) => all.filter((name) => names.includes(name)));
  for (const [name, option] of Object.entries(spec.options)) {
    const value = options[name];
    const isDefault = value === undefined || value === option.build().defaultValue;
    if (isDefault || taken.includes(name) || shared.includes(name)) continue;
    throw usageError("bad_command_line", {
      message: `${spec.name} ${given} takes no ${option.flags}`,
      hint: `${spec.name} --help`,
    });
  }
  return given;
}

/** The value of an option that an action cannot do without. @throws TracewrightError "bad_command_line" */
export function needed(value: string | undefined, flags: string): string {
  if (value !== undefined) return value;
  throw usageError("bad_command_line", { message: `required option '${flags}' not specified` });
}
