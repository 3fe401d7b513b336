import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { bcObjective } from "./bc.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import { type Kernels, wasmKernels } from "./kernels.ts";

const SHAPE = { stateWidth: 64, actionWidth: 64, hidden: 96 };

/** A forward pass, a backward pass and an Adam step on `decisions` decisions of 24 candidates. */
function trainStep(kernels: Kernels, decisions: number): () => void {
  const arena = new KernelArena(kernels);
  const stream = new RandomStream(1);
  const network = new ActorCritic(arena, SHAPE);
  network.initialise(stream);
  const optimizer = new Adam(network.parameters, { learningRate: 1e-3 });
  const batch = raggedBatch({ sizes: new Array<number>(decisions).fill(24), ...SHAPE, stream });
  const positives = new Uint8Array(batch.mask.length);
  for (let d = 0; d < decisions; d++) positives[batch.mask.indexOf(1, batch.offsets[d])] = 1;
  const objective = bcObjective({ decisions: batch, positives }, { loss: 0, entropy: 0 });
  return () => {
    network.computeGradient(batch, objective);
    optimizer.step();
  };
}

const compiled = trainStep(wasmKernels, 32);
const defined = trainStep(new KernelOracle(1 << 21), 32);
Deno.bench(
  "train step, 32 decisions: WebAssembly",
  { group: "train step", baseline: true, warmup: 40 },
  compiled,
);
Deno.bench("train step, 32 decisions: oracle", { group: "train step", n: 5, warmup: 2 }, defined);
