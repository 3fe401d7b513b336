/**
 * The index that a public seed chooses: an unsigned 64-bit number modulo a small count, exact in doubles.
 *
 * @param seed 16 hexadecimal digits
 * @param count number of things to choose from, 1 to 2^20
 * @returns 0 to count - 1
 */
export function seededChoice(seed: string, count: number): number {
  const high = Number.parseInt(seed.slice(0, 8), 16);
  const low = Number.parseInt(seed.slice(8, 16), 16);
  return ((high % count) * (0x1_0000_0000 % count) + low % count) % count;
}
