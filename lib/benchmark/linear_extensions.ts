/**
 * The first linear extensions of a partial order, depth first, trying the ready items in ascending text order.
 *
 * @param predecessors each item with the items that must come before it
 * @param limit how many to find at most
 * @returns up to `limit` different orders of all items
 */
export function linearExtensions(
  predecessors: ReadonlyMap<string, readonly string[]>,
  limit: number,
): string[][] {
  const items = [...predecessors.keys()].sort();
  const found: string[][] = [];
  const order: string[] = [];
  const placed = new Set<string>();
  const extend = (): void => {
    if (order.length === items.length) {
      found.push([...order]);
      return;
    }
    for (const item of items) {
      if (found.length >= limit) return;
      if (placed.has(item) || !predecessors.get(item)!.every((needed) => placed.has(needed))) continue;
      order.push(item);
      placed.add(item);
      extend();
      order.pop();
      placed.delete(item);
    }
  };
  extend();
  return found;
}
