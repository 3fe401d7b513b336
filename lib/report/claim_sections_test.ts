import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import {
  claimRecords,
  exampleBlobs,
  exampleClaim,
  exampleMask,
  exampleMetrics,
  exampleStatistics,
} from "./_example_records.ts";
import { runReport } from "./run_report.ts";

const P = digestOf("what was registered");
const BLOBS = exampleBlobs();
const REPORT = runReport({ ...BLOBS, records: [...BLOBS.records, ...claimRecords()], registration: P });
const { comparisons: [primary], holm } = exampleStatistics();

/** The section below a heading. */
function section(heading: string): string {
  const at = REPORT.indexOf(`## ${heading}\n`);
  assert.ok(at >= 0, heading);
  return REPORT.slice(at).split("\n## ")[0]!;
}

/** The cells of the row of a section that begins with a text. */
function row(heading: string, first: string): string[] {
  const line = section(heading).split("\n").find((text) => text.startsWith(`| ${first} |`));
  assert.ok(line !== undefined, `${heading}: ${first}`);
  return line.slice(2, -2).split(" | ").slice(1);
}

const points = (share: number) => (share * 100).toFixed(2);

Deno.test("claimSections() states claim and canonicity as two facts, and names what failed", () => {
  const claim = exampleClaim();
  assert.deepEqual([claim.canonical, claim.hypothesis_passed], [false, false]);
  assert.deepEqual(row("Claim", "canonical (the run is the announced experiment)"), ["no"]);
  assert.deepEqual(row("Claim", "hypothesis passed (the interval lies above zero)"), ["no"]);
  assert.deepEqual(row("Claim", "structural checks passed"), ["19/24"]);
  assert.match(section("Claim"), /Failed: `seed_count`, .*`action_rows_per_class`\./);
});

Deno.test("runReport() prints P and the benchmark seed that follows from it", () => {
  assert.ok(REPORT.includes(`| pre-registration P | \`${P}\` |`));
  // configs/preregistration.yaml and configs/full.yaml hold this pair.
  const registration = "sha256:16c5b36f2918ce449e1f9b1837539dfd16c5d31026e593043643b48319375632" as Digest;
  const report = runReport({ ...BLOBS, registration });
  assert.ok(report.includes("| benchmark seed that follows from P | `1393599178` |"));
});

Deno.test("claimSections() states the primary difference by population, with the error of each end", () => {
  const heading = "E-PPO-Progress-Mask − B-BC-Mask";
  for (
    const [words, population] of [
      ["new cases, these seeds", "cases"],
      ["new seeds, these cases", "seeds"],
      ["new seeds and new cases", "seeds_and_cases"],
    ] as const
  ) {
    const { interval, monte_carlo_error: error } = primary!.resamplings[population]!;
    const cells = row(heading, words);
    assert.equal(cells[0], `[${points(interval.low)}, ${points(interval.high)}]`);
    assert.equal(cells[2], `± ${(error.low * 100).toFixed(3)}, ± ${(error.high * 100).toFixed(3)}`);
  }
  const { low, high } = primary!.crossed_t!;
  assert.ok(section(heading).includes(`| [${points(low)}, ${points(high)}] |`));
});

Deno.test("claimSections() states tests with the smallest p they can give, power, and every seed and family", () => {
  const heading = "E-PPO-Progress-Mask − B-BC-Mask";
  // By hand: three seeds, all up: 2 of 8 ways to flip them.
  assert.deepEqual(row(heading, "sign-flip over seeds, exact, two-sided p (smallest attainable)"), [
    "0.25 (0.25)",
  ]);
  assert.match(row(heading, "sign test over seeds, two-sided p (smallest attainable)")[0]!, /3 up, 0 down/);
  assert.match(section(heading), /two-sided at 0\.05: the effect with power 0\.8,/);
  const [detectable] = primary!.detectable;
  assert.deepEqual(row(heading, "`paired_case_cluster_percentile`"), [
    points(detectable!.minimum_detectable_effect),
    ...detectable!.power.map(({ power }) => power.toFixed(3)),
  ]);
  // By hand: with every seed E succeeds on three of twelve cases on which B does not.
  assert.deepEqual(row(heading, "seed"), ["17", "29", "43"]);
  assert.deepEqual(row(heading, "points"), ["25.00", "25.00", "25.00"]);
  assert.deepEqual(row(heading, "points without it"), ["25.00", "25.00", "25.00"]);
  for (const { family, difference } of primary!.leave_one_family_out) {
    assert.deepEqual(row(heading, family), [points(difference!.value)]);
  }
});

Deno.test("claimSections() states the secondary family with corrected p, and how seeds agree within cases", () => {
  for (const { treatment, baseline, p_value, adjusted_p, rejected } of holm!.tests) {
    const cells = row("Secondary comparisons", `${treatment} − ${baseline}`);
    assert.deepEqual(cells.slice(2), [p_value.toFixed(5), adjusted_p.toFixed(5), rejected ? "yes" : "no"]);
  }
  // By hand: A succeeds on case 0 with two seeds, on case 1 with one, on the others never.
  assert.deepEqual(row("Seeds within a case", "A-BC-Unmasked").slice(0, 2), ["16.67", "11.11"]);
  assert.equal(row("Seeds within a case", "A-BC-Unmasked")[3], "10 / 1 / 1 / 0");
});

Deno.test("claimSections() states the mask's scores with intervals, and nothing for a kind that did not occur", () => {
  const { balanced_accuracy: interval } = exampleMask().bootstrap;
  const cells = row("Rule mask on the synthetic constraint set", "40");
  assert.deepEqual(cells.slice(0, 4), ["20", "0", "19", "1"]);
  assert.equal(cells[4], `97.50 [${points(interval!.low)}, ${points(interval!.high)}]`);
  assert.equal(cells.at(-1), "–");
});

Deno.test("the report counts denominators of rules too", () => {
  const rows = section("Denominators").split("\n").filter((line) => /^\| [BDE] \|/.test(line));
  assert.equal(rows.length, 2 * exampleMetrics().runs.length);
});

Deno.test("runReport() refuses a record of a claim that has another form", () => {
  for (const name of ["claim/check", "statistics/differences", "mask/action-validity", "rules/metrics"]) {
    const records = claimRecords().map((one) =>
      one.name === name ? { name, bytes: canonicalBytes({ schema: "tracewright.other.v1" }) } : one
    );
    assert.throws(
      () => runReport({ ...BLOBS, records: [...BLOBS.records, ...records] }),
      (error) => hasCode(error, "bad_record"),
      name,
    );
  }
});
