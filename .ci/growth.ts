/**
 * Measures how time and memory grow with the number of test cases: one variant and one seed of the full experiment, from
 * nothing to the finished run folder, without verification. Takes minutes; Linux only.
 *
 *     deno task growth [CASES...]                 1000 10000 100000 unless given
 *
 * Writes fixtures/results/growth.json and docs/growth.svg. A test holds the picture to the figures.
 */
import { hostFacts } from "../lib/store/facts.ts";
import { type Growth, type GrowthPoint, growthSvg } from "./growth_chart.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);
const SIZES = [1_000, 10_000, 100_000] as const;
const [VARIANT, SEED] = ["E-PPO-Progress-Mask", 17] as const;
/** How often the process is looked at, in milliseconds. What is seen are the kernel's own sums and high-water mark. */
const LOOK_EVERY = 50;
/** USER_HZ, which is 100 on every Linux that Deno runs on. */
const TICKS_A_SECOND = 100;

/** What the kernel says of a process so far. */
interface Use {
  /** Largest resident memory, MiB. */
  readonly peakMib: number;
  /** Processor time of all threads, user and system. */
  readonly cpuSeconds: number;
}

/** Undefined once the process has ended. */
function useOf(pid: number): Use | undefined {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
    // The name of the program, in parentheses, may hold spaces; utime and stime are fields 14 and 15.
    const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /, "").split(" ");
    if (kib === undefined) return undefined;
    return {
      peakMib: Number(kib) / 1024,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND,
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || (error as { code?: unknown }).code === "ESRCH") {
      return undefined;
    }
    throw error;
  }
}

/** Seconds by node, from the lines that the command prints as stages end. */
function stageSeconds(stderr: string): Record<string, number> {
  const lines = stderr.matchAll(/^([a-z0-9/_-]+) {2}(\d+\.\d) s$/gm);
  return Object.fromEntries(Array.from(lines, ([, node, seconds]) => [node!, Number(seconds)]));
}

async function measure(cases: number): Promise<GrowthPoint> {
  const folder = await Deno.makeTempDir({ prefix: "tracewright-growth-" });
  try {
    const config = `${folder}/growth.yaml`;
    const full = await Deno.readTextFile(`${ROOT}/configs/full.yaml`);
    await Deno.writeTextFile(config, full.replace(/test_tasks: \d+/, `test_tasks: ${cases}`));
    const began = performance.now();
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--frozen",
        "--no-prompt",
        "--allow-read",
        `--allow-write=${folder}`,
        "--allow-ffi",
        "--allow-env=LOG_STREAM,LOG_TOKENS",
        "cli/train.ts",
        ...["-c", config, "--variant", VARIANT, "--seed", `${SEED}`],
        ...["--store", `${folder}/store`, "--output", `${folder}/runs`],
      ],
      cwd: ROOT,
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let use: Use = { peakMib: 0, cpuSeconds: 0 };
    const looking = setInterval(() => use = useOf(child.pid) ?? use, LOOK_EVERY);
    const { code, stderr } = await child.output().finally(() => clearInterval(looking));
    const seconds = (performance.now() - began) / 1000;
    const said = new TextDecoder().decode(stderr);
    if (code !== 0) throw new Error(`train ended with ${code}:\n${said}`);
    return {
      cases,
      seconds: Math.round(seconds * 10) / 10,
      cpu_seconds: Math.round(use.cpuSeconds * 10) / 10,
      peak_mib: Math.round(use.peakMib),
      stages: stageSeconds(said),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const given = Deno.args.filter((arg) => arg !== "--");
  if (given.some((arg) => !/^[1-9]\d{0,5}$/.test(arg) || Number(arg) > 100_000)) {
    console.error("growth.ts [CASES...]: whole numbers up to 100000");
    Deno.exit(2);
  }
  const sizes = given.length === 0 ? SIZES : given.map(Number).sort((a, b) => a - b);
  const { deno, os, arch, cores } = hostFacts() as Growth["host"];
  const host = { deno: deno!, os: os!, arch: arch!, cores: cores! };
  const points: GrowthPoint[] = [];
  for (const cases of sizes) {
    const point = await measure(cases);
    points.push(point);
    const before = points.at(-2);
    const ratio = before === undefined
      ? ""
      : `, ${(point.cases / before.cases).toFixed(1)} times the cases in ` +
        `${(point.seconds / before.seconds).toFixed(2)} times the time, ` +
        `${(point.cpu_seconds / before.cpu_seconds).toFixed(2)} times the processor time and ` +
        `${(point.peak_mib / before.peak_mib).toFixed(2)} times the memory`;
    console.log(
      `${cases} cases: ${point.seconds} s, ${point.cpu_seconds} s of processor time, ${point.peak_mib} MiB${ratio}`,
    );
    console.log(`  ${Object.entries(point.stages).map(([node, s]) => `${node} ${s}`).join(", ")}`);
    // After each size, so that what was measured is there when a longer one is given up.
    const growth: Growth = { variant: VARIANT, seed: SEED, host, points };
    await Deno.writeTextFile(`${ROOT}/fixtures/results/growth.json`, JSON.stringify(growth, null, 2) + "\n");
    await Deno.writeTextFile(`${ROOT}/docs/growth.svg`, growthSvg(growth));
  }
}
