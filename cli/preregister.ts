import {
  baseSeedOf,
  BENCHMARK_SEED,
  type Preregistration,
  preregistrationDigest,
  type RegistrationDifference,
  registrationDifference,
} from "../lib/pipeline/preregistration.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig, loadPreregistration, type ShippedConfig, shippedFile } from "./_config_file.ts";
import { PREREGISTER } from "./_matrix_specs.ts";
import { writeFileWhole } from "./_output.ts";

/** A config that must carry the derived seed. */
interface Checked {
  readonly file: string;
  /** Whether the rest of it must be the registered design, too. */
  readonly registered: boolean;
  readonly difference: RegistrationDifference | null;
}

interface Target {
  readonly file: string | undefined;
  readonly shipped: ShippedConfig;
  readonly registered: boolean;
}

/** `full-frozen` asks another question of the same benchmark, so it shares the seed and nothing else. */
const SHIPPED: readonly Target[] = [
  { file: undefined, shipped: "full", registered: true },
  { file: undefined, shipped: "full-frozen", registered: false },
];

const nameOf = ({ file, shipped }: Target): string => file ?? `configs/${shipped}.yaml`;

async function check(target: Target, registered: Preregistration): Promise<Checked> {
  const config = await loadConfig(target);
  const found = registrationDifference(config, registered);
  const [expected, actual] = [baseSeedOf(preregistrationDigest(registered)), config.seeds.benchmark_seed];
  const ofSeed = expected === actual ? null : { field: BENCHMARK_SEED, expected, actual };
  return {
    file: nameOf(target),
    registered: target.registered,
    difference: target.registered ? found : ofSeed,
  };
}

/** Puts the seed into the text of a config, unless that is another design; comments and everything else stay as they are. */
async function writeSeed(target: Target, registered: Preregistration): Promise<void> {
  const { difference } = await check(target, registered);
  if (difference?.field !== BENCHMARK_SEED) return;
  const seed = baseSeedOf(preregistrationDigest(registered));
  const path = target.file ?? decodeURIComponent(shippedFile(target.shipped).pathname);
  const text = await Deno.readTextFile(path);
  const written = text.replace(/^( *benchmark_seed: *)\d+/m, (_, key: string) => key + seed);
  writeFileWhole(path, new TextEncoder().encode(written));
}

function lineOf({ file, registered, difference }: Checked): string {
  if (difference === null) {
    return `${file}  ${registered ? "is the registered experiment" : "runs on the same benchmark"}`;
  }
  const { field, expected, actual } = difference;
  return `${file}  differs: ${field} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
}

/** `preregister`: says what was registered, which benchmark seed follows from it, and whether the configs carry both. */
export const preregister = command(PREREGISTER, async (options) => {
  const registered = await loadPreregistration();
  const P = preregistrationDigest(registered);
  const seed = baseSeedOf(P);
  const targets: readonly Target[] = options.config === undefined
    ? SHIPPED
    : [{ file: options.config, shipped: "full", registered: true }];
  if (options.write) { for (const target of targets) await writeSeed(target, registered); }
  const checked = await Promise.all(targets.map((target) => check(target, registered)));
  const good = checked.every(({ difference }) => difference === null);
  return {
    json: {
      preregistration: P,
      question: registered.question,
      hypothesis: registered.hypothesis,
      benchmark_seed: seed,
      registered: good,
      configs: checked.map(({ file, difference }) => ({
        file,
        difference: difference === null ? null : JSON.parse(JSON.stringify(difference)),
      })),
    },
    lines: [
      `preregistration  ${P}`,
      `question         ${registered.question}`,
      `hypothesis       ${registered.hypothesis}`,
      `benchmark seed   ${seed}  (the first 8 hexadecimal digits of the SHA-256 of the text ${
        P.slice(0, 15)
      }…)`,
      ...checked.map(lineOf),
      ...(good || options.write ? [] : ["", "deno task preregister --write writes the seed"]),
    ],
    verdict: good ? "good" : "wrong",
  };
});

if (import.meta.main) await executeCommand(preregister);
