import { policyError } from "./_error.ts";
import { EXACT_LIMIT } from "./exact_network.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "./onnx_model.ts";

/** What is known of every element of one value. */
interface Interval {
  /** Largest magnitude. */
  readonly max: number;
  /** Every element is a whole multiple of 2^step. */
  readonly step: number;
  readonly nonNegative: boolean;
  readonly maybeNegativeZero: boolean;
  readonly constant?: OnnxTensor;
}

/** One proven line: no partial sum of this value, in any order, exceeds 2^bits grid steps. */
export interface ProvenBound {
  readonly value: string;
  readonly steps: number;
}

/** Constants are multiples of 2^-16 and 2^-10; finer ones do not occur. */
const FINEST_STEP = -32;

function constantInterval(tensor: OnnxTensor): Interval {
  let max = 0;
  let step = 0;
  let nonNegative = true;
  for (const value of tensor.data) {
    if (!Number.isFinite(value) || Object.is(value, -0)) {
      throw policyError("proof_constant", {
        tensor: tensor.name,
        expected: "finite numbers, not -0",
        actual: value,
      });
    }
    while (!Number.isInteger(value * 2 ** -step)) {
      if (--step < FINEST_STEP) {
        throw policyError("proof_constant", {
          tensor: tensor.name,
          expected: `multiples of 2^${FINEST_STEP}`,
          actual: value,
        });
      }
    }
    max = Math.max(max, Math.abs(value));
    if (value < 0) nonNegative = false;
  }
  return { max, step, nonNegative, maybeNegativeZero: false, constant: tensor };
}

/** Largest column sum of magnitudes: what a row of ones could reach. */
function largestColumn({ dims, data }: OnnxTensor): number {
  const columns = dims[1]!;
  const sums = new Float64Array(columns);
  for (let i = 0; i < data.length; i++) sums[i % columns]! += Math.abs(data[i]!);
  return sums.reduce((a, b) => Math.max(a, b), 0);
}

function refuse(node: OnnxNode, message: string): never {
  throw policyError("proof_operator", { message, operator: node.operator, value: node.output });
}

function apply(node: OnnxNode, inputs: readonly Interval[]): Interval {
  const [a, b, c] = inputs as [Interval, Interval, Interval];
  switch (node.operator) {
    case "MatMul": {
      if (b.constant?.dims.length !== 2 || a.constant !== undefined) {
        refuse(node, "the right side, and only that, is a constant matrix");
      }
      return {
        max: largestColumn(b.constant) * a.max,
        step: a.step + b.step,
        nonNegative: a.nonNegative && b.nonNegative,
        maybeNegativeZero: true,
      };
    }
    case "Add":
      return {
        max: a.max + b.max,
        step: Math.min(a.step, b.step),
        nonNegative: a.nonNegative && b.nonNegative,
        // x + y is -0 only where both are
        maybeNegativeZero: a.maybeNegativeZero && b.maybeNegativeZero,
      };
    case "Mul": {
      const nonNegative = a.nonNegative && b.nonNegative;
      return {
        max: a.max * b.max,
        step: a.step + b.step,
        nonNegative,
        maybeNegativeZero: !nonNegative || a.maybeNegativeZero || b.maybeNegativeZero,
      };
    }
    case "Relu":
      return { max: a.max, step: a.step, nonNegative: true, maybeNegativeZero: a.maybeNegativeZero };
    case "Floor":
      return {
        max: Math.ceil(a.max),
        step: Math.max(0, a.step),
        nonNegative: a.nonNegative,
        maybeNegativeZero: a.maybeNegativeZero,
      };
    case "Clip": {
      const low = b.constant?.data;
      const high = c.constant?.data;
      if (low?.length !== 1 || high?.length !== 1 || low[0] !== 0 || !(high[0]! > 0)) {
        refuse(node, "clips from the constant 0 to a positive constant");
      }
      return {
        max: Math.min(a.max, c.max),
        step: Math.min(a.step, c.step),
        nonNegative: true,
        maybeNegativeZero: a.maybeNegativeZero,
      };
    }
    case "Gather":
      if (a.constant !== undefined) refuse(node, "picks rows of a computed value");
      return a;
    case "Concat":
      return {
        max: Math.max(...inputs.map((i) => i.max)),
        step: Math.min(...inputs.map((i) => i.step)),
        nonNegative: inputs.every((i) => i.nonNegative),
        maybeNegativeZero: inputs.some((i) => i.maybeNegativeZero),
      };
  }
}

/**
 * Proves from the actual weights that no operation of the graph can round: every value is a whole multiple of a power
 * of two, and every partial sum, in any order and grouping, is below 2^53 of its steps. Additions, multiplications
 * and fused multiply-adds are then exact, so threads, blocking and instruction sets cannot change a bit. It also
 * proves that no output can be -0, the one value whose sign an order of additions could change.
 *
 * @param inputBounds largest magnitude of every graph input, all of them integers
 * @returns a bound per node, in graph order
 * @throws TracewrightError "proof_constant", "proof_operator", "proof_bound" or "proof_negative_zero"
 */
export function proveExact(model: OnnxModel, inputBounds: Readonly<Record<string, number>>): ProvenBound[] {
  const known = new Map<string, Interval>();
  for (const { name } of model.inputs) {
    const max = Object.hasOwn(inputBounds, name) ? inputBounds[name] : undefined;
    if (max === undefined) {
      throw policyError("proof_bound", { message: "an input has no bound", value: name });
    }
    known.set(name, { max, step: 0, nonNegative: false, maybeNegativeZero: true });
  }
  for (const tensor of model.tensors) known.set(tensor.name, constantInterval(tensor));
  const proven: ProvenBound[] = [];
  for (const node of model.nodes) {
    const result = apply(node, node.inputs.map((name) => known.get(name)!));
    const steps = result.max * 2 ** -result.step;
    if (!(steps < EXACT_LIMIT)) {
      throw policyError("proof_bound", {
        message: "a sum could round",
        value: node.output,
        expected: `under ${EXACT_LIMIT} grid steps`,
        actual: steps,
      });
    }
    proven.push({ value: node.output, steps });
    known.set(node.output, result);
  }
  for (const { name } of model.outputs) {
    if (known.get(name)?.maybeNegativeZero !== false) {
      throw policyError("proof_negative_zero", { message: "an output could be -0", value: name });
    }
  }
  return proven;
}
