import { readTaskLines } from "../benchmark/task_lines.ts";
import { taskStream } from "../benchmark/task_stream.ts";
import type { Digest } from "../core/digest.ts";
import type { InputBlob } from "../stage/define_stage.ts";
import type { WorkflowTask } from "../world/contracts.ts";

/** Bytes of task files whose tasks are held at most: the splits of the full experiment fit, ten times as much does not. */
const HELD_BYTES = 64 * 1024 * 1024;

interface Held {
  readonly tasks: readonly WorkflowTask[];
  readonly size: number;
}

/**
 * Tasks of this realm's stages by the digest of their file, the least lately used first. A worker runs many stages on the
 * same splits, and reading a split costs as much as a fifth of such a stage. Tasks are frozen and a digest names their
 * bytes, so no result can tell.
 */
const held = new Map<Digest, Held>();

function remember(digest: Digest, entry: Held): void {
  held.delete(digest);
  held.set(digest, entry);
  let bytes = 0;
  for (const { size } of held.values()) bytes += size;
  for (const [oldest, { size }] of held) {
    if (bytes <= HELD_BYTES) break;
    held.delete(oldest);
    bytes -= size;
  }
}

/**
 * All tasks of a task file, for stages that need them together.
 *
 * @throws TracewrightError the codes of `readTaskLines`
 */
export function tasksOf(blob: InputBlob): readonly WorkflowTask[] {
  const known = held.get(blob.digest);
  const entry = known ?? { tasks: readTaskLines(blob.bytes()), size: blob.size };
  remember(blob.digest, entry);
  return entry.tasks;
}

/**
 * The tasks of a task file one after the other, for stages whose memory must not grow with the split: a file too large to
 * be held is read line by line.
 *
 * @param progress is told how far the reading is, 0 to 1
 * @throws TracewrightError the codes of `readTaskLines` or of `taskStream`
 */
export function* eachTask(blob: InputBlob, progress: (fraction: number) => void): Generator<WorkflowTask> {
  if (blob.size <= HELD_BYTES / 2) {
    const tasks = tasksOf(blob);
    for (const [i, task] of tasks.entries()) {
      yield task;
      progress((i + 1) / tasks.length);
    }
    return;
  }
  let read = 0;
  function* lines(): Generator<string> {
    for (const line of blob.lines()) {
      yield line;
      read += line.length + 1;
      progress(Math.min(1, read / blob.size));
    }
  }
  yield* taskStream(lines());
}
