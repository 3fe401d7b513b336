import assert from "node:assert/strict";
import { runCampaign, tryInput } from "./fuzz/campaign.ts";
import { smaller } from "./fuzz/smaller.ts";
import { BROKEN, loadTarget, TARGETS } from "./fuzz/targets.ts";

/**
 * That the fuzzer can fail: each target with something wrong in it is reported, and the input that shows it is saved
 * and shows it again. What the fuzzer says of the real targets is the business of `deno task fuzz`.
 */

const SAYS: Readonly<Record<string, RegExp>> = {
  "broken-exception": /^exception: RangeError: Invalid array length/,
  "broken-code": /^unexpected code surprising/,
  "broken-property": /^accepted, but: Error: written again, it is something else/,
  "broken-loop": /^no answer in [\d.]+ s/,
  "broken-memory": /^memory: \d+ MiB more/,
  "broken-exit": /^the process ended/,
  "broken-promise": /^the process ended: .*promise never resolved/s,
  "broken-write": /^exception: NotCapable: Requires write access/,
};

/** Milliseconds that a loop is given; the others end by themselves. */
const patienceWith = (name: string) => name === "broken-loop" ? 1_500 : 30_000;

assert.deepEqual(Object.keys(SAYS), Object.keys(BROKEN));
for (const [name, says] of Object.entries(SAYS)) {
  Deno.test(`runCampaign() finds what is wrong with ${name}`, async () => {
    const { findings, inputs } = await runCampaign({
      target: name,
      seed: 1,
      budget: { inputs: BROKEN[name]!.inputs },
      patience: patienceWith(name),
      deaths: 1,
    });
    assert.ok(inputs >= 1);
    const [first] = findings;
    assert.ok(first !== undefined, "it found nothing");
    assert.match(first.what, says);
    assert.ok(first.input[0]! < 16, "the input is not the one that shows it");
    const again = await tryInput(name, first.input, patienceWith(name));
    assert.match(again.findings[0]?.what ?? "nothing", says);
  });
}

Deno.test("runCampaign() gives the same inputs for the same seed, and others for another", async () => {
  const run = async (seed: number) => {
    const { codes, accepted, findings } = await runCampaign({
      target: "canonical-json",
      seed,
      budget: { inputs: 200 },
    });
    assert.deepEqual(findings, []);
    return { codes, accepted };
  };
  const first = await run(5);
  assert.deepEqual(await run(5), first);
  assert.notDeepEqual(await run(6), first);
  assert.ok(first.accepted > 20 && first.codes["not_canonical"]! > 20, "the inputs are all of one kind");
});

Deno.test("smaller() takes out whatever is not needed", async () => {
  const input = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
  const needed = async (candidate: Uint8Array) => {
    await Promise.resolve();
    return candidate.includes(17) && candidate.includes(93);
  };
  assert.deepEqual([...await smaller(input, needed, 500)].sort(), [17, 93]);
});

Deno.test("every target has inputs, and codes to refuse them with", async () => {
  for (const [name, { inputs }] of Object.entries(TARGETS)) {
    const { codes } = await loadTarget(name);
    assert.ok(inputs > 0 && codes.length > 0, name);
  }
});
