/** A folder for one test; it goes away with everything in it at the end of the scope. */
export function scratchFolder(): Disposable & { readonly path: string } {
  const path = Deno.makeTempDirSync({ prefix: "tracewright-" }).replaceAll("\\", "/");
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}
