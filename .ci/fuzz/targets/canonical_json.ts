import assert from "node:assert/strict";
import canonicalize from "canonicalize";
import {
  canonicalBytes,
  type CanonicalCode,
  MAX_JSON_DEPTH,
  parseCanonical,
} from "../../../lib/core/canonical_json.ts";
import { jsonFile, lines, releasedRun, text, textFile } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly CanonicalCode[] = ["not_canonical"];
const run = releasedRun();
const vectors = jsonFile<{ numbers: { text: string }[] }>("fixtures/vectors/canonical_json.json");
const seeds = [
  ...vectors.numbers.map((number) => `[${number.text}]`),
  text(run.manifest),
  lines(run.output("benchmark", "test.jsonl"))[0]!,
  JSON.stringify(JSON.parse(textFile("fixtures/vectors/graph.json"))),
  '{"":"\\u0000\\b\\t\\n\\f\\r\\"\\\\é\u2028😀","a":[[],{},0.5,-1e-7,1e+21,true,false,null]}',
];

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, item) => Math.max(most, depthOf(item)), 0);
}

/** Whether bytes are canonical in the eyes of the platform's parser and of another writer of RFC 8785. */
function canonicalElsewhere(input: Uint8Array): boolean {
  let value: unknown;
  let source: string;
  try {
    source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
    value = JSON.parse(source);
  } catch {
    return false;
  }
  // The other writer is recursive without a bound; it also passes on lone surrogates, which RFC 8785 forbids.
  if (/\[{5000}/.test(source) || depthOf(value) > MAX_JSON_DEPTH || /\\ud[89a-f]/i.test(source)) return false;
  try {
    return canonicalize(value) === source;
  } catch {
    return false; // 1e999
  }
}

/** The strict parser, against `JSON.parse` and the package `canonicalize`. */
export default target({
  codes: CODES,
  inputs: 4000,
  make: jsonInputs(seeds),
  read: parseCanonical,
  hold(value, input) {
    equalBytes(canonicalBytes(value), input, "written again");
    assert.deepEqual(value, JSON.parse(text(input)));
    assert.ok(canonicalElsewhere(input), "another writer writes it differently");
  },
  refused(input) {
    assert.ok(!canonicalElsewhere(input), "another writer takes it for canonical");
  },
});
