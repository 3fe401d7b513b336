import type { CheckSite } from "./check_sites.ts";

/** A source in which every check has its switch. */
export function withSwitches(text: string, sites: readonly CheckSite[]): string {
  const insertions = sites.flatMap(({ insertions: [before, after] }) => [
    { ...before!, closes: false, width: after!.at - before!.at },
    { ...after!, closes: true, width: after!.at - before!.at },
  ]);
  // At one place: what closes comes first, inner before outer; then what opens, outer before inner.
  insertions.sort((a, b) =>
    a.at - b.at || Number(b.closes) - Number(a.closes) || (a.closes ? a.width - b.width : b.width - a.width)
  );
  let done = "";
  let at = 0;
  for (const insertion of insertions) {
    done += text.slice(at, insertion.at) + insertion.text;
    at = insertion.at;
  }
  return done + text.slice(at);
}
