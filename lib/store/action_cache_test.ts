import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { type Digest, digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf, type Outputs } from "./action_record.ts";
import { FaultyLayer } from "./faulty_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";

const encoder = new TextEncoder();

function action(name: string, seed = 17): ActionRecord {
  return {
    schema: ACTION_SCHEMA,
    stage: { name, version: 1, code: digestOf(name) },
    numerics: ["exact-f64-v1"],
    params: { seed },
    inputs: { train: digestOf("train") },
  };
}

function put(store: Store, text: string, media_type = "application/jsonl"): Outputs {
  return { rows: { ...store.blobs.put(encoder.encode(text)), media_type } };
}

Deno.test("keyOf() is the digest of the action's canonical JSON", () => {
  const record: ActionRecord = {
    schema: ACTION_SCHEMA,
    stage: { name: "s", version: 2, code: digestOf("code") },
    numerics: ["a", "b"],
    params: { z: 1, y: [true, null] },
    inputs: { i: digestOf("in") },
  };
  const text = `{"inputs":{"i":"${digestOf("in")}"},"numerics":["a","b"],"params":{"y":[true,null],"z":1},` +
    `"schema":"tracewright.action.v1","stage":{"code":"${digestOf("code")}","name":"s","version":2}}`;
  equal(keyOf(record), digestOf(text));
});

Deno.test("ActionCache.publish() records once, and the same again is the same", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  const outputs = put(store, "a\n");
  equal(store.actions.get(keyOf(action("bc"))), undefined);
  equal(store.actions.publish(action("bc"), outputs), "recorded");
  equal(store.actions.publish(action("bc"), outputs), "same");
  deepEqual(store.actions.find(keyOf(action("bc"))), {
    key: keyOf(action("bc")),
    action: action("bc"),
    outputs,
  });
});

Deno.test("ActionCache.publish() stops at other bytes for a known key and shows the first differing line", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  const before = put(store, '{"a":1}\n{"b":2}\n{"c":3}\n');
  const after = put(store, '{"a":1}\n{"b":7}\n{"c":3}\n');
  store.actions.publish(action("bc"), before);
  throws(() => store.actions.publish(action("bc"), after, { node: "bc/17" }), (error) => {
    ok(hasCode(error, "impure_stage"));
    const { stage, node, output, line, byte, recorded, now, expected, actual } = error.details;
    deepEqual({ stage, node, output, line, byte, recorded, now, expected, actual }, {
      stage: "bc",
      node: "bc/17",
      output: "rows",
      line: 2,
      byte: 13, // 8 bytes of the first line, then {"b": has 5
      recorded: '{"b":2}',
      now: '{"b":7}',
      expected: before["rows"]?.digest,
      actual: after["rows"]?.digest,
    });
    return true;
  });
  deepEqual(store.actions.get(keyOf(action("bc")))?.outputs, before);
});

Deno.test("ActionCache.publish() gives the byte where binary outputs part, and notices a shorter one", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  store.actions.publish(action("bc"), put(store, "abcdef", "application/octet-stream"));
  const place = (text: string) => {
    try {
      store.actions.publish(action("bc"), put(store, text, "application/octet-stream"));
    } catch (error) {
      if (hasCode(error, "impure_stage")) return [error.details["byte"], error.details["line"]];
    }
    return undefined;
  };
  deepEqual(place("abXdef"), [2, undefined]);
  deepEqual(place("abcd"), [4, undefined]);
  deepEqual(place("abcdefg"), [6, undefined]);
});

Deno.test("ActionCache.publish() shows the differing place inside a very long line", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  store.actions.publish(action("bc"), put(store, "x".repeat(5000) + "A" + "y".repeat(5000)));
  throws(
    () => store.actions.publish(action("bc"), put(store, "x".repeat(5000) + "B" + "y".repeat(5000))),
    (error) =>
      hasCode(error, "impure_stage") && error.details["now"] === "x".repeat(80) + "B" + "y".repeat(79),
  );
});

Deno.test("ActionCache.publish() counts a missing output and another media type as other bytes", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  const outputs = put(store, "a\n");
  store.actions.publish(action("bc"), outputs);
  throws(() => store.actions.publish(action("bc"), {}), (error) => hasCode(error, "impure_stage"));
  throws(
    () => store.actions.publish(action("bc"), put(store, "a\n", "text/plain")),
    (error) => hasCode(error, "impure_stage"),
  );
});

Deno.test("ActionCache.publish() compares when it loses the race to record", () => {
  using folder = scratchFolder();
  using rival = Store.open(folder.path);
  let rivalText = "same\n";
  const layer = new FaultyLayer((operation, path) => {
    // The rival publishes after this store has found nothing and before it gives its file the name.
    if (operation === "link" && path.includes("/actions/")) {
      rival.actions.publish(action(rivalText === "same\n" ? "one" : "two"), put(rival, rivalText));
    }
    return undefined;
  });
  using store = Store.open(folder.path, { layer });
  equal(store.actions.publish(action("one"), put(store, "same\n")), "same");
  rivalText = "other\n";
  throws(
    () => store.actions.publish(action("two"), put(store, "mine\n")),
    (error) => hasCode(error, "impure_stage") && error.details.expected === digestOf("other\n"),
  );
});

Deno.test("ActionCache.find() finds nothing where an output is gone, and the action stands", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  store.actions.publish(action("bc"), put(store, "a\n"));
  Deno.removeSync(store.blobs.blobPath(digestOf("a\n")));
  equal(store.actions.find(keyOf(action("bc"))), undefined);
  ok(store.actions.get(keyOf(action("bc"))));
});

Deno.test("ActionCache.get() refuses a file that is no record, not canonical, or of another key", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  store.actions.publish(action("bc"), put(store, "a\n"));
  const path = store.actions.path(keyOf(action("bc")));
  const text = Deno.readTextFileSync(path);
  for (
    const edited of [
      "",
      "{}",
      text + "\n",
      text.replace('"seed":17', '"seed":18'),
      text.replace("rows", "__proto__"),
    ]
  ) {
    Deno.writeTextFileSync(path, edited);
    throws(() => store.actions.get(keyOf(action("bc"))), (error) => hasCode(error, "bad_action"), edited);
  }
});

Deno.test("ActionCache.list() gives everything by key and refuses strange files", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  deepEqual(store.actions.list(), []);
  for (const seed of [1, 2, 3]) store.actions.publish(action("bc", seed), put(store, `${seed}`));
  const keys: Digest[] = store.actions.list().map(({ key }) => key);
  deepEqual(keys, [1, 2, 3].map((seed) => keyOf(action("bc", seed))).sort());
  ok(store.actions.list().every(({ recorded }) => recorded > 0));
  Deno.writeTextFileSync(`${folder.path}/actions/notes.txt`, "");
  throws(() => store.actions.list(), (error) => hasCode(error, "bad_action"));
});
