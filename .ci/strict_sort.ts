/**
 * Preloaded by every test run: a sort without a comparator orders by text, which is a total order for texts only. On
 * anything else (`[10, 9].sort()` keeps 10 first) it throws here, so that the mistake cannot hide behind small numbers.
 */
function requireTexts(values: readonly unknown[], compare: unknown): void {
  if (compare !== undefined || values.every((value) => typeof value === "string")) return;
  throw new TypeError(
    `sort() without a comparator on ${typeof values.find((value) => typeof value !== "string")}s`,
  );
}

const { sort, toSorted } = Array.prototype;
Array.prototype.sort = function (compare) {
  requireTexts(this, compare);
  return sort.call(this, compare);
};
Array.prototype.toSorted = function (compare) {
  requireTexts(this, compare);
  return toSorted.call(this, compare);
};
