import type { WorkflowTask } from "../world/contracts.ts";

/** Orders tasks by case id, in UTF-16 code units: what makes a selection independent of input order. */
export function byCaseId(a: WorkflowTask, b: WorkflowTask): number {
  return a.case_id < b.case_id ? -1 : a.case_id > b.case_id ? 1 : 0;
}
