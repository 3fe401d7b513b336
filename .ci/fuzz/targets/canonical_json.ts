import assert from "node:assert/strict";
import canonicalize from "canonicalize";
import {
  canonicalBytes,
  type CanonicalCode,
  canonicalJson,
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
  '{"-1":0,"0":{},"10":[{"b":1,"é":2}],"9":"","Z":1,"__proto__":{"a":1},"a":[{"y":0,"z":0}],"😀":1,"\uffff":2}',
];

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, item) => Math.max(most, depthOf(item)), 0);
}

function hasNegativeZero(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Object.is(value, -0);
  return Object.values(value).some(hasNegativeZero);
}

/** JSON as the platform's parser sees it; undefined where it is none. */
function parsed(input: Uint8Array): { readonly source: string; readonly value: unknown } | undefined {
  try {
    const source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
    return { source, value: JSON.parse(source) };
  } catch {
    return undefined;
  }
}

/** What another writer of RFC 8785 makes of a value; undefined where it, or one of us, has a reason to refuse. */
function writtenElsewhere({ source, value }: { source: string; value: unknown }): string | undefined {
  // It is recursive without a bound, and passes on lone surrogates and -0, which the RFC and we forbid.
  if (/\[{1000}|(\{"a":){1000}/.test(source) || depthOf(value) > MAX_JSON_DEPTH) return undefined;
  if (/\\ud[89a-f]/i.test(source) || hasNegativeZero(value)) return undefined;
  try {
    return canonicalize(value);
  } catch {
    return undefined; // 1e999
  }
}

/** The strict parser and the writer, against `JSON.parse` and the package `canonicalize`. */
export default target({
  codes: CODES,
  make: jsonInputs(seeds),
  read: parseCanonical,
  hold(value, input) {
    equalBytes(canonicalBytes(value), input, "written again");
    const json = parsed(input);
    assert.deepEqual(value, json?.value);
    assert.equal(
      json && writtenElsewhere(json),
      text(input),
      "another writer writes it differently, or may not",
    );
  },
  refused(input) {
    const json = parsed(input);
    const written = json && writtenElsewhere(json);
    if (json === undefined || written === undefined) return;
    assert.notEqual(written, json.source, "another writer takes it for canonical");
    assert.equal(canonicalJson(json.value), written, "another writer writes it differently");
  },
});
