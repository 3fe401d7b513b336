/** The manifest of action-validity-v2, counted while the rows go by. Source: protocol/benchmark-v1.3.md section 11. */
import { type Digest, DigestWriter } from "../core/digest.ts";
import { INVALID_KINDS, type InvalidActionKind } from "../world/contracts.ts";
import {
  ACTION_VALIDITY,
  type ActionValidityChallenge,
  actionValidityLine,
  type ActionValidityRow,
  CANDIDATES_PER_STATE,
  CHALLENGES,
  LABEL_SOURCE,
  STATES_PER_TASK,
} from "./action_validity.ts";
import { setDigest } from "./manifest.ts";
import { GENERATOR_V13 } from "./task_v13.ts";

/** Schema of the manifest. */
export const ACTION_VALIDITY_SCHEMA = "tracewright.action-validity.v1";

/** The data set in names, counts and digests. */
export interface ActionValidityManifest {
  readonly schema: typeof ACTION_VALIDITY_SCHEMA;
  readonly dataset_name: typeof ACTION_VALIDITY;
  readonly generator_version: string;
  readonly source_task_count: number;
  readonly states_per_task: number;
  readonly candidates_per_state: number;
  readonly seed: number;
  readonly count: number;
  readonly valid_count: number;
  readonly invalid_count: number;
  readonly invalid_kind_counts: Readonly<Record<InvalidActionKind, number>>;
  readonly challenge_counts: Readonly<Record<ActionValidityChallenge, number>>;
  /** Of the file of rows. */
  readonly sha256: Digest;
  /** Of the set of case ids. */
  readonly source_cases_digest: Digest;
  readonly label_source: typeof LABEL_SOURCE;
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}

const encoder = new TextEncoder();

/** Counts and hashes rows on their way to a file. Keeps the case ids, and nothing else of a row. */
export class ActionValidityTally {
  readonly #hash = new DigestWriter();
  readonly #cases = new Set<string>();
  readonly #kinds = zeros(INVALID_KINDS);
  readonly #challenges = zeros(CHALLENGES);
  #count = 0;
  #valid = 0;

  /**
   * Takes the next row.
   *
   * @returns its line as the bytes to write
   */
  add(row: ActionValidityRow): Uint8Array {
    const bytes = encoder.encode(actionValidityLine(row));
    this.#hash.write(bytes);
    this.#cases.add(row.case_id);
    this.#count++;
    if (row.valid_label) this.#valid++;
    if (row.invalid_kind !== null) this.#kinds[row.invalid_kind]++;
    this.#challenges[row.challenge_source]++;
    return bytes;
  }

  /**
   * The manifest of the rows so far; to be asked for once, after the last one.
   *
   * @param seed the benchmark seed that the rows were generated with
   */
  finish({ seed }: { readonly seed: number }): ActionValidityManifest {
    return {
      schema: ACTION_VALIDITY_SCHEMA,
      dataset_name: ACTION_VALIDITY,
      generator_version: GENERATOR_V13,
      source_task_count: this.#cases.size,
      states_per_task: STATES_PER_TASK,
      candidates_per_state: CANDIDATES_PER_STATE,
      seed,
      count: this.#count,
      valid_count: this.#valid,
      invalid_count: this.#count - this.#valid,
      invalid_kind_counts: { ...this.#kinds },
      challenge_counts: { ...this.#challenges },
      sha256: this.#hash.finish(),
      source_cases_digest: setDigest([...this.#cases]),
      label_source: LABEL_SOURCE,
    };
  }
}
