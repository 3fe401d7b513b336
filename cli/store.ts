import { isDigest } from "../lib/core/digest.ts";
import { checkStore } from "../lib/store/check_store.ts";
import { collectGarbage, planGarbage } from "../lib/store/collect_garbage.ts";
import { Store } from "../lib/store/store.ts";
import { actionOf, needed } from "./_action.ts";
import { STORE } from "./_bundle_specs.ts";
import { command, type CommandResult, executeCommand } from "./_command.ts";
import type { OptionValues } from "./_options.ts";
import { usageError } from "./_usage_error.ts";

type Options = OptionValues<typeof STORE.options>;

const TABLE = {
  check: ["store", "readData"],
  gc: ["store", "dryRun"],
  names: ["store"],
  pin: ["store", "name", "digest"],
  forget: ["store", "name"],
} as const;

/** Names that `pin` gives lie below this one, so that they never replace a name of an experiment. */
const PINS = "pins";

function check(store: Store, { readData }: Options): CommandResult {
  const found = checkStore(store, { depth: readData ? "content" : "structure" });
  const { problems, blobs, bytes, actions, refs, leftovers } = found;
  return {
    json: { ...found, problems: problems.map((problem) => ({ ...problem })) },
    lines: [
      ...problems.map(({ code, path, message }) => `${code}  ${path}\n  ${message}`),
      `${blobs} blobs (${bytes} bytes${readData ? ", all hashed" : ""}), ${actions} results, ${refs} names`,
      ...(leftovers === 0
        ? []
        : [`${leftovers} unfinished files; the next command that writes removes them`]),
      problems.length === 0 ? "the store is good" : `${problems.length} problems`,
    ],
    verdict: problems.length === 0 ? "good" : "wrong",
  };
}

function gc(store: Store, { dryRun }: Options): CommandResult {
  const plan = dryRun ? planGarbage(store) : collectGarbage(store);
  const verb = dryRun ? "would remove" : "removed";
  return {
    json: { ...plan, removed: !dryRun },
    lines: [
      ...(dryRun
        ? [...plan.actions.map((key) => `result  ${key}`), ...plan.blobs.map((d) => `blob    ${d}`)]
        : []),
      `${verb} ${plan.blobs.length} blobs (${plan.bytes} bytes) and ${plan.actions.length} results`,
      `${dryRun ? "would keep" : "kept"} ${plan.kept.blobs} blobs (${plan.kept.bytes} bytes) and ` +
      `${plan.kept.actions} results`,
    ],
  };
}

function pin(store: Store, options: Options): CommandResult {
  const name = `${PINS}/${needed(options.name, STORE.options.name.flags)}`;
  const digest = needed(options.digest, STORE.options.digest.flags);
  if (!isDigest(digest)) {
    throw usageError("bad_command_line", {
      message: "a pin keeps what one digest stands for",
      expected: "sha256: and 64 lower-case hexadecimal digits",
      actual: digest,
    });
  }
  store.blobs.hold(); // no collection between the look and the name
  store.blobs.open(digest); // a name for nothing would stop every collection
  store.refs.set(name, digest);
  return { json: { name, digest }, lines: [`${name}  ${digest}`] };
}

function forget(store: Store, options: Options): CommandResult {
  const name = needed(options.name, STORE.options.name.flags);
  const digest = store.refs.list().find((ref) => ref.name === name)?.digest;
  if (digest === undefined) {
    throw usageError("no_such_name", {
      message: "the store has no such name",
      actual: name,
      hint: "store names lists them",
    });
  }
  store.refs.remove(name);
  return {
    json: { name, digest },
    lines: [`forgot ${name}, which was ${digest}; store gc removes what nothing else needs`],
  };
}

function names(store: Store): CommandResult {
  const refs = store.refs.list();
  return {
    json: refs.map((ref) => ({ ...ref })),
    lines: refs.map(({ name, digest }) => `${name}  ${digest}`),
  };
}

/** `store`: looks after the folder of blobs and results. */
export const store = command(STORE, (options, { argument }) => {
  const action = actionOf({ spec: STORE, table: TABLE }, argument, options);
  using opened = Store.open(options.store);
  const work = { check, gc, names, pin, forget }[action];
  return Promise.resolve(work(opened, options));
});

if (import.meta.main) await executeCommand(store);
