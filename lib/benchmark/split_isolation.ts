import { TracewrightError } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { BenchmarkCode } from "./_error.ts";

const FIELDS = ["case_id", "entity_id", "seed"] as const;

interface Owner {
  readonly split: string;
  readonly caseId: string;
}

/**
 * Checks, task by task, that no case id, entity or seed occurs twice, neither inside a split nor across splits. A task
 * belongs to the split it is added to, whatever it says of itself.
 */
export class SplitIsolation {
  readonly #owners = new Map(FIELDS.map((field) => [field, new Map<string | number, Owner>()]));

  /** @throws TracewrightError "duplicate_in_split" or "split_overlap", naming the field and both cases */
  add(split: string, task: WorkflowTask): void {
    const owner: Owner = { split, caseId: task.case_id };
    for (const [field, owners] of this.#owners) {
      const other = owners.get(task[field]);
      if (other === undefined) {
        owners.set(task[field], owner);
        continue;
      }
      throw new TracewrightError<"benchmark", BenchmarkCode>(
        other.split === split ? "duplicate_in_split" : "split_overlap",
        {
          field,
          actual: task[field],
          split,
          case: task.case_id,
          other_split: other.split,
          other_case: other.caseId,
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
