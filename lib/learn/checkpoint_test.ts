import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { actorCriticLayout } from "./actor_critic.ts";
import { type Checkpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { estimatorLayout } from "./estimator.ts";
import { parameterCount } from "./parameter_block.ts";

const encoderFingerprint = digestOf("an encoder");

function actorCritic(): Checkpoint {
  const shape = { stateWidth: 6, actionWidth: 5, hidden: 8 };
  const stream = new RandomStream(1);
  const length = parameterCount(actorCriticLayout(shape));
  const parameters = Float32Array.from({ length }, () => stream.normal()).with(3, -0).with(4, 1e-42);
  return { kind: "actor_critic", ...shape, encoderFingerprint, parameters };
}

function estimator(): Checkpoint {
  const parameters = new Float32Array(parameterCount(estimatorLayout(6))).fill(0.5);
  return { kind: "estimator", stateWidth: 6, actionWidth: 0, hidden: 64, encoderFingerprint, parameters };
}

/** The bytes of a checkpoint whose header was edited. */
function edited(checkpoint: Checkpoint, edit: (header: Record<string, unknown>) => unknown): Uint8Array {
  const bytes = writeCheckpoint(checkpoint);
  const end = bytes.indexOf(10);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const line = new TextEncoder().encode(canonicalJson(edit(header) ?? header));
  return Uint8Array.of(...line, 10, ...bytes.subarray(end + 1));
}

Deno.test("readCheckpoint() gives back what writeCheckpoint() was given, to the bit", () => {
  for (const checkpoint of [actorCritic(), estimator()]) {
    const read = readCheckpoint(writeCheckpoint(checkpoint), checkpoint);
    assert.deepEqual({ ...read, parameters: 0 }, { ...checkpoint, parameters: 0 });
    assert.deepEqual(new Uint32Array(read.parameters.buffer), new Uint32Array(checkpoint.parameters.buffer));
    // also from the middle of a larger buffer, at an odd address
    const bytes = writeCheckpoint(checkpoint);
    const held = new Uint8Array(bytes.length + 3);
    held.set(bytes, 1);
    assert.deepEqual(writeCheckpoint(readCheckpoint(held.subarray(1, bytes.length + 1))), bytes);
  }
});

Deno.test("writeCheckpoint() is one line of canonical JSON and little-endian float32", () => {
  const bytes = writeCheckpoint(estimator());
  const end = bytes.indexOf(10);
  const header = new TextDecoder().decode(bytes.subarray(0, end));
  assert.ok(header.startsWith(`{"action_width":0,"encoder_fingerprint":"sha256:`));
  assert.ok(header.includes(`"schema":"tracewright.checkpoint.v1"`));
  assert.deepEqual(bytes.slice(end + 1, end + 5), Uint8Array.of(0, 0, 0, 0x3f)); // 0.5
  assert.equal(bytes.length, end + 1 + 4 * parameterCount(estimatorLayout(6)));
});

Deno.test("readCheckpoint() refuses every other file", () => {
  const bytes = writeCheckpoint(actorCritic());
  const refused = (damaged: Uint8Array, message: string) =>
    assert.throws(() => readCheckpoint(damaged), (e) => hasCode(e, "bad_checkpoint"), message);
  const body = bytes.indexOf(10) + 1;
  refused(new Uint8Array(0), "empty");
  refused(bytes.subarray(0, body - 1), "no newline");
  refused(bytes.subarray(0, bytes.length - 1), "cut off inside a number");
  refused(bytes.subarray(0, bytes.length - 4), "a parameter short");
  refused(Uint8Array.of(...bytes, 0, 0, 0, 0), "a parameter too many");
  refused(Uint8Array.of(32, ...bytes), "white space");
  const infinite = bytes.slice();
  infinite.set([0, 0, 0x80, 0x7f], body);
  refused(infinite, "an infinity");
  for (
    const edit of [
      { schema: "tracewright.checkpoint.v2" },
      { kind: "estimator" },
      { kind: "critic" },
      { numerics: "f64" },
      { hidden: 16 },
      { hidden: "8" },
      { encoder_fingerprint: "sha256:00" },
      { layout: [] },
      { comment: "an unknown field" },
    ]
  ) {
    refused(edited(actorCritic(), (header) => ({ ...header, ...edit })), canonicalJson(edit));
  }
  refused(
    edited(actorCritic(), (header) => void ((header.layout as { name: string }[])[0]!.name = "w")),
    "a name",
  );
  refused(edited(estimator(), (header) => ({ ...header, hidden: 32 })), "an estimator of another width");
  refused(edited(estimator(), (header) => ({ ...header, action_width: 5 })), "an estimator with actions");
});

Deno.test("readCheckpoint() refuses a checkpoint of something else than expected, naming the field", () => {
  const bytes = writeCheckpoint(actorCritic());
  for (
    const expected of [
      { kind: "estimator" },
      { stateWidth: 7 },
      { actionWidth: 6 },
      { hidden: 16 },
      { encoderFingerprint: digestOf("another encoder") },
    ] as const
  ) {
    assert.throws(
      () => readCheckpoint(bytes, expected),
      (e) => hasCode(e, "checkpoint_mismatch") && e.details.field === Object.keys(expected)[0],
    );
  }
});

Deno.test("writeCheckpoint() refuses parameters that do not fit or are not finite", () => {
  const good = actorCritic();
  for (
    const bad of [
      { parameters: good.parameters.slice(1) },
      { parameters: good.parameters.with(0, NaN) },
      { actionWidth: 0 },
      { kind: "estimator" as const },
    ]
  ) {
    assert.throws(() => writeCheckpoint({ ...good, ...bad }), (e) => hasCode(e, "bad_checkpoint"));
  }
});
