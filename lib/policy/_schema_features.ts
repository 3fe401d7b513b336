import type { PolicyCandidate } from "../world/policy_input.ts";
import type { BagContents, TokenBag } from "./_token_bag.ts";
import { operationId } from "./_tokens.ts";
import { FEATURE_SCALE, toFeature } from "./feature_grid.ts";

type Schema = PolicyCandidate["tool_schema"];

const PREREQUISITE_CAP = 15;

/** The part of an action's features that its tool schema alone decides. */
export interface SchemaFeatures {
  /** Shape [D]: slots 2 to 7 and the operation block; 0 elsewhere. */
  readonly scalarsAndOperations: Int32Array;
  readonly tokens: BagContents;
}

/** Computes schema features once for every schema object. */
export class SchemaFeatureCache {
  readonly #known = new WeakMap<Schema, SchemaFeatures>();

  constructor(
    readonly bag: TokenBag,
    readonly operations: TokenBag,
    readonly actionWidth: number,
  ) {}

  of(schema: Schema): SchemaFeatures {
    let features = this.#known.get(schema);
    if (features === undefined) this.#known.set(schema, features = this.#compute(schema));
    return features;
  }

  #compute(schema: Schema): SchemaFeatures {
    const prerequisites = schema.required_completed_operations;
    const fixed = new Int32Array(this.actionWidth);
    fixed[2] = schema.mutating ? FEATURE_SCALE : 0;
    fixed[3] = schema.idempotent ? FEATURE_SCALE : 0;
    fixed[4] = schema.policy_allowed ? FEATURE_SCALE : 0;
    fixed[5] = schema.additional_properties ? FEATURE_SCALE : 0;
    fixed[6] = toFeature(
      Math.min(prerequisites.length, PREREQUISITE_CAP) / PREREQUISITE_CAP,
      "action 6, prerequisites",
    );
    fixed[7] = schema.side_effect !== null ? FEATURE_SCALE : 0;

    const operations = this.operations;
    operations.clear();
    for (const name of [schema.operation_id, ...prerequisites]) {
      const id = operationId(name);
      if (id !== undefined) operations.addToken("operation:" + id);
    }
    operations.writeTo(fixed, this.actionWidth - operations.width);

    const bag = this.bag;
    bag.clear();
    bag.addKey("name");
    bag.addString(schema.name);
    bag.addKey("description");
    bag.addString(schema.description);
    for (const part of ["required_arguments", "optional_arguments"] as const) {
      bag.addKey(part);
      for (const [name, type] of Object.entries(schema[part])) {
        bag.addKey(name);
        bag.addString(type);
      }
    }
    for (const flag of ["mutating", "idempotent", "policy_allowed", "additional_properties"] as const) {
      bag.addKey(flag);
      bag.addScalar(schema[flag]);
    }
    bag.addKey("side_effect");
    if (schema.side_effect === null) bag.addScalar(null);
    else bag.addString(schema.side_effect);
    bag.addKey("prerequisite_count");
    bag.addScalar(prerequisites.length);
    return { scalarsAndOperations: fixed, tokens: bag.contents() };
  }
}
