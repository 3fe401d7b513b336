/** Processors that qemu imitates instruction by instruction, so that a program takes the paths it takes on them. */
import { type CommandWords, outputOf } from "./_machine_program.ts";
import { LeftOut } from "./_machine_row.ts";

const LOADER = "/lib64/ld-linux-x86-64.so.2";
const ARM64_LIBRARIES = "/usr/aarch64-linux-gnu/lib";
/** Where the arm64 libraries come from, for people. */
const ARM64_PACKAGES = "libc6-arm64-cross and libstdc++6-arm64-cross";

/** What ONNX Runtime reads when it loads; the host's own file would tell it of another architecture. */
const ARM64_CPUINFO = [0, 1].map((core) =>
  [
    `processor\t: ${core}`,
    "BogoMIPS\t: 50.00",
    "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid",
    "CPU implementer\t: 0x41",
    "CPU architecture: 8",
    "CPU variant\t: 0x0",
    "CPU part\t: 0xd08",
    "CPU revision\t: 3",
    "",
    "",
  ].join("\n")
).join("");

function requireLinuxOnX64(): void {
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") {
    throw new LeftOut("emulation needs Linux with glibc on x86-64");
  }
}

/**
 * The highest level of x86-64 that glibc finds: v2 has SSE4.2, v3 AVX2, v4 AVX-512. Nothing where glibc does not say.
 *
 * @param words what the loader is started with: nothing on the host itself
 */
export async function x64Level(...words: string[]): Promise<string | undefined> {
  const [program, ...rest] = [...words, LOADER, "--help"];
  const help = await outputOf([program!, ...rest], "/").catch(() => "");
  return /^ *(x86-64-v\d) \(supported/m.exec(help)?.[1];
}

/** Deno of this host on another model of x86-64. @throws LeftOut; Error where the model has not the level it should */
export async function x64Emulator(
  { model, level }: { readonly model: string; readonly level: string },
): Promise<CommandWords> {
  requireLinuxOnX64();
  const emulator = ["qemu-x86_64-static", "-cpu", model] as const;
  await outputOf(["qemu-x86_64-static", "--version"], "/");
  const found = await x64Level(...emulator);
  if (found !== undefined && found !== level) throw new Error(`qemu's ${model} is ${found}, not ${level}`);
  return [...emulator, Deno.execPath()];
}

/**
 * The same version of Deno for arm64, from its npm package, with the C library of Debian's cross compiler.
 *
 * @param folder takes what is unpacked
 * @returns words that take `-cpu MODEL` after the first
 * @throws LeftOut
 */
export async function arm64Deno(folder: string): Promise<CommandWords> {
  requireLinuxOnX64();
  await outputOf(["qemu-aarch64-static", "--version"], "/");
  const loader = await Deno.stat(`${ARM64_LIBRARIES}/ld-linux-aarch64.so.1`).catch(() => undefined);
  if (loader === undefined) throw new LeftOut(`no arm64 C library here (Debian: ${ARM64_PACKAGES})`);
  await Deno.mkdir(`${folder}/sysroot/proc`, { recursive: true });
  await Deno.symlink(ARM64_LIBRARIES, `${folder}/sysroot/lib`);
  await Deno.writeTextFile(`${folder}/sysroot/proc/cpuinfo`, ARM64_CPUINFO);
  const name = `@deno/linux-arm64-glibc@${Deno.version.deno}`;
  try {
    const file = await outputOf(["npm", "pack", "--silent", name], folder);
    await outputOf(["tar", "xzf", file.trim()], folder);
  } catch (error) {
    throw new LeftOut(`${name} cannot be had: ${error instanceof Error ? error.message : error}`);
  }
  return ["qemu-aarch64-static", "-L", `${folder}/sysroot`, `${folder}/package/deno`];
}

/** The version of the emulators. */
export async function emulatorVersion(): Promise<string> {
  const said = await outputOf(["qemu-aarch64-static", "--version"], "/").catch(() => "");
  return ["qemu-user", /version (\d[\d.]*)/.exec(said)?.[1]].filter((part) => part !== undefined).join(" ");
}
