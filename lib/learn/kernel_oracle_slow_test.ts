import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { bcObjective } from "./bc.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import { type Kernels, wasmKernels } from "./kernels.ts";
import { parameterDigest } from "./parameter_block.ts";

/** Numbers of every kind that training meets, denormal numbers, zeros of both signs and large ones among them. */
function numbers(stream: RandomStream, n: number): Float32Array {
  return Float32Array.from({ length: n }, () => {
    switch (stream.integer(12)) {
      case 0:
        return 0;
      case 1:
        return -0;
      case 2:
        return (stream.uniform() - 0.5) * 1e-38;
      case 3:
        return (stream.uniform() - 0.5) * 1e-44;
      case 4:
        return (stream.uniform() - 0.5) * 1e12;
      default:
        return stream.normal();
    }
  });
}

/** Runs `work` on the module and on the oracle over the same `size` random numbers; the memory must end up the same. */
function agree(name: string, size: number, work: (kernels: Kernels, base: number) => unknown): void {
  const start = numbers(new RandomStream(7, name, size), size);
  const results = [wasmKernels, new KernelOracle((size + 31) & ~15)].map((kernels) => {
    using arena = new KernelArena(kernels);
    const base = arena.allocate(size);
    arena.floats.set(start, base);
    const returned = work(kernels, base);
    return { returned, bits: new Uint32Array(arena.floats.slice(base, base + size).buffer) };
  });
  assert.deepEqual(results[0], results[1], name);
}

const ROWS = [1, 2, 3, 4, 5, 7, 47, 48, 49, 97];
const WIDTHS = [8, 12, 16, 24, 40, 48, 64, 96];

Deno.test("matmul() and matmulTransposed() give the oracle's bits for every remainder and row block", () => {
  for (const rows of ROWS) {
    for (const cols of WIDTHS) {
      for (const depth of [1, 5, 48, 64]) {
        const b = rows * depth, c = b + Math.max(rows, depth) * cols;
        for (const add of [0, 1]) {
          agree(`matmul ${rows} ${cols} ${depth} ${add}`, c + rows * cols, (k, at) => {
            k.matmul(rows, cols, depth, at, at + b, at + c, add);
          });
          agree(`matmulTransposed ${rows} ${cols} ${depth} ${add}`, c + depth * cols, (k, at) => {
            k.matmulTransposed(rows, cols, depth, at, at + b, at + c, add);
          });
        }
      }
    }
  }
});

Deno.test("element-wise and reducing kernels give the oracle's bits", () => {
  for (const rows of ROWS) {
    for (const cols of WIDTHS) {
      const size = rows * cols;
      const name = `${rows} ${cols}`;
      agree(`transpose ${name}`, 2 * size, (k, at) => k.transpose(rows, cols, at, at + size));
      agree(`fillRows ${name}`, size + cols, (k, at) => k.fillRows(rows, cols, at, at + cols));
      agree(`relu ${name}`, size, (k, at) => k.relu(size, at));
      agree(`reluBackward ${name}`, 2 * size, (k, at) => k.reluBackward(size, at, at + size));
      agree(`addRows ${name}`, size + cols, (k, at) => k.addRows(rows, cols, at, at + size));
      agree(`scaleColumns ${name}`, 2 * size + cols, (k, at) => {
        k.scaleColumns(rows, cols, at, at + 2 * size, at + size);
      });
      agree(`dotRows ${name}`, size + cols + 1 + rows, (k, at) => {
        k.dotRows(rows, cols, at, at + size, at + size + cols, at + size + cols + 1);
      });
      agree(`dotRowsBackward ${name}`, 2 * size + 3 * cols + rows, (k, at) => {
        const w = at + 2 * size;
        k.dotRowsBackward(rows, cols, at, w + 3 * cols, w, w + cols, at + size, w + 2 * cols);
      });
      agree(`productBackward ${name}`, 4 * size + 2 * cols, (k, at) => {
        const s = at + 4 * size;
        k.productBackward(rows, cols, at, at + size, at + 2 * size, s, at + 3 * size, s + cols);
      });
    }
  }
});

Deno.test("folding kernels give the oracle's bits", () => {
  for (const width of WIDTHS) {
    const square = width * width;
    agree(`fold ${width}`, 3 * square + width, (k, at) => {
      k.fold(width, at, at + square, at + 3 * square, at + 2 * square);
    });
    agree(`foldTransposed ${width}`, 3 * square + width, (k, at) => {
      k.foldTransposed(width, at, at + square, at + 3 * square, at + 2 * square);
    });
    agree(`foldBackward ${width}`, 4 * square + 2 * width, (k, at) => {
      const s = at + 4 * square;
      k.foldBackward(width, at, at + square, s, at + 2 * square, at + 3 * square, s + width);
    });
  }
});

Deno.test("maskedSoftmax() gives the oracle's bits, the normaliser included, on flat and peaked logits", () => {
  for (const n of [1, 2, 3, 4, 9, 24, 47]) {
    for (const scale of [0, 1, 600]) {
      agree(`maskedSoftmax ${n} ${scale}`, 4 * 64, (k, at) => {
        const stream = new RandomStream(3, n, scale);
        for (let i = 0; i < n; i++) {
          k.floats[at + i] = stream.normal() * scale;
          k.bytes[4 * (at + 64) + i] = i === n >> 1 ? 1 : stream.integer(2);
        }
        return k.maskedSoftmax(n, at, 4 * (at + 64), (at + 128) / 2);
      });
    }
  }
});

Deno.test("adam() gives the oracle's bits and lets no moment decay into denormal numbers", () => {
  for (const n of [4, 8, 100, 1028]) {
    agree(`adam ${n}`, 4 * n, (k, at) => {
      k.floats.fill(0, at + 2 * n, at + 4 * n);
      for (let step = 0; step < 3; step++) {
        k.adam(n, at, at + n, at + 2 * n, at + 3 * n, 0.9, 0.999, 1e-3, 10, 1e-8);
      }
      k.floats.fill(0, at + n, at + 2 * n);
      for (let step = 0; step < 900; step++) {
        k.adam(n, at, at + n, at + 2 * n, at + 3 * n, 0.9, 0.999, 1e-3, 1, 1e-8);
      }
      for (const moment of k.floats.subarray(at + 2 * n, at + 4 * n)) {
        assert.ok(moment === 0 || Math.abs(moment) >= Math.fround(1e-30), String(moment));
      }
    });
  }
});

/** Parameters, moments and outputs after `steps` updates on ragged batches of 1 to 47 candidates. */
function train(
  kernels: Kernels,
  { hidden, logitScale, steps }: Record<"hidden" | "logitScale" | "steps", number>,
) {
  using arena = new KernelArena(kernels);
  const stream = new RandomStream(11, "ragged", hidden);
  const widths = { stateWidth: 20, actionWidth: 13 };
  const network = new ActorCritic(arena, { ...widths, hidden });
  network.initialise(stream);
  const start = network.parameters.get();
  const { offset, rows } = network.parameters.layout.find(({ name }) => name === "actor_logit.weight")!;
  for (let i = offset; i < offset + rows; i++) start[i] = start[i]! * logitScale;
  network.parameters.set(start);
  const adam = new Adam(network.parameters, { learningRate: 3e-3 });
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 24, 33, 46, 47, 1, 3];
  let tails = 0;
  for (let step = 0; step < steps; step++) {
    const decisions = raggedBatch({ sizes, ...widths, stream });
    const positives = new Uint8Array(decisions.mask.length);
    sizes.forEach((_, d) => positives[decisions.mask.indexOf(1, decisions.offsets[d])] = 1);
    network.computeGradient(decisions, (head) => {
      bcObjective({ decisions, positives }, { loss: 0, entropy: 0 })(head);
      for (let d = 0; d < head.decisions; d++) {
        head.setValueGradient(d, (head.values[d]! - 0.5) / head.decisions);
      }
      for (let i = 0; i < decisions.mask.length; i++) {
        const gradient = arena.floats[head.logitGradient + i]!;
        assert.ok(gradient === 0 || Math.abs(gradient) >= 1e-19);
        if (gradient === 0 && decisions.mask[i] === 1) tails++;
      }
    });
    adam.step();
  }
  const output = network.forward(raggedBatch({ sizes, ...widths, stream }));
  return {
    parameters: network.parameters.get(),
    gradient: network.parameters.gradient.slice(),
    tails,
    ...output,
  };
}

function bits(values: Float32Array): Uint32Array {
  return new Uint32Array(values.slice().buffer);
}

for (const hidden of [48, 96, 64]) {
  for (const logitScale of [1, 100_000]) {
    Deno.test(`a training of ${hidden} hidden units, logits times ${logitScale}, gives the oracle's bits`, () => {
      const settings = { hidden, logitScale, steps: 3 };
      const module = train(wasmKernels, settings);
      const oracle = train(new KernelOracle(1 << 20), settings);
      for (const part of ["parameters", "gradient", "logits", "values"] as const) {
        assert.deepEqual(bits(module[part]), bits(oracle[part]), part);
      }
      assert.equal(module.tails, oracle.tails);
      if (logitScale > 1) assert.ok(module.tails > 0, "the peaked softmax left no tail to flush");
    });
  }
}

Deno.test("a training gives the parameters that it gives on every other machine", () => {
  const { parameters } = train(wasmKernels, { hidden: 96, logitScale: 1, steps: 5 });
  assert.equal(
    parameterDigest(parameters),
    "sha256:acee8d15bdab4727e5133da809b564123df1a58cdc4e0e28d1aea76042c16ec8",
  );
});
