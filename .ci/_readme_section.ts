/** Where a generated part of the README stands: from one comment to the other, both kept. */
export interface ReadmeSection {
  readonly start: string;
  readonly end: string;
}

/** The README with a generated part replaced. @throws Error where there is no place for it */
export function withSection(readme: string, { start, end }: ReadmeSection, lines: readonly string[]): string {
  const [from, to] = [readme.indexOf(start), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the README has no place for ${start}`);
  return readme.slice(0, from) + [start, "", ...lines, "", end].join("\n") + readme.slice(to + end.length);
}

/** A line of a Markdown table. */
export function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
