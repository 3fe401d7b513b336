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
  console.log(
    `${target.padEnd(14)} ${String(inputs).padStart(8)} inputs ${seconds.toFixed(1).padStart(7)} s ` +
      `${String(peak >> 20).padStart(4)} MiB  accepted ${accepted}  ${refused.join(", ")}`,
  );
  const paths = saveFindings(report, `${ROOT}artifacts/fuzz`);
  findings.forEach(({ index, what }, i) => console.log(`  FOUND at ${index}: ${what}\n  saved  ${paths[i]}`));
  return findings.length === 0;
}

const names = values.target === undefined ? Object.keys(TARGETS) : [values.target];
let good = true;
if (values.input !== undefined) {
  if (values.target === undefined) throw new Error("--input needs --target");
  good = show(await tryInput(values.target, Deno.readFileSync(values.input)));
} else {
  const seed = Number(values.seed);
  const worker = async () => {
    for (let target = names.shift(); target !== undefined; target = names.shift()) {
      const budget = values.seconds !== undefined
        ? { seconds: Number(values.seconds) }
        : { inputs: values.inputs === undefined ? targetEntry(target).inputs : Number(values.inputs) };
      good = show(await runCampaign({ target, seed, budget })) && good;
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, worker));
}
console.log(good ? "nothing found" : "something was found: try it again with --target NAME --input FILE");
Deno.exit(good ? 0 : 1);
