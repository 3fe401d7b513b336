/** Throws where two byte arrays differ, naming the first place. */
export function equalBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  const end = Math.max(actual.length, expected.length);
  for (let i = 0; i < end; i++) {
    if (actual[i] === expected[i]) continue;
    const show = (part: Uint8Array) =>
      JSON.stringify(new TextDecoder().decode(part.subarray(Math.max(0, i - 30), i + 30)));
    throw new Error(
      `${what}: byte ${i} of ${expected.length} differs: ${show(actual)} instead of ${show(expected)}`,
    );
  }
}
