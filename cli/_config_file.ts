import { usageError } from "./_usage_error.ts";
import { configError } from "../lib/pipeline/config_problem.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import { type Preregistration, preregistrationProblems } from "../lib/pipeline/preregistration.ts";
import { MAX_CONFIG_LENGTH, readConfig, readYaml } from "../lib/pipeline/yaml_config.ts";

/** The configs that ship with the program. */
export type ShippedConfig = "smoke" | "full" | "full-frozen";

/** Where a config of the program lies, wherever it is called from. */
export function shippedFile(name: ShippedConfig | "preregistration"): URL {
  return new URL(`../configs/${name}.yaml`, import.meta.url);
}

async function textOf(place: string | URL, name: string): Promise<string> {
  const { size, isFile } = await Deno.stat(place);
  if (!isFile) {
    throw usageError("not_a_file", { path: name, expected: "a config file", actual: "something else" });
  }
  if (size > 4 * MAX_CONFIG_LENGTH) { // four bytes a character at most: too long, whatever it holds
    throw configError([{
      code: "config_too_large",
      path: [],
      message: "the file is too large for a config",
      expected: `at most ${MAX_CONFIG_LENGTH} characters`,
      actual: `${size} bytes`,
    }], () => ({ file: name, line: 1, column: 1 }));
  }
  return await Deno.readTextFile(place);
}

/**
 * Reads the experiment config of a command. A file that the user names is used as given; without one, the config
 * that ships with the program, wherever the program is called from.
 *
 * @throws TracewrightError of `readConfig`; Deno.errors.NotFound where the named file is missing
 */
export async function loadConfig(
  { file, shipped }: { readonly file: string | undefined; readonly shipped: ShippedConfig },
): Promise<ExperimentConfig> {
  const name = file ?? `configs/${shipped}.yaml`;
  return readConfig(await textOf(file ?? shippedFile(shipped), name), name);
}

/**
 * Reads the pre-registration that ships with the program. There is no other: a claim is about what was registered, not
 * about what somebody registers for the occasion.
 *
 * @throws TracewrightError of `readYaml`
 */
export async function loadPreregistration(): Promise<Preregistration> {
  const name = "configs/preregistration.yaml";
  const text = await textOf(shippedFile("preregistration"), name);
  return readYaml(text, { file: name, problemsOf: preregistrationProblems });
}
