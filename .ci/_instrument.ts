/**
 * Copies what the verifier and its attacks need into a folder and gives every check its switch. Runs under `deno test`, where
 * sources can be parsed: `deno test -A .ci/_instrument.ts -- FOLDER`.
 */
import { checkedFiles } from "./checked_files.ts";
import { checkSites } from "./check_sites.ts";
import { withSwitches } from "./with_switches.ts";
import { filesUnder } from "./_tree.ts";

const ROOT = new URL("../", import.meta.url);
const folder = Deno.args[0]!;

const sources = checkedFiles();
const found = checkSites(sources);
const rewritten = new Map(
  sources.map(({ path, text }, i) => [path, withSwitches(text, found[i]!.sites)]),
);
const copied = ["lib/", "cli/", "configs/", "fixtures/attacks/", ".ci/"].flatMap(filesUnder)
  .filter((path) => !/_(test|bench)\.ts$/.test(path));
for (const path of ["deno.json", "deno.lock", ...copied]) {
  const target = `${folder}/${path}`;
  Deno.mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
  const text = rewritten.get(path);
  if (text === undefined) Deno.copyFileSync(new URL(path, ROOT), target);
  else Deno.writeTextFileSync(target, text);
}
Deno.symlinkSync(new URL("node_modules", ROOT), `${folder}/node_modules`, { type: "dir" });
Deno.writeTextFileSync(`${folder}/sites.json`, JSON.stringify(found.flatMap(({ sites }) => sites)));
