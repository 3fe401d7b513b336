import { z } from "zod";
import { type Digest, digestOfJson, isDigest } from "../core/digest.ts";
import type { Json } from "../core/canonical_json.ts";

/** Schema id of an action, part of every key. */
export const ACTION_SCHEMA = "tracewright.action.v1";

declare const actionKeyBrand: unique symbol;
/** The name of a computation: the digest of an {@link ActionRecord}. */
export type ActionKey = Digest & { readonly [actionKeyBrand]: "action" };

/** A JSON object as a stage takes it for parameters. */
export type Params = { readonly [name: string]: Json };

/** A digest in a record from outside. */
export const digestSchema: z.ZodType<Digest> = z.custom<Digest>(isDigest, {
  error: "expected sha256: and 64 hexadecimal digits",
});
/** Any JSON, passed through: canonical form has been checked before. */
export const paramsSchema: z.ZodType<Params> = z.custom<Params>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: "expected an object" },
);

/** What names a stage: its name, the version of its meaning and the digest of its code. */
export interface StageIdentity {
  readonly name: string;
  readonly version: number;
  readonly code: Digest;
}

/** Strict form of a {@link StageIdentity} from outside. */
export const stageIdentitySchema: z.ZodType<StageIdentity> = z.strictObject({
  name: z.string().min(1),
  version: z.int().positive(),
  code: digestSchema,
});

/** A blob with its media type. */
export interface TypedDescriptor {
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
  readonly media_type: string;
}

/** Strict form of a {@link TypedDescriptor} from outside. */
export const typedDescriptorSchema: z.ZodType<TypedDescriptor> = z.strictObject({
  digest: digestSchema,
  size: z.int().nonnegative(),
  media_type: z.string().min(1),
});

/** The outputs of one stage by name. */
export type Outputs = { readonly [name: string]: TypedDescriptor };

/** Everything that decides the bytes of a stage's outputs, and nothing else. */
export interface ActionRecord {
  readonly schema: typeof ACTION_SCHEMA;
  readonly stage: StageIdentity;
  /** Ids of the exact arithmetic in force, sorted. */
  readonly numerics: readonly string[];
  readonly params: Params;
  /** Input name to content. */
  readonly inputs: { readonly [name: string]: Digest };
}

/** Strict form of an {@link ActionRecord} from outside. */
export const actionRecordSchema: z.ZodType<ActionRecord> = z.strictObject({
  schema: z.literal(ACTION_SCHEMA),
  stage: stageIdentitySchema,
  numerics: z.array(z.string().min(1)),
  params: paramsSchema,
  inputs: z.record(z.string(), digestSchema),
});

/** The key of an action: the digest of its canonical JSON. */
export function keyOf(record: ActionRecord): ActionKey {
  return digestOfJson(record) as ActionKey;
}
