/**
 * Builds the committed WebAssembly modules from their AssemblyScript sources.
 *
 *     deno task wasm            writes lib/core/numerics.wasm and lib/learn/kernels.wasm
 *     deno task wasm --check    builds in memory and exits 1 where the committed bytes differ
 */
import asc from "assemblyscript/asc";

const COMMON = ["-O3", "--enable", "simd", "--runtime", "stub", "--noAssert"];
const MODULES = [
  { source: "lib/core/asm/numerics.as.ts", output: "lib/core/numerics.wasm", flags: [] as string[] },
  {
    source: "lib/learn/asm/kernels.as.ts",
    output: "lib/learn/kernels.wasm",
    flags: ["--initialMemory", "2048", "--maximumMemory", "2048"],
  },
];

async function build(source: string, flags: string[]): Promise<Uint8Array> {
  let binary: Uint8Array | undefined;
  const { error, stderr } = await asc.main([source, "--outFile", "out.wasm", ...COMMON, ...flags], {
    readFile: (name, base) => {
      try {
        return Deno.readTextFileSync(`${base}/${name}`);
      } catch {
        return null; // the compiler probes for files; absence is its normal case
      }
    },
    writeFile: (name, contents) => {
      if (name === "out.wasm") binary = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error || !binary) throw new Error(`${source}: ${error?.message ?? "no output"}\n${stderr.toString()}`);
  return binary;
}

const check = Deno.args.includes("--check");
let stale = 0;
for (const { source, output, flags } of MODULES) {
  const bytes = await build(source, flags);
  if (check) {
    const committed = await Deno.readFile(output);
    const same = committed.length === bytes.length && committed.every((b, i) => b === bytes[i]);
    console.log(`${output}: ${same ? "same bytes" : "DIFFERS from its source; run: deno task wasm"}`);
    if (!same) stale++;
  } else {
    await Deno.writeFile(output, bytes);
    console.log(`${output}: ${bytes.length} bytes`);
  }
}
if (stale > 0) Deno.exit(1);
