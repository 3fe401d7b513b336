import assert from "node:assert/strict";
import { scratchFolder } from "../lib/store/scratch_folder.ts";
import { MutantProcess } from "./_mutant_process.ts";

/** A runner that answers, ends or is silent, as it is asked. */
const RUNNER = `
  console.log(JSON.stringify(["answer", "end", "silence"]));
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const { attack } = JSON.parse(chunk);
    if (attack === "end") Deno.exit(1);
    if (attack === "answer") console.log(JSON.stringify({ outcome: "same", answer: "fine", fired: [] }));
  }
`;

function folderOfRunner() {
  const folder = scratchFolder();
  Deno.mkdirSync(`${folder.path}/.ci`);
  Deno.writeTextFileSync(`${folder.path}/.ci/_mutant_runner.ts`, RUNNER);
  return folder;
}

Deno.test("MutantProcess.ask() starts again after a job that ended the process", async () => {
  using folder = folderOfRunner();
  await using runner = await new MutantProcess(folder.path).open();
  assert.deepEqual(runner.attacks, ["answer", "end", "silence"]);
  const ended = await runner.ask({ attack: "end" });
  assert.deepEqual([ended.outcome, ended.answer], ["crashed", "the process ends"]);
  assert.equal((await runner.ask({ attack: "answer" })).answer, "fine");
});

Deno.test("MutantProcess.ask() gives up a job that does not end", async () => {
  using folder = folderOfRunner();
  await using runner = await new MutantProcess(folder.path, { patienceMs: 100 }).open();
  const { outcome, answer } = await runner.ask({ attack: "silence" });
  assert.deepEqual([outcome, answer], ["crashed", "it does not end"]);
});
