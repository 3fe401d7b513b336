import assert from "node:assert/strict";
import { stringify } from "yaml";
import { canonicalJson } from "../../../lib/core/canonical_json.ts";
import { configProblems, parseConfig } from "../../../lib/pipeline/config.ts";
import type { ConfigCode } from "../../../lib/pipeline/config_problem.ts";
import { preregistrationProblems } from "../../../lib/pipeline/preregistration.ts";
import { readYaml } from "../../../lib/pipeline/yaml_config.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { bytes, text, textFile } from "../corpus.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { mutateJson } from "../mutate_json.ts";
import { target } from "../target.ts";

const CODES: readonly ConfigCode[] = [
  "unknown_key",
  "missing_key",
  "duplicate_key",
  "wrong_type",
  "wrong_value",
  "not_finite",
  "out_of_range",
  "inconsistent",
  "yaml_syntax",
  "yaml_feature",
  "config_too_large",
  "config_too_deep",
];
const files = ["smoke", "full", "full-frozen", "preregistration"].map((name) =>
  textFile(`configs/${name}.yaml`)
);
const seeds = files.map(bytes);
const trees = files.map((file) => JSON.stringify(readYaml(file, { file: "", problemsOf: () => [] })));

/** What YAML has and configs have not, and what parsers of it stumble over. */
const PIECES = [
  "&a [*a]",
  "*a",
  "&a x",
  "!!binary AAAA",
  "!!set {a, b}",
  "<<: *a\n",
  "? [a, b]\n: c\n",
  "---\n",
  "...\n",
  "%YAML 1.1\n---\n",
  "%TAG ! tag:x,2000:\n",
  "|\n  a\n  b\n",
  ">-9\n a\n",
  "# c\n",
  "\t",
  "\r\n",
  "\u0085",
  "\ufeff",
  "0o17",
  "0x1F",
  ".inf",
  ".nan",
  "-0",
  "1_000",
  "2001-01-01",
  "yes",
  "~",
  '"\\x41\\u0041\\U00000041\\q"',
  "'a''b'",
  "{a: 1, a: 2}",
  "- ",
  "? ",
  ": ",
  ": :",
  "__proto__: 1\n",
  "constructor: {prototype: 1}\n",
];
const DEEP = ["[", "{a: ", "- ", "? ", "[[],", "{[", "- - - ", "!a ", "&a ", "a:\n ", "'", '"', "|", "* "];

function pieces(file: string, random: RandomStream): string {
  for (let left = 1 + random.integer(3); left > 0; left--) {
    const at = random.integer(file.length + 1);
    const piece = random.integer(4) === 0
      ? random.pick(DEEP).repeat(1 << random.integer(15)).slice(0, 66_000)
      : random.pick(PIECES).repeat(random.integer(8) === 0 ? 1 << random.integer(9) : 1);
    file = file.slice(0, at) + piece +
      file.slice(random.integer(2) === 0 ? at : random.integer(file.length + 1));
  }
  return file;
}

const isRegistration = (value: unknown) => typeof value === "object" && value !== null && "question" in value;
const problemsOf = (value: unknown) =>
  isRegistration(value) ? preregistrationProblems(value) : configProblems(value);

/** Settings as people write them. */
export default target({
  codes: CODES,
  make(random) {
    const index = random.integer(files.length);
    switch (random.integer(5)) {
      case 0:
        return mutateBytes(seeds[index]!, seeds, random);
      case 1:
        return bytes(mutateJson(trees[index]!, trees, random)); // JSON is YAML, nearly
      case 2:
        try {
          return bytes(stringify(JSON.parse(mutateJson(trees[index]!, trees, random))));
        } catch {
          return seeds[index]!;
        }
      case 3:
        return bytes(pieces("", random));
      default:
        return bytes(pieces(files[index]!, random));
    }
  },
  read: (input) => readYaml<unknown>(text(input), { file: "fuzzed.yaml", problemsOf }),
  hold(value) {
    const json = canonicalJson(value);
    assert.deepEqual(
      readYaml(json, { file: "again.yaml", problemsOf }),
      value,
      "as JSON it is another config",
    );
    if (!isRegistration(value)) assert.equal(canonicalJson(parseConfig(JSON.parse(json))), json);
  },
});
