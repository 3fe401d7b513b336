import { type Digest, digestOf, DigestWriter } from "../core/digest.ts";
import type { Outputs, Params, TypedDescriptor } from "../store/action_record.ts";
import { linesOf, textOf } from "../store/lines.ts";
import {
  checkInputNames,
  type Counted,
  type InputBlob,
  type OutputWriter,
  type Stage,
  type StageContext,
} from "./define_stage.ts";
import { stageError } from "./stage_error.ts";

/** Where the content of one output goes. Disposed of before `finish`, it leaves nothing. */
export interface OutputSink extends Disposable {
  write(bytes: Uint8Array): void;
  finish(): { readonly digest: Digest; readonly size: number };
}

/** How far a stage is; for people only. */
export interface Progress {
  /** 0 to 1. */
  readonly fraction: number;
  readonly counted?: Counted;
}

/** What a stage runs on: its parameters, and where bytes come from and go to. */
export interface StageIo {
  readonly params: Params;
  readonly inputNames: readonly string[];
  openInput(name: string): InputBlob;
  openOutput(name: string): OutputSink;
  onProgress?(progress: Progress): void;
}

const encoder = new TextEncoder();

class Output implements OutputWriter {
  closed = false;
  constructor(readonly stage: string, readonly name: string, readonly sink: OutputSink) {}

  write(content: Uint8Array | string): void {
    const place = { stage: this.stage, output: this.name };
    if (this.closed) {
      throw stageError("output_closed", {
        message: "an output was written after its stage had ended",
        ...place,
      });
    }
    if (typeof content === "string" && !content.isWellFormed()) {
      throw stageError("not_well_formed", { message: "a string holds a lone surrogate", ...place });
    }
    this.sink.write(typeof content === "string" ? encoder.encode(content) : content);
  }
}

/**
 * Runs one stage once and checks that it kept its side: known inputs only, every output exactly once.
 *
 * @returns the outputs by name
 * @throws whatever the stage throws; TracewrightError "bad_params", "unknown_input", "missing_input",
 * "unknown_output", "output_twice", "output_missing", "output_closed", "not_well_formed", "bad_fraction"
 */
export async function runStage(stage: Stage, io: StageIo): Promise<Outputs> {
  const names = [...io.inputNames].sort();
  checkInputNames(stage, names);
  const opened = new Map<string, Output>();
  const context: StageContext = {
    params: stage.parseParams(io.params),
    input: (name) => {
      if (!names.includes(name)) {
        throw stageError("unknown_input", { stage: stage.name, expected: names, actual: name });
      }
      return io.openInput(name);
    },
    inputNames: (prefix = "") => names.filter((name) => name.startsWith(prefix)),
    output: (name) => {
      if (!Object.hasOwn(stage.outputs, name)) {
        throw stageError("unknown_output", {
          stage: stage.name,
          expected: Object.keys(stage.outputs),
          actual: name,
        });
      }
      if (opened.has(name)) throw stageError("output_twice", { stage: stage.name, output: name });
      const output = new Output(stage.name, name, io.openOutput(name));
      opened.set(name, output);
      return output;
    },
    progress: (fraction, counted) => {
      if (!(fraction >= 0 && fraction <= 1)) {
        throw stageError("bad_fraction", { stage: stage.name, expected: "0 to 1", actual: fraction });
      }
      io.onProgress?.(counted === undefined ? { fraction } : { fraction, counted });
    },
  };
  try {
    await stage.run(context);
    const outputs: Record<string, TypedDescriptor> = {};
    for (const [name, { media_type }] of Object.entries(stage.outputs)) {
      const output = opened.get(name);
      if (output === undefined) throw stageError("output_missing", { stage: stage.name, output: name });
      output.closed = true;
      const { digest, size } = output.sink.finish();
      outputs[name] = { digest, size, media_type };
    }
    return outputs;
  } finally {
    for (const output of opened.values()) {
      output.closed = true;
      output.sink[Symbol.dispose]();
    }
  }
}

/** Bytes in memory as the input of a stage. */
export function memoryInput(content: Uint8Array | string): InputBlob {
  const held = typeof content === "string" ? encoder.encode(content) : content.slice();
  const digest = digestOf(held);
  return {
    digest,
    size: held.length,
    bytes: () => held.slice(),
    text: () => textOf(held, { digest }),
    lines: () => linesOf([held], { digest }),
    chunks: () => [held.slice()],
  };
}

/**
 * Runs a stage on bytes in memory: for tests, for a browser, and for a verifier that has no store.
 *
 * @param given parameters, and the inputs by name
 * @returns the bytes of the outputs by name; throws like {@link runStage}
 */
export async function runStageInMemory(
  stage: Stage,
  given: { params: Params; inputs: { readonly [name: string]: Uint8Array | string } },
): Promise<{ [name: string]: Uint8Array<ArrayBuffer> }> {
  const results: Record<string, Uint8Array<ArrayBuffer>> = {};
  await runStage(stage, {
    params: given.params,
    inputNames: Object.keys(given.inputs),
    openInput: (name) => memoryInput(given.inputs[name] ?? ""),
    openOutput: (name) => {
      const pieces: Uint8Array[] = [];
      return {
        write: (bytes) => void pieces.push(bytes.slice()),
        finish: () => {
          const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
          let at = 0;
          for (const piece of pieces) {
            all.set(piece, at);
            at += piece.length;
          }
          results[name] = all;
          return { digest: digestOf(all), size: all.length };
        },
        [Symbol.dispose]: () => {},
      };
    },
  });
  return results;
}

/**
 * Runs a stage and keeps only what its outputs hash to: what a verifier needs, in memory that does not grow with them.
 *
 * @param given parameters, and the inputs by name, which the stage may read piece by piece
 * @returns digests and sizes of the outputs by name; throws like {@link runStage}
 */
export async function runStageForDigests(
  stage: Stage,
  given: { params: Params; inputs: { readonly [name: string]: InputBlob } },
): Promise<Outputs> {
  return await runStage(stage, {
    params: given.params,
    inputNames: Object.keys(given.inputs),
    openInput: (name) => given.inputs[name]!,
    openOutput: () => {
      const hash = new DigestWriter();
      return {
        write: (bytes) => hash.write(bytes),
        finish: () => ({ digest: hash.finish(), size: hash.size }),
        [Symbol.dispose]: () => {},
      };
    },
  });
}
