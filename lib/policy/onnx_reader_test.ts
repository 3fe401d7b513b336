import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { PolicyCode } from "./_error.ts";
import {
  axisAttribute,
  encodeModel,
  type GraphInit,
  type ModelInit,
  modelInit,
  portInit,
  rawDoubles,
} from "./_onnx_oracle.ts";
import { randomActorCritic } from "./_random_network.ts";
import { admit } from "./admission.ts";
import { exactGraph, writeExactNetwork } from "./exact_graph.ts";
import { ONNX_LIMITS, readOnnx } from "./onnx_reader.ts";

const NETWORK = randomActorCritic({ stateWidth: 3, actionWidth: 2, hidden: 2 }, new RandomStream(1));
const GOOD = writeExactNetwork(NETWORK);

function refused(bytes: Uint8Array, code: PolicyCode, what: string): void {
  for (const gate of [readOnnx, admit]) {
    assert.throws(() => gate(bytes), (error) => {
      assert.ok(hasCode(error, code), `${what}: ${error}`);
      return true;
    }, what);
  }
}

Deno.test("readOnnx() reads back what writeOnnx() wrote", () => {
  assert.deepEqual(readOnnx(GOOD), exactGraph(NETWORK));
});

/** One small graph, y = x + w, changed. */
function graphWith(graph: GraphInit, model: ModelInit = {}): Uint8Array {
  return encodeModel({
    irVersion: 8n,
    opsetImport: [{ domain: "", version: 17n }],
    ...model,
    graph: {
      name: "g",
      node: [{ opType: "Add", input: ["x", "w"], output: ["y"] }],
      initializer: [{ name: "w", dataType: 11, dims: [1n], rawData: rawDoubles(1) }],
      input: [portInit({ name: "x", type: "float64", dims: ["N", 1] })],
      output: [portInit({ name: "y", type: "float64", dims: ["N", 1] })],
      ...graph,
    },
  });
}

const tensor = (parts: object) => ({
  initializer: [{ name: "w", dataType: 11, dims: [1n], rawData: rawDoubles(1), ...parts }],
});
const node = (parts: object) => ({ node: [{ opType: "Add", input: ["x", "w"], output: ["y"], ...parts }] });
const external = (location: string) =>
  tensor({
    rawData: new Uint8Array(0),
    dataLocation: 1,
    externalData: [{ key: "location", value: location }, { key: "offset", value: "0" }],
  });
const subgraph = { name: "body", node: [{ opType: "Relu", input: ["v"], output: ["v2"] }] };

const BAD_GRAPHS: [what: string, bytes: Uint8Array, code: PolicyCode][] = [
  ["external data, relative", graphWith(external("secret.bin")), "onnx_unknown_field"],
  ["external data, absolute", graphWith(external("/etc/passwd")), "onnx_unknown_field"],
  ["external data, endless", graphWith(external("/dev/zero")), "onnx_unknown_field"],
  ["external data, memory address", graphWith(external("*/_ORT_MEM_ADDR_/*")), "onnx_unknown_field"],
  [
    "an endless Loop",
    graphWith(
      node({ opType: "Loop", input: ["", "w", "x"], attribute: [{ name: "body", type: 5, g: subgraph }] }),
    ),
    "onnx_unknown_field",
  ],
  ["an If", graphWith(node({ opType: "If", input: ["w"] })), "onnx_bad_operator"],
  ["a name that every object has", graphWith(node({ opType: "constructor" })), "onnx_bad_operator"],
  [
    "a contributed operator",
    graphWith(node({ opType: "FusedMatMul", domain: "com.microsoft" })),
    "onnx_unknown_field",
  ],
  ["ConstantOfShape", graphWith(node({ opType: "ConstantOfShape", input: ["w"] })), "onnx_bad_operator"],
  ["Exp", graphWith(node({ opType: "Exp", input: ["x"] })), "onnx_bad_operator"],
  ["a node with a name", graphWith(node({ name: "n" })), "onnx_unknown_field"],
  ["a node with documentation", graphWith(node({ docString: "d" })), "onnx_unknown_field"],
  ["an Add of three", graphWith(node({ input: ["x", "w", "w"] })), "onnx_bad_operator"],
  ["an Add of one", graphWith(node({ input: ["x"] })), "onnx_bad_operator"],
  ["five inputs", graphWith(node({ opType: "Concat", input: ["x", "x", "x", "x", "x"] })), "onnx_too_many"],
  ["two outputs", graphWith(node({ output: ["y", "z"] })), "onnx_too_many"],
  ["no output", graphWith(node({ output: [] })), "onnx_bad_operator"],
  [
    "an attribute where none belongs",
    graphWith(node({ attribute: [axisAttribute(0)] })),
    "onnx_bad_operator",
  ],
  ["a missing attribute", graphWith(node({ opType: "Gather" })), "onnx_bad_operator"],
  ["axis 2", graphWith(node({ opType: "Gather", attribute: [axisAttribute(2)] })), "onnx_bad_operator"],
  ["axis -1", graphWith(node({ opType: "Gather", attribute: [axisAttribute(-1)] })), "onnx_bad_varint"],
  [
    "another attribute",
    graphWith(node({ opType: "Gather", attribute: [{ name: "exis", i: 0n, type: 2 }] })),
    "onnx_bad_operator",
  ],
  [
    "a tensor attribute",
    graphWith(node({ attribute: [{ name: "axis", type: 4, t: { dataType: 11, dims: [1n] } }] })),
    "onnx_unknown_field",
  ],
  ["float32 weights", graphWith(tensor({ dataType: 1, rawData: new Uint8Array(4) })), "onnx_bad_type"],
  [
    "weights outside of raw data",
    graphWith(tensor({ rawData: new Uint8Array(0), doubleData: [1] })),
    "onnx_unknown_field",
  ],
  ["7 bytes for a double", graphWith(tensor({ rawData: new Uint8Array(7) })), "onnx_bad_tensor"],
  ["2^28 elements in 8 bytes", graphWith(tensor({ dims: [1n << 28n] })), "onnx_bad_tensor"],
  ["dimensions that overflow", graphWith(tensor({ dims: [1n << 32n, 1n << 32n] })), "onnx_bad_tensor"],
  ["a dimension of 2^60", graphWith(tensor({ dims: [1n << 60n] })), "onnx_bad_varint"],
  ["a negative dimension", graphWith(tensor({ dims: [-1n] })), "onnx_bad_varint"],
  ["three dimensions", graphWith(tensor({ dims: [1n, 1n, 1n] })), "onnx_too_many"],
  ["tensor documentation", graphWith(tensor({ docString: "d" })), "onnx_unknown_field"],
  ["a name with a slash", graphWith(tensor({ name: "../w" })), "onnx_bad_name"],
  ["a name of 65 letters", graphWith(tensor({ name: "w".repeat(65) })), "onnx_bad_name"],
  ["a name that is not ASCII", graphWith(tensor({ name: "wé" })), "onnx_bad_name"],
  ["an undefined input", graphWith(node({ input: ["x", "nope"] })), "onnx_bad_graph"],
  ["an empty input", graphWith(node({ input: ["x", ""] })), "onnx_bad_graph"],
  ["a cycle", graphWith(node({ input: ["x", "y"] })), "onnx_bad_graph"],
  ["an output that redefines an input", graphWith(node({ output: ["x"] })), "onnx_bad_graph"],
  [
    "an undefined graph output",
    graphWith({ output: [portInit({ name: "z", type: "float64", dims: [1] })] }),
    "onnx_bad_graph",
  ],
  [
    "a graph output twice",
    graphWith({ output: [1, 2].map(() => portInit({ name: "y", type: "float64", dims: [1] })) }),
    "onnx_bad_graph",
  ],
  ["an input that is a weight too", graphWith(tensor({ name: "x" })), "onnx_bad_graph"],
  [
    "a float32 input",
    graphWith({ input: [{ name: "x", type: { value: { case: "tensorType", value: { elemType: 1 } } } }] }),
    "onnx_bad_type",
  ],
  ["an untyped input", graphWith({ input: [{ name: "x" }] }), "onnx_bad_type"],
  [
    "a sequence input",
    graphWith({ input: [{ name: "x", type: { value: { case: "sequenceType", value: {} } } }] }),
    "onnx_unknown_field",
  ],
  [
    "a dimension that is neither number nor name",
    graphWith({
      input: [{
        name: "x",
        type: { value: { case: "tensorType", value: { elemType: 11, shape: { dim: [{}] } } } },
      }],
    }),
    "onnx_bad_type",
  ],
  [
    "five inputs of a graph",
    graphWith({ input: "abcde".split("").map((name) => portInit({ name, type: "float64", dims: [1] })) }),
    "onnx_too_many",
  ],
  ["a sparse tensor", graphWith({ sparseInitializer: [{ dims: [1n] }] }), "onnx_unknown_field"],
  [
    "shape hints",
    graphWith({ valueInfo: [portInit({ name: "x", type: "float64", dims: [1] })] }),
    "onnx_unknown_field",
  ],
  ["graph documentation", graphWith({ docString: "d" }), "onnx_unknown_field"],
  [
    "65 nodes",
    graphWith({
      node: Array.from({ length: 65 }, (_, i) => ({ opType: "Relu", input: ["x"], output: ["r" + i] })),
    }),
    "onnx_too_many",
  ],
  [
    "33 tensors",
    graphWith({
      initializer: Array.from(
        { length: 33 },
        (_, i) => ({ name: "w" + i, dataType: 11, dims: [1n], rawData: rawDoubles(1) }),
      ),
    }),
    "onnx_too_many",
  ],
  ["IR version 7", graphWith({}, { irVersion: 7n }), "onnx_bad_version"],
  ["no IR version", encodeModel({ ...modelInit(exactGraph(NETWORK)), irVersion: 0n }), "onnx_bad_version"],
  ["operator set 18", graphWith({}, { opsetImport: [{ domain: "", version: 18n }] }), "onnx_bad_version"],
  ["no operator set", graphWith({}, { opsetImport: [] }), "onnx_bad_version"],
  [
    "another domain",
    graphWith({}, { opsetImport: [{ domain: "ai.onnx.ml", version: 17n }] }),
    "onnx_bad_version",
  ],
  [
    "two domains",
    graphWith({}, { opsetImport: [{ domain: "", version: 17n }, { domain: "com.microsoft", version: 1n }] }),
    "onnx_field_order",
  ],
  ["a producer", graphWith({}, { producerName: "p" }), "onnx_unknown_field"],
  ["metadata", graphWith({}, { metadataProps: [{ key: "k", value: "v" }] }), "onnx_unknown_field"],
  ["functions", graphWith({}, { functions: [{ name: "f" }] }), "onnx_unknown_field"],
];

for (const [what, bytes, code] of BAD_GRAPHS) {
  Deno.test(`readOnnx() refuses ${what} as ${code}`, () => refused(bytes, code, what));
}

Deno.test("readOnnx() would read the small graph unchanged, which is not ours all the same", () => {
  assert.equal(readOnnx(graphWith({})).nodes.length, 1);
  assert.throws(() => admit(graphWith({})), (error) => hasCode(error, "graph_not_ours"));
});

Deno.test("readOnnx() refuses files that are not one message in its one spelling", () => {
  const edited = (at: number, ...bytes: number[]) => Uint8Array.from([...GOOD.slice(0, at), ...bytes]);
  const appended = (...bytes: number[]) => Uint8Array.from([...GOOD, ...bytes]);
  refused(new Uint8Array(0), "onnx_bad_version", "nothing");
  refused(new Uint8Array(1000), "onnx_unknown_field", "zeros");
  refused(new TextEncoder().encode("hello world, not a graph"), "onnx_unknown_field", "text");
  refused(appended(1, 2, 3, 4), "onnx_unknown_field", "trailing bytes");
  refused(appended(0x40), "onnx_wire_type", "a trailing tag of another wire type");
  refused(appended(0x42), "onnx_field_order", "a trailing tag");
  refused(appended(...GOOD), "onnx_field_order", "two files in one");
  refused(appended(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), "onnx_bad_varint", "a huge tag");
  refused(Uint8Array.of(0x08, 0x88, 0x00, ...GOOD.slice(2)), "onnx_bad_varint", "8 in two bytes");
  refused(Uint8Array.of(0x88, 0x00, ...GOOD.slice(1)), "onnx_bad_varint", "a tag in two bytes");
  refused(Uint8Array.of(0x08, 8, ...GOOD), "onnx_field_order", "a field twice");
  refused(Uint8Array.of(...GOOD.slice(2), 0x08, 8), "onnx_field_order", "fields out of order");
  refused(Uint8Array.of(0x0a, 1, 8, ...GOOD.slice(2)), "onnx_wire_type", "a number as a string");
  refused(edited(3, 0xff, 0xff, 0xff, 0x7f), "onnx_truncated", "a length past the end");
  for (const length of [1, 2, 3, 10, 100, GOOD.length >> 1, GOOD.length - 1]) {
    refused(GOOD.slice(0, length), length === 2 ? "onnx_bad_version" : "onnx_truncated", `${length} bytes`);
  }
});

Deno.test("readOnnx() refuses a file above the limit before it looks at it", () => {
  refused(new Uint8Array(ONNX_LIMITS.bytes + 1), "onnx_too_large", "4 MiB and one byte");
});

Deno.test("readOnnx() refuses a name that is not UTF-8", () => {
  const bytes = GOOD.slice();
  const at = bytes.indexOf("s".charCodeAt(0));
  bytes[at] = 0xff;
  refused(bytes, "onnx_bad_name", "0xff");
});
