/**
 * A deep copy that nobody can write to, so that it can be shared without further copies.
 *
 * @param value plain data without cycles
 * @returns scalars as they are; arrays and objects copied and frozen
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenCopy(item))) as T;
  const copy = { ...value } as Record<string, unknown>;
  for (const key of Object.keys(copy)) {
    const item = copy[key];
    if (typeof item === "object") copy[key] = frozenCopy(item);
  }
  return Object.freeze(copy) as T;
}

/** Whether nobody can write to a value or to anything in it. */
export function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}
