import assert from "node:assert/strict";
import { z } from "zod";
import { configError, nearestName, pathText, problemsOf } from "./config_problem.ts";

const schema = z.strictObject({
  learner: z.strictObject({ gamma: z.number().min(0).max(1), epochs: z.int() }),
  cells: z.array(z.strictObject({ kind: z.enum(["plain", "masked"]) })),
});
const good = { learner: { gamma: 1, epochs: 2 }, cells: [{ kind: "plain" }] };

Deno.test("problemsOf() finds nothing wrong with a value that fits", () => {
  assert.deepEqual(problemsOf(schema, good), []);
});

Deno.test("problemsOf() names the nearest key and does not also count it as missing", () => {
  assert.deepEqual(problemsOf(schema, { ...good, learner: { gama: 1, epochs: 2 } }), [{
    code: "unknown_key",
    path: ["learner", "gama"],
    message: "no such key",
    expected: "gamma",
    actual: "gama",
    hint: 'did you mean "gamma"?',
  }]);
});

Deno.test("problemsOf() says where a key belongs that stands in the wrong section", () => {
  const [top] = problemsOf(schema, { ...good, epochs: 3 });
  assert.equal(top?.hint, '"epochs" belongs to learner');
  const [inner] = problemsOf(schema, { ...good, learner: { ...good.learner, cells: [] } });
  assert.equal(inner?.hint, '"cells" belongs to the top level');
});

Deno.test("problemsOf() asks for a whole number where one is needed, and suggests the nearest choice", () => {
  const problems = problemsOf(schema, { learner: { gamma: 1, epochs: "2" }, cells: [{ kind: "maskd" }] });
  assert.deepEqual(problems.map(({ expected, hint }) => [expected, hint]), [
    ["a whole number", undefined],
    ["one of plain, masked", 'did you mean "masked"?'],
  ]);
});

Deno.test("nearestName() finds near names only", () => {
  assert.equal(nearestName("verfy", ["train", "verify"]), "verify");
  assert.equal(nearestName("qwerty", ["train", "verify"]), undefined);
});

Deno.test("pathText() writes keys with points and indices in brackets", () => {
  assert.equal(pathText(["variants", 1, "name"]), "variants[1].name");
  assert.equal(pathText([]), "");
});

Deno.test("configError() gives each problem its place", () => {
  const problem = { code: "wrong_type", path: ["a"], message: "m", expected: 1, actual: 2 } as const;
  const error = configError([problem], () => ({ file: "f.yaml", line: 3, column: 4 }));
  assert.equal(
    error.message,
    'wrong_type: m; at file "f.yaml", line 3, column 4, key "a"; expected 1, got 2',
  );
});
