import { deepEqual, equal } from "node:assert/strict";
import { z } from "zod";
import { schemaProblem } from "./schema_problem.ts";

const schema = z.strictObject({ list: z.array(z.string()) });
const problem = (value: unknown) => schemaProblem(schema.safeParse(value).error);

Deno.test("schemaProblem() names the first field that is wrong, and no other", () => {
  const message = "Invalid input: expected string, received number";
  deepEqual(problem({ list: ["a", 1, 2, 3] }), { field: "list.1", message });
  deepEqual(problem(7), { field: "", message: "Invalid input: expected object, received number" });
  deepEqual(schemaProblem(new Error("no JSON")), { field: "", message: "no JSON" });
  deepEqual(schemaProblem("no error"), { field: "", message: "no error" });
});

Deno.test("schemaProblem() is short, however much is wrong", () => {
  equal(problem({ list: Array(100_000).fill(1) }).message.length, 47);
  equal(problem({ list: [], ["x".repeat(100_000)]: 1 }).message.length, 300);
});
