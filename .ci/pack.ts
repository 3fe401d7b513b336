/**
 * Writes the npm package to artifacts/, after looking at what is in it.
 *
 *     deno task pack
 *
 * The same commit gives the same bytes, wherever the checkout lies.
 */
import { digestOf } from "../lib/core/digest.ts";
import { buildPackage } from "./_package.ts";
import { contentFaults } from "./_package_contents.ts";

const { name, version, bytes, files } = await buildPackage();
const faults = contentFaults(files);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  Deno.exit(1);
}
const path = `artifacts/${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
await Deno.writeFile(new URL(`../${path}`, import.meta.url), bytes);
console.log(`${path}  ${bytes.length} bytes, ${files.size} files, ${digestOf(bytes)}`);
