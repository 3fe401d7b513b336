import assert from "node:assert/strict";
import fc from "fast-check";
import type { Json, JsonObject } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import type { Observation, ToolCall, ToolSchema } from "../world/contracts.ts";
import {
  parsePolicyInput,
  type PolicyCandidate,
  type PolicyInput,
  policyInputFromDecision,
  type PolicyObservation,
} from "../world/policy_input.ts";
import { plainAction, plainArgumentAction, plainDecision } from "./_plain_encoder.ts";
import { FeatureEncoder } from "./encoder.ts";

const WIDTHS = { stateWidth: 64, actionWidth: 64 };
const encoder = new FeatureEncoder(WIDTHS);
const op = (n: number) => "op_" + n.toString(16).padStart(20, "0");

function schema(parts: Partial<ToolSchema> = {}): ToolSchema {
  return {
    name: "travel.reserve_seat",
    description: "Reserves one seat for the traveller.",
    required_arguments: { entity_id: "string", operation_id: "string", expected_version: "integer" },
    optional_arguments: {},
    additional_properties: false,
    mutating: true,
    idempotent: true,
    side_effect: null,
    operation_id: op(7),
    required_completed_operations: [op(1), op(2)],
    policy_allowed: true,
    ...parts,
  };
}

const INSPECT = schema({
  name: "travel.inspect_status",
  description: "Shows the status.",
  mutating: false,
  operation_id: "inspect-status",
  required_completed_operations: [],
});

interface Scene {
  readonly entity?: string;
  readonly goal?: string;
  readonly message?: string;
  readonly visible?: JsonObject;
  readonly schemas?: readonly ToolSchema[];
  readonly extra?: JsonObject;
  readonly callId?: string;
  readonly observation?: Partial<Observation>;
  readonly mask?: readonly boolean[];
}

/** One decision of three candidates: the tool, the same for an unknown entity, and the status query. */
function scene(parts: Scene = {}): PolicyInput {
  const entity = parts.entity ?? "test-trav-00003-0000012345";
  const schemas = parts.schemas ?? [schema(), INSPECT];
  const call = (tool: ToolSchema, args: JsonObject): ToolCall => ({
    tool_name: tool.name,
    arguments: { entity_id: entity, operation_id: tool.operation_id, expected_version: 2, ...args },
    call_id: parts.callId ?? "",
  });
  const candidates = [
    call(schemas[0]!, parts.extra ?? {}),
    call(schemas[0]!, { entity_id: "missing-" + entity }),
    call(schemas[1]!, {}),
  ];
  return policyInputFromDecision({
    observation: {
      task_id: "test-travel_booking-0003",
      step_index: 2,
      max_steps: 11,
      remaining_steps: 9,
      user_goal: parts.goal ?? `Book the whole trip for ${entity} in apac, urgent.`,
      visible_state: {
        entity_id: entity,
        version: 2,
        status: "pending",
        approval_token: null,
        completed_nodes: [op(1), op(2)],
        side_effects: [],
        check_dates_done: true,
        ...parts.visible,
      },
      available_entities: [entity],
      available_tools: schemas.map(({ name }) => name),
      message: parts.message ?? `Operation ${op(2)} was carried out.`,
      done: false,
      ...parts.observation,
    },
    candidates,
    mask: parts.mask ?? [true, false, true],
    schemas,
  });
}

const row = (actions: Int32Array, index: number) => [...actions.subarray(index * 64, (index + 1) * 64)];
/** Every slot but the operation block. */
const ordinary = (vector: ArrayLike<number>) => Array.from(vector).slice(0, 48);
const operations = (vector: ArrayLike<number>) => Array.from(vector).slice(48, 64);
const dot = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

Deno.test("FeatureEncoder.encode() gives integer features of the right shapes, with the public mask", () => {
  const { state, actions, mask } = encoder.encode(scene());
  assert.equal(state.length, 64);
  assert.equal(actions.length, 3 * 64);
  assert.deepEqual(mask, [true, false, true]);
  assert.deepEqual(encoder.encode(scene()), { state, actions, mask });
  assert.deepEqual(encoder.encode(scene({ mask: [true, true, true] })), {
    state,
    actions,
    mask: [true, true, true],
  });
});

Deno.test("FeatureEncoder.encode() fills the scalar slots by the table", () => {
  const { state, actions } = encoder.encode(scene());
  // 2/15, 2/15, not done, no token, 2/11, 9/11, 11/20, unused; on the grid of 1/1024
  assert.deepEqual([...state.subarray(0, 8)], [137, 137, 0, 0, 186, 838, 563, 0]);
  // version 2/15, known entity, mutating, idempotent, allowed, no extra properties, 2 of 15 prerequisites, no effect
  assert.deepEqual([...actions.subarray(0, 8)], [137, 1024, 1024, 1024, 1024, 0, 137, 0]);
  const other = scene({
    schemas: [
      schema({ idempotent: false, policy_allowed: false, additional_properties: true, side_effect: "sent" }),
      INSPECT,
    ],
    extra: { expected_version: "2" },
    visible: { approval_token: "approved-test-trav-00003-0000012345", version: 15 },
    observation: { done: true, max_steps: 40, remaining_steps: 0, step_index: 40 },
  });
  const changed = encoder.encode(other);
  assert.deepEqual([...changed.state.subarray(0, 8)], [1024, 137, 1024, 1024, 1024, 0, 1024, 0]);
  assert.deepEqual([...changed.actions.subarray(0, 8)], [0, 1024, 1024, 0, 0, 1024, 137, 1024]);
});

Deno.test("FeatureEncoder.encode() tells a known entity from an unknown one in one slot only", () => {
  const input = scene();
  const { actions } = encoder.encode(input);
  const [known, unknown] = [row(actions, 0), row(actions, 1)];
  assert.equal(known[1], 1024);
  assert.equal(unknown[1], 0);
  assert.deepEqual(known.with(1, 0), unknown);
  assert.deepEqual([...encoder.encodeAction(input.candidates[0]!)], unknown, "a lone action has no relation");
});

Deno.test("FeatureEncoder.encode() sees what a schema says", () => {
  const base = row(encoder.encode(scene()).actions, 0);
  const changes: Partial<ToolSchema>[] = [
    { description: "Cancels one seat for the traveller." },
    { mutating: false },
    { idempotent: false },
    { required_completed_operations: [op(1)] },
    { name: "travel.release_seat" },
    { side_effect: "seat.reserved" },
    { optional_arguments: { note: "string" } },
    { policy_allowed: false },
    { additional_properties: true },
  ];
  for (const change of changes) {
    const changed = row(encoder.encode(scene({ schemas: [schema(change), INSPECT] })).actions, 0);
    assert.notDeepEqual(changed, base, JSON.stringify(change));
  }
});

Deno.test("FeatureEncoder.encode() ignores call ids, bookkeeping and labels", () => {
  const base = encoder.encode(scene());
  const labels: JsonObject = {
    audit_log: [{ x: 1 }],
    processed_call_ids: ["a"],
    idempotency_results: { k: "n" },
    valid_label: true,
    nested: {},
  };
  assert.deepEqual(encoder.encode(scene({ callId: "call-17" })), base);
  const withNested = encoder.encode(scene({ visible: { nested: {} } }));
  assert.deepEqual(encoder.encode(scene({ visible: labels })), withNested);
  assert.deepEqual(
    encoder.encode(scene({ visible: { nested: { schema_label: 3, entity_id: "z", call_id: "c" } } })).state,
    withNested.state,
  );
});

Deno.test("FeatureEncoder.encode() is the same for every name of an entity, and not for another goal", () => {
  const named = (entity: string) =>
    encoder.encode(scene({ entity, goal: `Move ${entity} to the emea desk.` }));
  assert.deepEqual(named("test-trav-00003-0000012345"), named("Quartz Ltd 9"));
  assert.notDeepEqual(
    encoder.encode(scene({ goal: "Cancel the whole trip." })).state,
    encoder.encode(scene()).state,
  );
});

Deno.test("FeatureEncoder.encode() keeps everything but the operation block when opaque ids are renamed", () => {
  const renamed = (shift: number): PolicyInput =>
    scene({
      schemas: [
        schema({
          operation_id: op(7 + shift),
          required_completed_operations: [op(1 + shift), op(2 + shift)],
        }),
        INSPECT,
      ],
      visible: { completed_nodes: [op(1 + shift), op(2 + shift)], ["seen_" + "x"]: "after " + op(2 + shift) },
      message: `Operation ${op(2 + shift)} was carried out.`,
    });
  const [a, b] = [encoder.encode(renamed(0)), encoder.encode(renamed(1000))];
  assert.deepEqual(ordinary(a.state), ordinary(b.state));
  assert.notDeepEqual(operations(a.state), operations(b.state));
  for (const index of [0, 1, 2]) {
    assert.deepEqual(ordinary(row(a.actions, index)), ordinary(row(b.actions, index)));
  }
});

Deno.test("FeatureEncoder operation blocks have unit norm for one id, and their dot product shows a replay", () => {
  const one = (completed: number, own: number) => {
    const input = scene({
      schemas: [schema({ operation_id: op(own), required_completed_operations: [] }), INSPECT],
      visible: { completed_nodes: [op(completed)] },
    });
    const { state, actions } = encoder.encode(input);
    return dot(operations(state), operations(row(actions, 0)));
  };
  for (let n = 0; n < 20; n++) assert.equal(one(n, n), 1024 * 1024, "same id, whatever its name");
  const fresh = Array.from({ length: 200 }, (_, n) => one(n, n + 500));
  // different ids: 0, or 1 where both fall into one of the 16 buckets, with either sign, so that they cancel on average
  assert.ok(fresh.filter((value) => value === 0).length > 150);
  assert.ok(
    fresh.some((value) => value > 0) && fresh.some((value) => value < 0),
    "signs are independent of buckets",
  );
});

Deno.test("FeatureEncoder sees only exact opaque ids in operation blocks", () => {
  const block = (name: Json) =>
    operations(encoder.encode(scene({ visible: { completed_nodes: [name] } })).state);
  const none = new Array(16).fill(0);
  for (
    const name of ["step-3", "op_3", "inspect-status", op(1) + "0", "x" + op(1), op(1).slice(0, -1), 3, null]
  ) {
    assert.deepEqual(block(name), none, String(name));
  }
  assert.deepEqual(block("OP_" + "AB".repeat(10)), block("op_" + "ab".repeat(10)));
  assert.notDeepEqual(block(op(1)), none);
});

Deno.test("FeatureEncoder.encode() equals the plain definition on arbitrary decisions", () => {
  const word = fc.constantFrom(
    "alpha",
    "beta GAMMA",
    "x_1-y",
    "<entity:0>",
    "é ü",
    op(3),
    "",
    "3",
    "approved-<entity:0>",
  );
  const leaf = fc.oneof(
    word,
    fc.integer({ min: -5, max: 30 }),
    fc.boolean(),
    fc.constant(null),
    fc.constant(1.5),
  );
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "Bee", "entity_id", "call_id", "seen_" + op(4)), tie("tree"), {
        maxKeys: 3,
      }),
    ),
  }));
  const observation: fc.Arbitrary<PolicyObservation> = fc.record({
    step_index: fc.nat(20),
    max_steps: fc.integer({ min: 4, max: 30 }),
    remaining_steps: fc.nat(20),
    user_goal: fc.array(word, { maxLength: 6 }).map((words) => words.join(" ")),
    visible_state: fc.dictionary(
      fc.constantFrom("version", "status", "approval_token", "entity_id", "marker", "audit_log"),
      tree,
    ).chain((map) =>
      fc.array(word, { maxLength: 4 }).map((done) => ({ ...map, completed_nodes: done }))
    ) as fc.Arbitrary<
      JsonObject
    >,
    available_entities: fc.constantFrom([], ["<entity:0>"], ["<entity:0>", "<entity:1>"]),
    available_tools: fc.constant([]),
    message: word,
    done: fc.boolean(),
  });
  const toolSchema = fc.record({
    name: word,
    description: word,
    required_arguments: fc.dictionary(word, fc.constantFrom("string", "integer")),
    optional_arguments: fc.dictionary(word, fc.constantFrom("string", "integer")),
    additional_properties: fc.boolean(),
    mutating: fc.boolean(),
    idempotent: fc.boolean(),
    side_effect: fc.option(word),
    operation_id: fc.option(word),
    required_completed_operations: fc.array(fc.nat(9).map(op), { maxLength: 20 }),
    policy_allowed: fc.boolean(),
  });
  const candidate: fc.Arbitrary<PolicyCandidate> = fc.record({
    tool_call: fc.record({
      tool_name: word,
      arguments: fc.dictionary(
        fc.constantFrom("entity_id", "expected_version", "operation_id", "note", "approval_token"),
        leaf,
      ) as fc.Arbitrary<
        JsonObject
      >,
    }),
    action_mask: fc.constant(true),
    tool_schema: toolSchema,
  });
  const decisions = fc.record({
    schema_version: fc.constant("policy-input-v1" as const),
    observation,
    candidates: fc.array(candidate, { minLength: 1, maxLength: 4 }),
  });
  const widths = [WIDTHS, { stateWidth: 16, actionWidth: 40 }, { stateWidth: 50, actionWidth: 21 }];
  const encoders = widths.flatMap((width) => [
    { width, encoder: new FeatureEncoder(width), action: plainAction },
    {
      width,
      encoder: new FeatureEncoder({ ...width, actionFeatures: "arguments" }),
      action: plainArgumentAction,
    },
  ]);
  fc.assert(
    fc.property(decisions, (input) => {
      for (const { width, encoder, action } of encoders) {
        const { state, actions } = encoder.encode(input);
        const plain = plainDecision(input, width, action);
        assert.deepEqual([...state], plain.state);
        assert.deepEqual([...actions], plain.actions);
        assert.deepEqual([...encoder.encodeState(input.observation)], plain.state);
        const first = input.candidates[0]!;
        assert.deepEqual([...encoder.encodeAction(first)], action(first, [], width));
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("FeatureEncoder.encode() gives the same features for the same content in other objects", () => {
  const input = scene();
  const copy = parsePolicyInput(JSON.parse(JSON.stringify(input)));
  assert.notEqual(copy.candidates[0]!.tool_schema, input.candidates[0]!.tool_schema);
  assert.deepEqual(encoder.encode(copy), encoder.encode(input));
  assert.deepEqual(new FeatureEncoder(WIDTHS).encode(copy), encoder.encode(input));
});

Deno.test("FeatureEncoder.encode() refuses decisions without a selectable candidate", () => {
  const input = scene();
  const refused = (candidates: readonly PolicyCandidate[]) =>
    assert.throws(() => encoder.encode({ ...input, candidates }), (error) => hasCode(error, "bad_decision"));
  refused([]);
  refused(input.candidates.map((candidate) => ({ ...candidate, action_mask: false })));
});

Deno.test("FeatureEncoder.encode() refuses features that do not fit the grid instead of clamping them", () => {
  const outOfRange = (parts: Scene) =>
    assert.throws(() => encoder.encode(scene(parts)), (error) => hasCode(error, "feature_out_of_range"));
  encoder.encode(scene({ visible: { version: 119 } }));
  outOfRange({ visible: { version: 120 } });
  outOfRange({ extra: { expected_version: -1000 } });
  outOfRange({ message: "again ".repeat(4000) });
});

Deno.test("FeatureEncoder has one fingerprint a configuration", () => {
  const fingerprint = (stateWidth: number, actionWidth: number) =>
    new FeatureEncoder({ stateWidth, actionWidth }).fingerprint;
  assert.equal(fingerprint(64, 64), encoder.fingerprint);
  assert.equal(
    new Set([fingerprint(64, 64), fingerprint(64, 65), fingerprint(65, 64), fingerprint(32, 64)]).size,
    4,
  );
  const frozen = new FeatureEncoder({ ...WIDTHS, actionFeatures: "arguments" }).fingerprint;
  assert.notEqual(frozen, encoder.fingerprint);
  assert.equal(new FeatureEncoder({ ...WIDTHS, actionFeatures: "schema" }).fingerprint, encoder.fingerprint);
});

Deno.test("FeatureEncoder.encode() with argument features sees the call and nothing of the schema", () => {
  const blind = new FeatureEncoder({ ...WIDTHS, actionFeatures: "arguments" });
  const { state, actions } = blind.encode(scene({ extra: { idempotency_key: "k", approval_token: "" } }));
  assert.deepEqual(state, encoder.encode(scene()).state, "states are encoded alike");
  // version 2/15, known entity, entity, operation and version given, empty token, key, unused
  assert.deepEqual([...actions.subarray(0, 8)], [137, 1024, 1024, 1024, 1024, 0, 1024, 0]);
  const other = schema({ description: "x", required_completed_operations: [op(9)], mutating: false });
  assert.deepEqual(
    blind.encode(scene({ schemas: [other, INSPECT] })).actions,
    blind.encode(scene()).actions,
  );
  const free = scene({ schemas: [schema({ required_completed_operations: [] }), INSPECT] });
  assert.deepEqual(
    operations(row(blind.encode(scene()).actions, 0)),
    operations(row(encoder.encode(free).actions, 0)),
    "the operation alone, without what it requires",
  );
});

Deno.test("FeatureEncoder refuses widths below 16", () => {
  for (const width of [15, 0, -64, 16.5, NaN]) {
    assert.throws(
      () => new FeatureEncoder({ stateWidth: 64, actionWidth: width }),
      (error) => hasCode(error, "bad_width"),
    );
    assert.throws(
      () => new FeatureEncoder({ stateWidth: width, actionWidth: 64 }),
      (error) => hasCode(error, "bad_width"),
    );
  }
  assert.equal(new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }).operationBlock, 4);
  assert.equal(encoder.operationBlock, 16);
});
