import { deepEqual, equal, throws } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";

Deno.test("Refs.set() replaces a name as a whole and get() reads it", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  equal(store.refs.get("runs/smoke"), undefined);
  store.refs.set("runs/smoke", digestOf("a"));
  store.refs.set("runs/smoke", digestOf("b"));
  store.refs.set("pins/x", digestOf("c"));
  equal(store.refs.get("runs/smoke"), digestOf("b"));
  deepEqual(store.refs.list(), [
    { name: "pins/x", digest: digestOf("c") },
    { name: "runs/smoke", digest: digestOf("b") },
  ]);
  deepEqual(store.refs.list("runs"), [{ name: "runs/smoke", digest: digestOf("b") }]);
  store.refs.remove("runs/smoke");
  equal(store.refs.get("runs/smoke"), undefined);
});

Deno.test("Refs.get() refuses a file that holds no digest, and names that leave the folder", () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  store.refs.set("a", digestOf("a"));
  for (const text of ["", "sha256:00\n", digestOf("a"), digestOf("a") + "\n\n"]) {
    Deno.writeTextFileSync(`${folder.path}/refs/a`, text);
    throws(() => store.refs.get("a"), (error) => hasCode(error, "bad_ref"));
  }
  throws(() => store.refs.set("../a", digestOf("a")), (error) => hasCode(error, "path_not_allowed"));
});
