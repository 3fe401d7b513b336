import type { z } from "zod";
import { canonicalJson } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import type { Params } from "../store/action_record.ts";
import { isRunName } from "../store/run_name.ts";
import { stageError } from "./stage_error.ts";

/** What a stage says about an input or an output. */
export interface PortSpec {
  /** E.g. `application/jsonl`. An input takes only outputs of the same media type. */
  readonly media_type: string;
  /** Only for a family of inputs: it may be empty. */
  readonly optional?: true;
}

/** Ports by name. An input name that ends in `/*` stands for a family: one or more inputs `traces/…`. */
export type Ports = { readonly [name: string]: PortSpec };

/** The content of an input; all of it has been hashed before the first byte is given out. */
export interface InputBlob {
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
  bytes(): Uint8Array<ArrayBuffer>;
  text(): string;
  lines(): Iterable<string>;
  chunks(): Iterable<Uint8Array<ArrayBuffer>>;
}

/** An output on its way out. Strings are written as UTF-8 and must be well formed piece by piece. */
export interface OutputWriter {
  write(content: Uint8Array | string): void;
}

/** What a stage has done so far, in things that a person can count. */
export interface Counted {
  /** In the plural, e.g. `episodes`. */
  readonly unit: string;
  readonly count: number;
  /** How many there will be; left out where that is not known before the end. */
  readonly total?: number;
}

/** All that a running stage can see of the world. */
export interface StageContext<P = unknown, I extends string = string, O extends string = string> {
  /** The parameters, as its schema gives them out. */
  readonly params: P;
  input(name: I): InputBlob;
  /** The names of all inputs, sorted by UTF-16 code units; with a prefix such as `traces/`, those of a family. */
  inputNames(prefix?: string): I[];
  /** Opens an output. Each declared output must be opened exactly once; what is written is its content. */
  output(name: O): OutputWriter;
  /** Tells a watching person how far it is, 0 to 1, and what it counts. Never part of any result. */
  progress(fraction: number, counted?: Counted): void;
}

/** A stage whose types have been forgotten: what plans, schedulers and executors handle. */
export interface Stage {
  readonly name: string;
  /** Raised whenever the meaning of the outputs changes. */
  readonly version: number;
  readonly inputs: Ports;
  readonly outputs: Ports;
  /** Checks parameters and fills in defaults. @throws TracewrightError "bad_params" */
  parseParams(value: unknown): Params;
  run(context: StageContext): void | Promise<void>;
}

/** The names an input record allows: exact names, and any name below a family. */
export type InputName<I extends Ports> = {
  [K in keyof I & string]: K extends `${infer Prefix}/*` ? `${Prefix}/${string}` : K;
}[keyof I & string];

/** A stage that remembers its types, so that plans are checked by the compiler. */
export interface TypedStage<S extends z.ZodType, I extends Ports, O extends Ports> extends Stage {
  readonly inputs: I;
  readonly outputs: O;
  readonly schema: S;
  run(context: StageContext<z.output<S>, InputName<I>, keyof O & string>): void | Promise<void>;
}

/** What {@link defineStage} is told. */
export interface StageDefinition<S extends z.ZodType, I extends Ports, O extends Ports> {
  readonly name: string;
  readonly version: number;
  /** A zod strict object. What it gives out must be JSON, and giving that in must give the same out. */
  readonly params: S;
  readonly inputs: I;
  readonly outputs: O;
  /** A pure function of parameters and inputs: no clock, host, path, environment, random number or map order. */
  run(context: StageContext<z.output<S>, InputName<I>, keyof O & string>): void | Promise<void>;
}

const MEDIA_TYPE = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/;

/**
 * Defines a stage: a pure function `(params, input blobs) -> output blobs`.
 *
 * @throws TracewrightError "bad_stage" for a name, version, port or media type that is not allowed
 * @example
 * ```ts
 * import { z } from "zod";
 * import { defineStage } from "./define_stage.ts";
 * const shout = defineStage({
 *   name: "shout",
 *   version: 1,
 *   params: z.strictObject({ times: z.int().positive() }),
 *   inputs: { words: { media_type: "text/plain" } },
 *   outputs: { loud: { media_type: "text/plain" } },
 *   run({ params, input, output }) {
 *     output("loud").write(input("words").text().toUpperCase() + "!".repeat(params.times));
 *   },
 * });
 * if (shout.name !== "shout") throw new Error("unreachable");
 * ```
 */
export function defineStage<S extends z.ZodType, const I extends Ports, const O extends Ports>(
  definition: StageDefinition<S, I, O>,
): TypedStage<S, I, O> {
  const { name, version, params: schema, inputs, outputs, run } = definition;
  if (!isRunName(name) || name.includes("/")) {
    throw stageError("bad_stage", { stage: name, field: "name", expected: "a-z 0-9 . _ -", actual: name });
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw stageError("bad_stage", {
      stage: name,
      field: "version",
      expected: "an integer from 1",
      actual: version,
    });
  }
  if (Object.keys(outputs).length === 0) {
    throw stageError("bad_stage", {
      stage: name,
      field: "outputs",
      expected: "at least one",
      actual: "none",
    });
  }
  checkPorts(name, "outputs", outputs, (port) => port);
  checkPorts(name, "inputs", inputs, (port) => port.endsWith("/*") ? port.slice(0, -2) : port);
  return {
    name,
    version,
    inputs,
    outputs,
    schema,
    run,
    parseParams: (value) => parseParams(name, schema, value),
  };
}

function checkPorts(stage: string, field: string, ports: Ports, plain: (port: string) => string): void {
  for (const [port, { media_type }] of Object.entries(ports)) {
    if (!isRunName(plain(port))) {
      throw stageError("bad_stage", {
        stage,
        field,
        expected: "a relative name of a-z 0-9 . _ - /",
        actual: port,
      });
    }
    if (!MEDIA_TYPE.test(media_type)) {
      throw stageError("bad_stage", { stage, field, port, expected: "a media type", actual: media_type });
    }
  }
}

function parseParams(stage: string, schema: z.ZodType, value: unknown): Params {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw stageError("bad_params", {
      message: issue?.message ?? "the parameters do not fit",
      stage,
      field: issue?.path.join(".") ?? "",
      cause: parsed.error,
    });
  }
  try {
    // Back from text: a frozen plan cannot be changed through a reference somebody kept.
    const params = JSON.parse(canonicalJson(parsed.data)) as unknown;
    if (typeof params === "object" && params !== null && !Array.isArray(params)) return params as Params;
  } catch (cause) {
    throw stageError("bad_params", { message: "the parameters are not JSON", stage, cause });
  }
  throw stageError("bad_params", { stage, expected: "an object", actual: value });
}

/** The port that an input of a node belongs to, undefined where the stage takes no such input. */
export function inputPort(stage: Stage, name: string): PortSpec | undefined {
  if (Object.hasOwn(stage.inputs, name)) return stage.inputs[name];
  for (let at = name.lastIndexOf("/"); at > 0; at = name.lastIndexOf("/", at - 1)) {
    const family = `${name.slice(0, at)}/*`;
    if (Object.hasOwn(stage.inputs, family)) return stage.inputs[family];
  }
  return undefined;
}

/**
 * Checks the names of the inputs a stage is given.
 *
 * @throws TracewrightError "unknown_input", "missing_input"
 */
export function checkInputNames(
  stage: Stage,
  names: readonly string[],
  place: { readonly [where: string]: unknown } = {},
): void {
  for (const name of names) {
    if (name.endsWith("*") || inputPort(stage, name) === undefined) {
      throw stageError("unknown_input", {
        ...place,
        stage: stage.name,
        expected: Object.keys(stage.inputs),
        actual: name,
      });
    }
  }
  for (const [port, { optional }] of Object.entries(stage.inputs)) {
    if (optional) continue;
    const given = port.endsWith("/*")
      ? names.some((name) => name.startsWith(port.slice(0, -1)))
      : names.includes(port);
    if (!given) throw stageError("missing_input", { ...place, stage: stage.name, input: port });
  }
}
