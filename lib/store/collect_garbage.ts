import type { Digest } from "../core/digest.ts";
import { Temporaries } from "./_temporaries.ts";
import type { ActionKey, Outputs } from "./action_record.ts";
import { STORE_LOCK } from "./blob_store.ts";
import { bundleError } from "./bundle_error.ts";
import { type Reached, reachedFromRefs } from "./reachable.ts";
import type { Store } from "./store.ts";

/** What a collection would keep and remove. */
export interface GarbagePlan {
  /** Action results to remove, sorted by key. */
  readonly actions: readonly ActionKey[];
  /** Blobs to remove, sorted. */
  readonly blobs: readonly Digest[];
  /** Bytes of those blobs. */
  readonly bytes: number;
  readonly kept: { readonly actions: number; readonly blobs: number; readonly bytes: number };
}

/**
 * Says what nothing needs: blobs that no name leads to, and results of actions whose outputs are not all kept. Names are
 * all files below `refs`: runs, experiments and pins. Changes nothing.
 *
 * @throws TracewrightError "dangling_ref", "bad_ref", "bad_action", "missing_blob", "blob_damaged", "bad_manifest": in a
 * store that is damaged nobody can say what is needed
 */
export function planGarbage(store: Store): GarbagePlan {
  const reached = reachedFromRefs(store);
  const results = store.actions.list();
  const actions = results.filter(({ outputs }) => !isKept(outputs, reached)).map(({ key }) => key);
  const blobs: Digest[] = [];
  const kept = { actions: results.length - actions.length, blobs: 0, bytes: 0 };
  let bytes = 0;
  for (const digest of store.blobs.list()) {
    const size = store.blobs.layer.facts(store.blobs.blobPath(digest))?.size ?? 0;
    if (reached.has(digest)) {
      kept.blobs++;
      kept.bytes += size;
    } else {
      blobs.push(digest);
      bytes += size;
    }
  }
  return { actions, blobs, bytes, kept };
}

/** A result is worth keeping while it saves work for what is kept: all it made is needed, and it made something. */
function isKept(outputs: Outputs, reached: Reached): boolean {
  const made = Object.values(outputs);
  return made.length > 0 && made.every(({ digest }) => reached.has(digest));
}

/**
 * Removes what {@link planGarbage} names. Results of actions go first and for good, then blobs: whenever the process ends,
 * no result is left that names a blob which was removed, and the next collection goes on from there.
 *
 * A collection has the lock of the store alone. Processes that store anything, or count on what is stored, share it until
 * they end, so what they wrote is never removed before they could name it: while one of them lives, a collection refuses,
 * and one that starts during a collection waits for its end.
 *
 * @throws TracewrightError "store_in_use", all of {@link planGarbage}, and I/O codes
 */
export function collectGarbage(store: Store): GarbagePlan {
  const { layer } = store.blobs;
  if (layer.facts(store.path) === undefined) return planGarbage(store);
  const path = `${store.path}/${STORE_LOCK}`;
  const lock = layer.lock(path, "create");
  if (typeof lock === "string") {
    throw bundleError("store_in_use", {
      message: "a process is at work in the store",
      path,
      hint: "wait until it has ended, then collect again",
    });
  }
  try {
    using temporaries = new Temporaries(layer, `${store.path}/tmp`);
    temporaries.removeAbandoned();
    return remove(store, planGarbage(store));
  } finally {
    lock[Symbol.dispose]();
  }
}

function remove(store: Store, plan: GarbagePlan): GarbagePlan {
  const { layer } = store.blobs;
  for (const key of plan.actions) layer.remove(store.actions.path(key));
  if (plan.actions.length > 0) layer.syncDirectory(`${store.path}/actions`);
  for (const digest of plan.blobs) layer.remove(store.blobs.blobPath(digest));
  if (plan.blobs.length > 0) layer.syncDirectory(`${store.path}/blobs/sha256`);
  return plan;
}
