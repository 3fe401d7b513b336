/** The whole number at a place of the command line; ends the program with 2 where something else stands there. */
export function wholeArgument(
  index: number,
  { fallback, usage }: { fallback: number; usage: string },
): number {
  const given = Deno.args.filter((arg) => arg !== "--")[index];
  if (given === undefined) return fallback;
  if (/^\d{1,6}$/.test(given)) return Number(given);
  console.error(`${usage}: ${given} is no whole number`);
  Deno.exit(2);
}
