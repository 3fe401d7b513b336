import { z } from "zod";
import { sha256Hex } from "../core/digest.ts";
import { type CodeFile, type CodePackage, digestOfCode, type StageCodes } from "./codes.ts";
import { stageError } from "./stage_error.ts";

const graphSchema = z.object({
  roots: z.array(z.string()).length(1),
  modules: z.array(z.object({
    kind: z.string().optional(),
    specifier: z.string(),
    error: z.string().optional(),
    npmPackage: z.string().optional(),
    dependencies: z.array(z.object({
      specifier: z.string(),
      code: z.object({ specifier: z.string().optional(), error: z.string().optional() }).optional(),
    })).optional(),
  })),
  redirects: z.record(z.string(), z.string()).optional(),
  npmPackages: z.record(z.string(), z.object({ dependencies: z.array(z.string()) })).optional(),
});
const lockSchema = z.object({ npm: z.record(z.string(), z.object({ integrity: z.string() })).optional() });

type Module = z.infer<typeof graphSchema>["modules"][number];

/**
 * The code that a stage module is made of: itself and everything it imports, transitively. `import type` does not
 * count; an `import()` with a fixed name does, since it runs too.
 *
 * @param options.graph the output of `deno info --json <module>`
 * @param options.lock the content of `deno.lock`, parsed
 * @param options.root the repository as a file URL that ends in `/`
 * @param options.readFile content of a path from the top of the repository
 * @throws TracewrightError "bad_codes" for a module that cannot be found, lies outside the repository, or is pinned by
 * nothing
 */
export function stageCodes({ graph, lock, root, readFile }: {
  graph: unknown;
  lock: unknown;
  root: string;
  readFile: (path: string) => Uint8Array;
}): StageCodes {
  const { roots, modules, redirects = {}, npmPackages = {} } = graphSchema.parse(graph);
  const locked = lockSchema.parse(lock).npm ?? {};
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const files = new Map<string, CodeFile>();
  const packages = new Map<string, CodePackage>();

  const addPackage = (id: string): void => {
    if (packages.has(id)) return;
    const integrity = locked[id]?.integrity;
    if (integrity === undefined) {
      throw stageError("bad_codes", { message: "deno.lock does not pin a package", package: id });
    }
    packages.set(id, { name: id, integrity });
    for (const dependency of npmPackages[id]?.dependencies ?? []) addPackage(dependency);
  };
  const addModule = (specifier: string, importer: string): void => {
    const resolved = redirects[specifier] ?? specifier;
    if (resolved.startsWith("node:")) return; // part of the runtime
    const module = bySpecifier.get(resolved);
    if (module === undefined || module.error !== undefined) {
      throw stageError("bad_codes", {
        message: module?.error ?? "a module is not there",
        importer,
        module: resolved,
      });
    }
    if (module.npmPackage !== undefined) return addPackage(module.npmPackage);
    const path = pathOf(module, root, importer);
    if (files.has(path)) return;
    files.set(path, { path, sha256: sha256Hex(readFile(path)) });
    for (const { specifier: text, code } of module.dependencies ?? []) {
      if (code === undefined) continue;
      if (code.specifier === undefined) {
        throw stageError("bad_codes", {
          message: code.error ?? "an import leads nowhere",
          importer: path,
          module: text,
        });
      }
      addModule(code.specifier, path);
    }
  };
  addModule(roots[0]!, "");

  const sortedFiles = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const sortedPackages = [...packages.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { code: digestOfCode(sortedFiles, sortedPackages), files: sortedFiles, packages: sortedPackages };
}

function pathOf(module: Module, root: string, importer: string): string {
  const { specifier } = module;
  if (!specifier.startsWith(root)) {
    throw stageError("bad_codes", {
      message: "a module lies outside the repository",
      importer,
      module: specifier,
    });
  }
  const path = decodeURIComponent(specifier.slice(root.length));
  if (path.endsWith("/codes.json")) {
    throw stageError("bad_codes", { message: "a stage must not read the digests of its own code", importer });
  }
  return path;
}
