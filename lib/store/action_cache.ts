import { z } from "zod";
import { canonicalBytes, canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { digestOf, digestOfJson, hexOf } from "../core/digest.ts";
import { schemaProblem } from "../core/schema_problem.ts";
import { firstDifference } from "./_first_difference.ts";
import {
  type ActionKey,
  type ActionRecord,
  actionRecordSchema,
  keyOf,
  type Outputs,
  typedDescriptorSchema,
} from "./action_record.ts";
import type { BlobStore } from "./blob_store.ts";
import { MAX_MANIFEST } from "./manifest.ts";
import { storeError } from "./store_error.ts";

/** Schema id of a file in `actions/`. */
export const ACTION_RESULT_SCHEMA = "tracewright.action-result.v1";

const resultSchema = z.strictObject({
  schema: z.literal(ACTION_RESULT_SCHEMA),
  action: actionRecordSchema,
  outputs: z.record(z.string(), typedDescriptorSchema),
});

/** A computation that has been done, and what came out. */
export interface ActionResult {
  readonly key: ActionKey;
  readonly action: ActionRecord;
  readonly outputs: Outputs;
}

/** An {@link ActionResult} and the moment its file was written, in milliseconds; the moment orders explanations. */
export interface RecordedAction extends ActionResult {
  readonly recorded: number;
}

/**
 * The results of computations, `actions/<64 hex of the key>.json`: created if absent and never overwritten. Here the
 * law holds that the same key gives the same bytes.
 */
export class ActionCache {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Where the result of a key lies, or would lie. */
  path(key: ActionKey): string {
    return `${this.#blobs.path}/actions/${hexOf(key)}.json`;
  }

  /**
   * What is recorded for a key, undefined where nothing is.
   *
   * @throws TracewrightError "bad_action" where the file is not such a record or belongs to another key
   */
  get(key: ActionKey): ActionResult | undefined {
    const path = this.path(key);
    const hint = "remove this one file and run the command again; it is made anew";
    const facts = this.#blobs.layer.facts(path);
    if (facts !== undefined && (facts.kind !== "file" || facts.size > MAX_MANIFEST)) {
      throw storeError("bad_action", {
        path,
        expected: `a file of at most ${MAX_MANIFEST} bytes`,
        actual: facts.kind === "file" ? facts.size : facts.kind,
        hint,
      });
    }
    const bytes = facts === undefined ? undefined : this.#blobs.layer.read(path);
    if (bytes === undefined) return undefined;
    let result;
    try {
      result = resultSchema.parse(parseCanonical(bytes));
      if (digestOfJson(result) !== digestOf(bytes)) throw new Error("a field was read as something else");
    } catch (cause) {
      throw storeError("bad_action", {
        message: `the file is not an action record: ${schemaProblem(cause).message}`,
        path,
        hint,
        cause,
      });
    }
    const actual = keyOf(result.action);
    if (actual !== key) throw storeError("bad_action", { path, expected: key, actual, hint });
    return { key, action: result.action, outputs: result.outputs };
  }

  /** As {@link get}, but undefined too where an output is no longer in the store: the stage has to run again. */
  find(key: ActionKey): ActionResult | undefined {
    const result = this.get(key);
    if (result === undefined) return undefined;
    const complete = Object.values(result.outputs).every(({ digest, size }) => this.#blobs.has(digest, size));
    return complete ? result : undefined;
  }

  /**
   * Records what a computation gave. Where something is recorded already, by an earlier run or by another process
   * that was faster, it must be the same.
   *
   * @param where names of the node and so on, for the message
   * @throws TracewrightError "impure_stage" with the first differing place, if the same key gave other bytes
   */
  publish(
    action: ActionRecord,
    outputs: Outputs,
    where: { readonly [place: string]: unknown } = {},
  ): "recorded" | "same" {
    const key = keyOf(action);
    const bytes = canonicalBytes({ schema: ACTION_RESULT_SCHEMA, action, outputs });
    const { layer } = this.#blobs;
    const isNew = layer.facts(this.path(key)) === undefined;
    if (isNew) {
      this.#blobs.prepare();
      this.#blobs.settle();
    }
    if (isNew && this.#blobs.writeFile(this.path(key), bytes, "create")) return "recorded";
    const earlier = this.get(key);
    if (earlier === undefined) return this.publish(action, outputs, where); // removed by a person in between
    this.#mustAgree(earlier, outputs, where);
    return "same";
  }

  /** Everything recorded, sorted by key. Files that are not action records are refused, not skipped. */
  list(): RecordedAction[] {
    const folder = `${this.#blobs.path}/actions`;
    const results: RecordedAction[] = [];
    for (const { name } of this.#blobs.layer.list(folder)) {
      const match = /^([0-9a-f]{64})\.json$/.exec(name);
      if (match === null) {
        throw storeError("bad_action", {
          path: `${folder}/${name}`,
          expected: "<64 hexadecimal digits>.json",
          actual: name,
        });
      }
      const result = this.get(`sha256:${match[1]}` as ActionKey);
      const facts = this.#blobs.layer.facts(`${folder}/${name}`);
      if (result !== undefined) results.push({ ...result, recorded: facts?.modified ?? 0 });
    }
    return results;
  }

  #mustAgree(earlier: ActionResult, outputs: Outputs, where: { readonly [place: string]: unknown }): void {
    const names = [...new Set([...Object.keys(earlier.outputs), ...Object.keys(outputs)])].sort();
    for (const name of names) {
      const expected = earlier.outputs[name];
      const actual = outputs[name];
      if (canonicalJson(expected ?? null) === canonicalJson(actual ?? null)) continue;
      const place = expected !== undefined && actual !== undefined && expected.digest !== actual.digest
        ? firstDifference(this.#blobs, expected, actual.digest)
        : {};
      throw storeError("impure_stage", {
        message: "the same action gave other bytes than before",
        stage: earlier.action.stage.name,
        ...where,
        key: earlier.key,
        output: name,
        ...place,
        expected: expected?.digest ?? "no such output",
        actual: actual?.digest ?? "no such output",
        hint:
          "a stage may depend on nothing but its parameters and inputs: look for a clock, a random number, " +
          "a path, an environment variable or an iteration order",
      });
    }
  }
}
