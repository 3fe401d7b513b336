import { TracewrightError } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { BenchmarkCode } from "./_error.ts";

const FIELDS = ["case_id", "entity_id", "seed"] as const;

/**
 * Checks, task by task, that no case id, entity or seed occurs twice, neither inside a split nor across splits. A task
 * belongs to the split it is added to, whatever it says of itself. Keeps three names and a few bytes a task.
 */
export class SplitIsolation {
  /** By field: which task has a value. */
  readonly #owners = new Map(FIELDS.map((field) => [field, new Map<string | number, number>()]));
  /** By task: its id. */
  readonly #cases: string[] = [];
  /** The splits in the order in which they began, each with the first of its tasks. */
  readonly #splits: { readonly split: string; readonly first: number }[] = [];

  /** @throws TracewrightError "duplicate_in_split" or "split_overlap", naming the field and both cases */
  add(split: string, task: WorkflowTask): void {
    const index = this.#cases.push(task.case_id) - 1;
    if (this.#splits.at(-1)?.split !== split) this.#splits.push({ split, first: index });
    for (const [field, owners] of this.#owners) {
      const other = owners.get(task[field]);
      if (other === undefined) {
        owners.set(task[field], index);
        continue;
      }
      const otherSplit = this.#splits.findLast(({ first }) => first <= other)!.split;
      throw new TracewrightError<"benchmark", BenchmarkCode>(
        otherSplit === split ? "duplicate_in_split" : "split_overlap",
        {
          field,
          actual: task[field],
          split,
          case: task.case_id,
          other_split: otherSplit,
          other_case: this.#cases[other],
        },
      );
    }
  }
}

/** {@link SplitIsolation} over whole splits. */
export function checkSplitIsolation(splits: Readonly<Record<string, readonly WorkflowTask[]>>): void {
  const isolation = new SplitIsolation();
  for (const [split, tasks] of Object.entries(splits)) for (const task of tasks) isolation.add(split, task);
}
