import { configError } from "../lib/pipeline/config_problem.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import { MAX_CONFIG_LENGTH, readConfig } from "../lib/pipeline/yaml_config.ts";

/**
 * Reads the experiment config of a command. A file that the user names is used as given; without one, the config
 * that ships with the program, wherever the program is called from.
 *
 * @throws TracewrightError of `readConfig`; Deno.errors.NotFound where the named file is missing
 */
export async function loadConfig(
  { file, shipped }: { readonly file: string | undefined; readonly shipped: "smoke" | "full" },
): Promise<ExperimentConfig> {
  const name = file ?? `configs/${shipped}.yaml`;
  const place = file ?? new URL(`../configs/${shipped}.yaml`, import.meta.url);
  const { size } = await Deno.stat(place);
  if (size > 4 * MAX_CONFIG_LENGTH) { // four bytes a character at most: too long, whatever it holds
    throw configError([{
      code: "config_too_large",
      path: [],
      message: "the file is too large for a config",
      expected: `at most ${MAX_CONFIG_LENGTH} characters`,
      actual: `${size} bytes`,
    }], () => ({ file: name, line: 1, column: 1 }));
  }
  return readConfig(await Deno.readTextFile(place), name);
}
