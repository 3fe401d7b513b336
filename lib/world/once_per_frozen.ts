import { isDeeplyFrozen } from "./frozen_copy.ts";

/**
 * Remembers what was made of a value that nobody can write to, for as long as the value lives. Other values get a fresh
 * result every time.
 *
 * @param make depends on its argument alone, and what it gives has no state that a result could depend on
 */
export function oncePerFrozen<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, Made>();
  return (key) => {
    let made = known.get(key);
    if (made === undefined) {
      made = make(key);
      if (isDeeplyFrozen(key)) known.set(key, made);
    }
    return made;
  };
}
