import { deepEqual, equal, throws } from "node:assert/strict";
import { z } from "zod";
import { hasCode } from "../core/error.ts";
import { checkInputNames, defineStage, inputPort, type Ports } from "./define_stage.ts";

const TEXT = { media_type: "text/plain" };

function define(change: { name?: string; version?: number; inputs?: Ports; outputs?: Ports } = {}) {
  return defineStage({
    name: "stage",
    version: 1,
    params: z.strictObject({ rate: z.number().default(0.5) }),
    inputs: { one: TEXT, "many/*": TEXT, "few/*": { ...TEXT, optional: true } } as Ports,
    outputs: { out: TEXT } as Ports,
    run() {},
    ...change,
  });
}

Deno.test("defineStage() refuses names, versions, ports and media types that are not allowed", () => {
  const bad = [
    { name: "Stage" },
    { name: "a/b" },
    { name: "" },
    { version: 0 },
    { version: 1.5 },
    { outputs: {} },
    { outputs: { "../x": TEXT } },
    { outputs: { "x/*": TEXT } },
    { inputs: { "*": TEXT } },
    { inputs: { "X/*": TEXT } },
    { inputs: { x: { media_type: "text" } } },
  ];
  for (const change of bad) {
    throws(() => define(change), (error) => hasCode(error, "bad_stage"), JSON.stringify(change));
  }
});

Deno.test("Stage.parseParams() fills in defaults and gives the same out for what it gave out", () => {
  const stage = define();
  deepEqual(stage.parseParams({}), { rate: 0.5 });
  deepEqual(stage.parseParams(stage.parseParams({})), { rate: 0.5 });
});

Deno.test("Stage.parseParams() refuses unknown keys, wrong types and what is not JSON", () => {
  const stage = define();
  throws(
    () => stage.parseParams({ rate: "x" }),
    (error) => hasCode(error, "bad_params") && error.details["field"] === "rate",
  );
  for (const value of [{ speed: 1 }, { rate: NaN }, { rate: -0 }, null, [], 7]) {
    throws(() => stage.parseParams(value), (error) => hasCode(error, "bad_params"));
  }
  const dated = defineStage({
    name: "d",
    version: 1,
    params: z.date(),
    inputs: {},
    outputs: { o: TEXT },
    run() {},
  });
  throws(() => dated.parseParams(new Date(0)), (error) => hasCode(error, "bad_params"));
});

Deno.test("Stage.parseParams() keeps no reference to what it was given", () => {
  const list = [1];
  const stage = defineStage({
    name: "s",
    version: 1,
    params: z.custom<{ list: number[] }>(() => true),
    inputs: {},
    outputs: { o: TEXT },
    run() {},
  });
  const params = stage.parseParams({ list });
  list.push(2);
  deepEqual(params, { list: [1] });
});

Deno.test("inputPort() finds exact names and members of families", () => {
  const stage = define();
  equal(inputPort(stage, "one"), stage.inputs["one"]);
  equal(inputPort(stage, "many/a"), stage.inputs["many/*"]);
  equal(inputPort(stage, "many/a/b"), stage.inputs["many/*"]);
  for (const name of ["two", "many", "one/x", "toString"]) equal(inputPort(stage, name), undefined);
});

Deno.test("checkInputNames() wants every input, at least one of a family, and nothing else", () => {
  const stage = define();
  checkInputNames(stage, ["one", "many/a", "many/b"]);
  checkInputNames(stage, ["one", "many/a", "few/x"]);
  const missing = (names: string[], input: string) =>
    throws(
      () => checkInputNames(stage, names),
      (error) => hasCode(error, "missing_input") && error.details["input"] === input,
    );
  missing(["many/a"], "one");
  missing(["one"], "many/*");
  for (const extra of ["two", "many", "many/*"]) {
    throws(
      () => checkInputNames(stage, ["one", "many/a", extra]),
      (error) => hasCode(error, "unknown_input"),
    );
  }
});
