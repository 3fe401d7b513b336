import { TracewrightError } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { BenchmarkCode } from "./_error.ts";

const FIELDS = ["case_id", "entity_id", "seed"] as const;

/**
 * Checks that no case id, entity or seed occurs twice, neither inside a split nor across splits. Tasks are sorted into
 * splits by the list they stand in, not by what they say of themselves.
 *
 * @throws TracewrightError "duplicate_in_split" or "split_overlap", naming the field and both cases
 */
export function checkSplitIsolation(splits: Readonly<Record<string, readonly WorkflowTask[]>>): void {
  for (const field of FIELDS) {
    const owner = new Map<string | number, { readonly split: string; readonly caseId: string }>();
    for (const [split, tasks] of Object.entries(splits)) {
      for (const task of tasks) {
        const other = owner.get(task[field]);
        if (other !== undefined) {
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
        owner.set(task[field], { split, caseId: task.case_id });
      }
    }
  }
}
