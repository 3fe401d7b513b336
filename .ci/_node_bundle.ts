import { type CommandWords, outputOf } from "./_machine_program.ts";
import { LeftOut } from "./_machine_row.ts";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The esbuild that `deno bundle` has fetched for itself, whatever the platform calls it. */
async function esbuild(): Promise<string> {
  const { denoDir } = JSON.parse(await outputOf([Deno.execPath(), "info", "--json"], here("."))) as {
    readonly denoDir: string;
  };
  for (const folder of Deno.readDirSync(`${denoDir}/dl`)) {
    if (!folder.name.startsWith("esbuild-")) continue;
    const file = [...Deno.readDirSync(`${denoDir}/dl/${folder.name}`)].find(({ name }) =>
      /^esbuild/.test(name)
    );
    if (file !== undefined) return `${denoDir}/dl/${folder.name}/${file.name}`;
  }
  throw new LeftOut("deno bundle has left no esbuild");
}

/**
 * Bundles the whole pipeline for a browser, makes plain ES2022 of it (Node 20 has no `using`), and returns the words that
 * run it in Node; the config's file comes after them.
 *
 * @param folder takes the bundle
 * @throws LeftOut where there is no Node with another V8 than Deno's
 */
export async function nodeBundle(folder: string): Promise<CommandWords> {
  const engine = (await outputOf(["node", "--print", "process.versions.v8"], folder)).trim();
  // Where there is no Node, Deno answers to its name.
  if (engine === Deno.version.v8) throw new LeftOut("no Node with another V8 here");
  await outputOf([
    Deno.execPath(),
    "bundle",
    "--quiet",
    "--frozen",
    "--platform=browser",
    // The reference runtime is bundled; these are loaded by the other runtimes only.
    "--external=onnxruntime-node",
    "--external=onnxruntime-web/wasm",
    `--config=${here("../deno.json")}`,
    `--output=${folder}/bundle.mjs`,
    here("_pipeline_in_memory.ts"),
  ], folder);
  await outputOf([
    await esbuild(),
    "--target=es2022",
    "--log-level=error",
    `--outfile=${folder}/plain.mjs`,
    `${folder}/bundle.mjs`,
  ], folder);
  return ["node", here("_second_engine.mjs"), `${folder}/plain.mjs`];
}
