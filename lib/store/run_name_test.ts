import { equal, throws } from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { isRunName, MAX_NAME, parseRunName } from "./run_name.ts";

Deno.test("isRunName() accepts relative lower-case names", () => {
  for (
    const name of [
      "a",
      "bc/17",
      "ppo/e/17",
      "report.md",
      "metrics/metrics.json",
      "x-1_y.z",
      "0",
      "console",
      "com10",
    ]
  ) {
    equal(isRunName(name), true, name);
  }
  equal(isRunName("a".repeat(MAX_NAME)), true);
});

Deno.test("isRunName() refuses what is not the same path on every system", () => {
  const refused = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    "./a",
    ".hidden",
    "a.",
    "a./b",
    "A",
    "a b",
    "a\\b",
    "c:/a",
    "ä",
    "a\0",
    "a\n",
    "_x",
    "__proto__",
    "-x",
    "con",
    "nul.txt",
    "a/aux",
    "com1",
    "lpt9.md",
    "a".repeat(MAX_NAME + 1),
  ];
  for (const name of refused) equal(isRunName(name), false, JSON.stringify(name));
});

Deno.test("parseRunName() names the place and the name", () => {
  throws(
    () => parseRunName("../x", { node: "bc" }),
    (error) =>
      hasCode(error, "path_not_allowed") && error.details["node"] === "bc" && error.details.actual === "../x",
  );
});
