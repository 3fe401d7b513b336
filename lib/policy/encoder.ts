import type { Json, JsonObject } from "../core/canonical_json.ts";
import { type Digest, digestOfJson } from "../core/digest.ts";
import {
  isPolicyInput,
  type PolicyCandidate,
  type PolicyInput,
  type PolicyObservation,
} from "../world/policy_input.ts";
import {
  type ActionFeatures,
  ArgumentActionFeatures,
  integerOr0,
  LONGEST_WORKFLOW,
  SCALAR_SLOTS,
  SchemaActionFeatures,
} from "./_action_features.ts";
import { DROPPED_FIELDS } from "./_dropped_fields.ts";
import { policyError } from "./_error.ts";
import { TokenBag } from "./_token_bag.ts";
import { TokenHash } from "./_token_hash.ts";
import { operationId } from "./_tokens.ts";
import { FEATURE_SCALE, toFeature } from "./feature_grid.ts";

/** Changes whenever any feature of any input changes. */
export const ENCODER_VERSION = "tracewright.feature_encoder.v1";
/** The only form of observation and candidates that this encoder reads. */
const POLICY_INPUT_SCHEMA: PolicyInput["schema_version"] = "policy-input-v1";

const MIN_WIDTH = 16;
const MAX_OPERATION_BLOCK = 16;
const STEP_CAP = 20;

/** What an action's features can be made of: what the tool's public schema says and the call, or the call alone. */
export const ACTION_FEATURES = ["schema", "arguments"] as const;
/** One of {@link ACTION_FEATURES}. */
export type ActionFeatureKind = (typeof ACTION_FEATURES)[number];

/** One decision as numbers: all integers on the grid 2^-10, never -0. */
export interface EncodedDecision {
  /** Shape [S]. */
  readonly state: Int32Array;
  /** Shape [A * D], row-major; shared by the decisions about one list of candidates, not to be written to. */
  readonly actions: Int32Array;
  /** Shape [A]: the slots a policy may select. */
  readonly mask: readonly boolean[];
}

/** Widths of the two feature vectors; 64 and 64 in every shipped configuration. */
export interface EncoderWidths {
  /** S, at least 16. */
  readonly stateWidth: number;
  /** D, at least 16. */
  readonly actionWidth: number;
}

/** What decisions about the same candidates and entities have in common. */
interface Offer extends Pick<EncodedDecision, "actions" | "mask"> {
  readonly entities: readonly string[];
}

/** How decisions are encoded. */
export interface EncoderSettings extends EncoderWidths {
  /** `schema` where left out. */
  readonly actionFeatures?: ActionFeatureKind;
}

/**
 * Turns a `PolicyInput` into fixed-width integer features; nothing in it is learned, nothing else reaches a policy.
 *
 * Both vectors: slots 0 to 7 are scalars, the last O = min(16, floor((min(S, D) - 8) / 2)) slots hash opaque operation
 * ids, and the slots between hash every other token. A hashed block is the sum of its tokens' signs per bucket,
 * divided by max(1, sqrt(token count)). Operation ids hash alike in states and actions, so the dot product of the two
 * operation blocks tells whether an action, or what it requires, is already done.
 *
 * State scalars: version / 15, completed / 15, done, approval token visible, step / max, remaining / max,
 * min(max, 20) / 20, 0. Action scalars with `schema` features: expected version / 15, entity is available, mutating,
 * idempotent, allowed by policy, additional properties, min(prerequisites, 15) / 15, has a side effect; with `arguments`
 * features: expected version / 15, entity is available, then whether entity, operation, version, approval token and
 * idempotency key are given, 0.
 *
 * Source: protocol/policy-and-training.md section 2 (`current` and `frozen v1.3`), with SHA-256 and an independent sign
 * bit.
 */
export class FeatureEncoder {
  readonly stateWidth: number;
  readonly actionWidth: number;
  /** O: how many slots at the end of both vectors hash operation ids. */
  readonly operationBlock: number;
  /** Digest of everything that the meaning of a feature depends on; a checkpoint stores it. */
  readonly fingerprint: Digest;
  readonly #state: TokenBag;
  readonly #operations: TokenBag;
  readonly #actions: ActionFeatures;
  readonly #offers = new WeakMap<PolicyInput["candidates"], Offer>();

  /** @throws TracewrightError "bad_width" if a width is not an integer of at least 16 */
  constructor({ stateWidth, actionWidth, actionFeatures = "schema" }: EncoderSettings) {
    for (const [name, width] of [["stateWidth", stateWidth], ["actionWidth", actionWidth]] as const) {
      if (!Number.isSafeInteger(width) || width < MIN_WIDTH) {
        throw policyError("bad_width", {
          name,
          expected: `an integer of at least ${MIN_WIDTH}`,
          actual: width,
        });
      }
    }
    const smaller = Math.min(stateWidth, actionWidth);
    const operationBlock = Math.min(MAX_OPERATION_BLOCK, Math.floor((smaller - SCALAR_SLOTS) / 2));
    this.stateWidth = stateWidth;
    this.actionWidth = actionWidth;
    this.operationBlock = operationBlock;
    this.fingerprint = digestOfJson({
      encoder: ENCODER_VERSION,
      state_width: stateWidth,
      action_width: actionWidth,
      operation_block: operationBlock,
      policy_input: POLICY_INPUT_SCHEMA,
      schema_features: actionFeatures === "schema",
    });
    this.#state = new TokenBag(new TokenHash(stateWidth - SCALAR_SLOTS - operationBlock));
    this.#operations = new TokenBag(new TokenHash(operationBlock));
    const bags = {
      tokens: new TokenBag(new TokenHash(actionWidth - SCALAR_SLOTS - operationBlock)),
      operations: this.#operations,
      actionWidth,
    };
    this.#actions = actionFeatures === "schema"
      ? new SchemaActionFeatures(bags)
      : new ArgumentActionFeatures(bags);
  }

  /**
   * All features of one decision.
   *
   * @throws TracewrightError "bad_decision" without a candidate or without a selectable one; "feature_out_of_range"
   */
  encode(input: PolicyInput): EncodedDecision {
    const { observation, candidates } = input;
    let offer = this.#offers.get(candidates);
    if (offer === undefined || offer.entities !== observation.available_entities) {
      offer = this.#encodeOffer(input);
      // an input that was made by its room never changes, and its parts are the same only where they are the same objects
      if (isPolicyInput(input)) this.#offers.set(candidates, offer);
    }
    const { actions, mask } = offer;
    return { state: this.encodeState(observation), actions, mask };
  }

  #encodeOffer({ candidates, observation }: PolicyInput): Offer {
    const entities = observation.available_entities;
    const mask = Object.freeze(candidates.map((candidate) => candidate.action_mask));
    if (!mask.includes(true)) {
      throw policyError("bad_decision", {
        message: "a decision needs at least one selectable candidate",
        expected: "1 or more",
        actual: 0,
      });
    }
    const actions = new Int32Array(candidates.length * this.actionWidth);
    candidates.forEach((candidate, index) => {
      const row = index * this.actionWidth;
      this.#actions.write(candidate, actions, row);
      const entity = candidate.tool_call.arguments["entity_id"];
      if (typeof entity === "string" && entities.includes(entity)) actions[row + 1] = FEATURE_SCALE;
    });
    return { entities, actions, mask };
  }

  /** One candidate alone, shape [D]. Slot 1, the relation to the observation's entities, is 0. */
  encodeAction(candidate: PolicyCandidate): Int32Array {
    const action = new Int32Array(this.actionWidth);
    this.#actions.write(candidate, action, 0);
    return action;
  }

  /** The state part of a decision, shape [S]: what the progress estimator reads, and the actor too. */
  encodeState(observation: PolicyObservation): Int32Array {
    const { visible_state: visible, step_index: step, max_steps: max, remaining_steps: remaining } =
      observation;
    const completed = Array.isArray(visible["completed_nodes"]) ? visible["completed_nodes"] as Json[] : [];
    const token = visible["approval_token"];
    const state = new Int32Array(this.stateWidth);
    state[0] = toFeature(integerOr0(visible["version"]) / LONGEST_WORKFLOW, "state 0, version");
    state[1] = toFeature(completed.length / LONGEST_WORKFLOW, "state 1, completed count");
    state[2] = observation.done ? FEATURE_SCALE : 0;
    state[3] = typeof token === "string" && token !== "" ? FEATURE_SCALE : 0;
    state[4] = toFeature(step / max, "state 4, step");
    state[5] = toFeature(Math.max(0, remaining) / max, "state 5, remaining");
    state[6] = toFeature(Math.min(max, STEP_CAP) / STEP_CAP, "state 6, budget");

    const bag = this.#state;
    bag.clear();
    bag.addKey("user_goal");
    const identities = [visible["entity_id"], token, ...observation.available_entities];
    bag.addGoal(observation.user_goal, identities.filter((name) => typeof name === "string"));
    bag.addKey("visible_state");
    addVisible(bag, visible);
    bag.addKey("message");
    bag.addString(observation.message);
    bag.addKey("step_index");
    bag.addScalar(step);
    bag.addKey("max_steps");
    bag.addScalar(max);
    bag.addKey("remaining_steps");
    bag.addScalar(remaining);
    bag.writeTo(state, SCALAR_SLOTS);

    const operations = this.#operations;
    operations.clear();
    for (const node of completed) {
      const id = operationId(node);
      if (id !== undefined) operations.addToken("operation:" + id);
    }
    operations.writeTo(state, this.stateWidth - this.operationBlock);
    return state;
  }
}

/** Encoders of a realm that are kept; a run needs one or two. */
const KEPT_ENCODERS = 4;
const encoders = new Map<string, FeatureEncoder>();

/**
 * The encoder of some settings. One serves all stages of a realm, so that what it has learnt about words is not forgotten
 * between them.
 *
 * @throws TracewrightError "bad_width"
 */
export function encoderFor(settings: EncoderSettings): FeatureEncoder {
  const { stateWidth, actionWidth, actionFeatures = "schema" } = settings;
  const key = JSON.stringify([stateWidth, actionWidth, actionFeatures]);
  let encoder = encoders.get(key);
  if (encoder === undefined) {
    encoder = new FeatureEncoder(settings);
    if (encoders.size >= KEPT_ENCODERS) encoders.clear();
    encoders.set(key, encoder);
  }
  return encoder;
}

/** The visible state without dropped fields at any depth; completed operations have their own block. */
function addVisible(bag: TokenBag, visible: JsonObject): void {
  for (const key in visible) {
    if (key === "completed_nodes" || DROPPED_FIELDS.has(key)) continue;
    bag.addKey(key);
    addFiltered(bag, visible[key]!);
  }
}

function addFiltered(bag: TokenBag, value: Json): void {
  if (typeof value === "string") bag.addString(value);
  else if (value === null || typeof value !== "object") bag.addScalar(value);
  else if (Array.isArray(value)) {
    bag.addListLength(value.length);
    for (const item of value as Json[]) addFiltered(bag, item);
  } else {
    const map = value as JsonObject;
    for (const key in map) {
      if (DROPPED_FIELDS.has(key)) continue;
      bag.addKey(key);
      addFiltered(bag, map[key]!);
    }
  }
}
