/**
 * Runs inputs of one target and says on standard output what comes of them, a line each: `@N` before input N is read,
 * `!{…}` for a finding, `.{…}` at the end. The parent process watches: see `campaign.ts`.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { toBase64 } from "../../lib/store/base64.ts";
import { RandomStream } from "../../lib/core/random_stream.ts";
import { judge } from "./judge.ts";
import { smaller } from "./smaller.ts";
import { loadTarget } from "./targets.ts";

/** Growth of the process over what it has before the first input, in bytes. */
const MEMORY_CEILING = 512 * 2 ** 20;
/** Findings of different kinds that are reported; the rest is more of the same. */
const MAX_FINDINGS = 20;

const { values } = parseArgs({
  options: {
    target: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    count: { type: "string", default: "0" },
    milliseconds: { type: "string", default: "0" },
    input: { type: "string" },
    show: { type: "boolean", default: false },
  },
});
const encoder = new TextEncoder();
const say = (line: string) => {
  for (let rest = encoder.encode(line + "\n"); rest.length > 0;) {
    rest = rest.subarray(Deno.stdout.writeSync(rest));
  }
};
/** The most memory the process has ever had, in bytes; on Linux also what its parent had when it began. */
const peak = () => process.resourceUsage().maxRSS * 1024;

const target = await loadTarget(values.target);
const [seed, from, count, milliseconds] = [values.seed, values.from, values.count, values.milliseconds].map(
  Number,
) as [
  number,
  number,
  number,
  number,
];
const inputAt = (index: number) => target.make(new RandomStream(seed, "fuzz", values.target, index));

if (values.show) {
  say(`.${JSON.stringify({ input: toBase64(inputAt(from)) })}`);
  Deno.exit(0);
}

const only = values.input === undefined ? undefined : Deno.readFileSync(values.input);
const signatures = new Set<string>();
const codes: Record<string, number> = {};
let accepted = 0;
const base = Deno.memoryUsage().rss;
let ceiling = Math.max(peak(), base + MEMORY_CEILING);
const start = performance.now();
const cpu = process.cpuUsage();
let index = from;
let told = start;
/** What came of the inputs up to now; `done` where no more come. */
function tell(done: boolean): void {
  const used = process.cpuUsage(cpu);
  const seconds = (used.user + used.system) / 1e6;
  say(`.${JSON.stringify({ done, inputs: index - from, accepted, codes, peak: peak(), cpu: seconds })}`);
  told = performance.now();
}
for (; only === undefined ? milliseconds > 0 || index < from + count : index === from; index++) {
  if (milliseconds > 0 && performance.now() - start > milliseconds) break;
  if (performance.now() - told > 1000) tell(false);
  const input = only ?? inputAt(index);
  say(`@${index}`);
  const judgement = await judge(target, input);
  if (judgement.kind === "accepted") accepted++;
  else if (judgement.kind === "refused") codes[judgement.code] = (codes[judgement.code] ?? 0) + 1;
  else if (!signatures.has(judgement.signature) && signatures.size < MAX_FINDINGS) {
    const { signature } = judgement;
    signatures.add(signature);
    const same = async (candidate: Uint8Array<ArrayBuffer>) => {
      say(`@${index}`);
      const again = await judge(target, candidate);
      return again.kind === "finding" && again.signature === signature;
    };
    const least = await smaller(input, same, 2000);
    say(`!${JSON.stringify({ index, what: judgement.what, input: toBase64(least) })}`);
  }
  const now = peak();
  if (now > ceiling) {
    say(
      `!${JSON.stringify({ index, what: `memory: ${(now - base) >> 20} MiB more`, input: toBase64(input) })}`,
    );
    ceiling = now + MEMORY_CEILING;
  }
}
tell(true);
