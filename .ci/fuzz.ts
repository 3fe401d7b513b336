/**
 * Hostile bytes for everything that reads what others made; see `fuzz/README.md`.
 *
 *     deno task fuzz [--target NAME] [--seed S] [--seconds N | --inputs N] [--input FILE]
 */
import { parseArgs } from "node:util";
import { type FuzzReport, runCampaign, saveFindings, tryInput } from "./fuzz/campaign.ts";
import { targetEntry, TARGETS } from "./fuzz/targets.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

const { values } = parseArgs({
  args: Deno.args.filter((arg) => arg !== "--"),
  options: {
    target: { type: "string" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string" },
    inputs: { type: "string" },
    input: { type: "string" },
    workers: { type: "string", default: String(Math.min(2, navigator.hardwareConcurrency)) },
  },
});

function show(report: FuzzReport): boolean {
  const { target, inputs, accepted, codes, peak, seconds, findings } = report;
  const refused = Object.entries(codes).sort(([, a], [, b]) => b - a).map(([code, count]) =>
    `${code} ${count}`
  );
  if (inputs === 0) console.log(`  ${target}: nothing was tried`);
  console.log(
    `${target.padEnd(14)} ${String(inputs).padStart(8)} inputs ${seconds.toFixed(1).padStart(7)} s ` +
      `${String(peak >> 20).padStart(4)} MiB  accepted ${accepted}  ${refused.join(", ")}`,
  );
  const paths = saveFindings(report, `${ROOT}artifacts/fuzz`);
  findings.forEach(({ index, what }, i) => console.log(`  FOUND at ${index}: ${what}\n  saved  ${paths[i]}`));
  return findings.length === 0 && inputs > 0;
}

/** A whole number of the command line, at least `least`; ends the program with 2 where something else stands there. */
function whole(option: "seconds" | "inputs" | "seed" | "workers", least: number): number {
  const given = values[option]!;
  if (/^\d{1,9}$/.test(given) && Number(given) >= least) return Number(given);
  console.error(`--${option}: ${given} is no whole number of at least ${least}`);
  Deno.exit(2);
}

const names = values.target === undefined ? Object.keys(TARGETS) : [values.target];
let good = true;
if (values.input !== undefined) {
  if (values.target === undefined) throw new Error("--input needs --target");
  good = show(await tryInput(values.target, Deno.readFileSync(values.input)));
} else {
  const [seed, workers] = [whole("seed", 0), whole("workers", 1)];
  const worker = async () => {
    for (let target = names.shift(); target !== undefined; target = names.shift()) {
      const budget = values.seconds !== undefined
        ? { seconds: whole("seconds", 1) }
        : { inputs: values.inputs === undefined ? targetEntry(target).inputs : whole("inputs", 1) };
      good = show(await runCampaign({ target, seed, budget })) && good;
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
console.log(good ? "nothing found" : "something was found: try it again with --target NAME --input FILE");
Deno.exit(good ? 0 : 1);
