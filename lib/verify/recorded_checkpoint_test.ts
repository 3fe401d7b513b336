import assert from "node:assert/strict";
import { type Digest, digestOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { ActorCritic } from "../learn/actor_critic.ts";
import { KernelArena } from "../learn/arena.ts";
import { writeCheckpoint } from "../learn/checkpoint.ts";
import { ProgressEstimator } from "../learn/estimator.ts";
import { exportActorCritic, exportEstimator } from "../learn/export_policy.ts";
import { parameterDigest } from "../learn/parameter_block.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { writeExactNetwork } from "../policy/exact_graph.ts";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";
import { BlobReader } from "../store/blob_reader.ts";
import type { FileLayer } from "../store/file_layer.ts";
import type { Run } from "../store/read_run.ts";
import { networkOfCheckpoint, readRecordedCheckpoint } from "./recorded_checkpoint.ts";
import type { TrainedNode } from "./trained_node.ts";

const ENCODER = { stateWidth: 16, actionWidth: 20 };
const { fingerprint } = new FeatureEncoder(ENCODER);

function trained(kind: TrainedNode["kind"]): TrainedNode {
  return {
    node: "n",
    stage: "s",
    seed: 1,
    kind,
    encoder: ENCODER,
    hidden: kind === "estimator" ? ESTIMATOR_HIDDEN : 8,
    checkpoint: { node: "n", output: "checkpoint.bin" },
    graph: { node: "n", output: "graph.onnx" },
  };
}

/** A run that holds one blob. */
function runWith(bytes: Uint8Array<ArrayBuffer>): Run {
  const layer: Pick<FileLayer, "facts" | "read"> = {
    facts: () => ({ kind: "file", size: bytes.length, modified: 0 }),
    read: () => bytes,
  };
  const nodes = [{ id: "n", outputs: { "checkpoint.bin": { digest: digestOf(bytes) } } }];
  const open = (digest: Digest) => new BlobReader({ layer: layer as FileLayer, path: "blob", digest });
  return { dag: { nodes }, open } as unknown as Run;
}

/** What the learner writes for a network with random parameters, and what it exports. */
function learnt(kind: TrainedNode["kind"]) {
  using arena = new KernelArena();
  if (kind === "estimator") {
    const network = new ProgressEstimator(arena, ENCODER.stateWidth);
    network.initialise(new RandomStream(7, "estimator"));
    const parameters = network.parameters.get();
    const widths = { stateWidth: ENCODER.stateWidth, actionWidth: 0, hidden: ESTIMATOR_HIDDEN };
    const bytes = writeCheckpoint({ kind, ...widths, encoderFingerprint: fingerprint, parameters });
    return { bytes, parameters, graph: exportEstimator(network) };
  }
  const network = new ActorCritic(arena, { ...ENCODER, hidden: 8 });
  network.initialise(new RandomStream(7, "actor-critic"));
  const parameters = network.parameters.get();
  const bytes = writeCheckpoint({ kind, ...network.shape, encoderFingerprint: fingerprint, parameters });
  return { bytes, parameters, graph: exportActorCritic(network) };
}

for (const kind of ["actor_critic", "estimator"] as const) {
  Deno.test(`readRecordedCheckpoint() and networkOfCheckpoint() read a ${kind} as the learner wrote it`, () => {
    const { bytes, parameters, graph } = learnt(kind);
    const checkpoint = readRecordedCheckpoint(runWith(bytes), trained(kind));
    assert.deepEqual(checkpoint.parameters, parameters);
    assert.equal(checkpoint.digest, parameterDigest(parameters));
    assert.deepEqual(writeExactNetwork(networkOfCheckpoint(trained(kind), checkpoint)), graph.bytes());
  });
}

function refused(
  bytes: Uint8Array<ArrayBuffer>,
  node: TrainedNode,
  place: { readonly [detail: string]: unknown },
) {
  assert.throws(() => readRecordedCheckpoint(runWith(bytes), node), (error) => {
    assert.ok(error instanceof TracewrightError, String(error));
    for (const [name, value] of Object.entries(place)) {
      assert.deepEqual(name === "code" ? error.code : error.details[name], value, error.message);
    }
    return true;
  });
}

Deno.test("readRecordedCheckpoint() refuses a checkpoint of anything but what the config asks for", () => {
  const { bytes } = learnt("actor_critic");
  const node = trained("actor_critic");
  const mismatch = { code: "training_mismatch", verify_step: "policy", node: "n", output: "checkpoint.bin" };
  refused(bytes, { ...node, hidden: 16 }, { ...mismatch, field: "hidden", expected: 16, actual: 8 });
  refused(bytes, { ...node, encoder: { stateWidth: 17, actionWidth: 20 } }, {
    ...mismatch,
    field: "encoder_fingerprint",
  });
  refused(bytes, trained("estimator"), { ...mismatch, field: "action_width", expected: 0, actual: 20 });
});

Deno.test("readRecordedCheckpoint() refuses bytes that are no checkpoint", () => {
  const { bytes } = learnt("actor_critic");
  const node = trained("actor_critic");
  const code = "training_mismatch";
  refused(bytes.slice(0, -4), node, { code, field: "parameters" });
  refused(bytes.slice(0, -1), node, { code, field: "parameters" });
  refused(Uint8Array.from([...bytes, 0, 0, 0, 0]), node, { code, field: "parameters" });
  refused(new Uint8Array(0), node, { code, field: "header" });
  refused(new Uint8Array(100_000), node, { code, field: "header" });
  refused(Uint8Array.from([0x20, ...bytes]), node, { code: "not_canonical" });
  refused(Uint8Array.from([0xff, ...bytes]), node, { code: "not_canonical" });
});

Deno.test("networkOfCheckpoint() refuses parameters that no graph can hold, NaN included", () => {
  const { bytes } = learnt("actor_critic");
  const node = trained("actor_critic");
  const { digest, parameters } = readRecordedCheckpoint(runWith(bytes), node);
  for (const value of [NaN, Infinity, 8, -9]) {
    assert.throws(
      () => networkOfCheckpoint(node, { digest, parameters: parameters.with(3, value) }),
      (error) => error instanceof TracewrightError && error.code === "weight_out_of_range",
    );
  }
});
