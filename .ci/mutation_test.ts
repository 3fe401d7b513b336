import assert from "node:assert/strict";
import { ATTACKS } from "../fixtures/attacks/all_attacks.ts";
import { checkedFiles } from "./checked_files.ts";
import { checkSites } from "./check_sites.ts";
import { isUnneeded, mutationSummary, readMutationSummary } from "./mutation_summary.ts";
import { readMutationTable } from "./mutation_table.ts";
import { UNNEEDED_CHECKS } from "./unneeded_checks.ts";

const ROWS = readMutationTable();

Deno.test("mutation.json holds exactly the checks of the sources; deno task mutate judges what is new", () => {
  const sites = checkSites(checkedFiles()).flatMap((file) => file.sites);
  assert.deepEqual(
    ROWS.map(({ site, check }) => ({ site, check })),
    sites.map(({ name, check }) => ({ site: name, check })),
  );
  assert.ok(sites.length > 200);
});

Deno.test("mutation.json names attacks that exist", () => {
  const names = new Set(["an honest run", ...ATTACKS.map(({ name }) => name)]);
  assert.deepEqual(ROWS.flatMap(({ attack }) => attack ?? []).filter((attack) => !names.has(attack)), []);
});

Deno.test("mutation.json: a check that no attack needs has exactly one reason, and each reason has a check", () => {
  const unneeded = ROWS.filter(({ verdict }) => isUnneeded(verdict));
  for (const { site, verdict } of unneeded) {
    const reasons = UNNEEDED_CHECKS.filter(({ sites }) => sites.test(site));
    assert.equal(reasons.length, 1, `${site} is ${verdict}: write an attack, or say why it may stay`);
  }
  for (const { sites, reason } of UNNEEDED_CHECKS) {
    assert.ok(unneeded.some(({ site }) => sites.test(site)), `a reason without a check: ${reason}`);
  }
});

Deno.test("coverage.md counts what mutation.json holds", () => {
  assert.equal(readMutationSummary(), mutationSummary(ROWS));
});
