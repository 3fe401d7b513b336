import { ActionCache } from "./action_cache.ts";
import { BlobStore } from "./blob_store.ts";
import type { FileLayer } from "./file_layer.ts";
import { Refs } from "./refs.ts";

/** One folder with blobs, action results and names. */
export class Store implements Disposable {
  readonly blobs: BlobStore;
  readonly actions: ActionCache;
  readonly refs: Refs;

  private constructor(blobs: BlobStore) {
    this.blobs = blobs;
    this.actions = new ActionCache(blobs);
    this.refs = new Refs(blobs);
  }

  /** A store at `path`, which need not exist yet; opening writes nothing. */
  static open(path: string, options: { layer?: FileLayer } = {}): Store {
    return new Store(BlobStore.open(path, options));
  }

  /** The folder of the store. */
  get path(): string {
    return this.blobs.path;
  }

  [Symbol.dispose](): void {
    this.blobs[Symbol.dispose]();
  }
}
