/** The files of the repository as the checks see them: by path from the root, without what is generated or ignored. */

const ROOT = new URL("../", import.meta.url);
const IGNORED = new Set([".git", "node_modules"]);

function* walk(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(new URL(folder === "" ? "." : folder, ROOT))) {
    const path = folder + entry.name;
    if (
      entry.isDirectory && !IGNORED.has(entry.name) && path !== "artifacts/runs" && path !== "artifacts/store"
    ) {
      yield* walk(path + "/");
    }
    if (entry.isFile) yield path;
  }
}

/** Paths under a folder (`""` is the root; otherwise with a `/` at the end), sorted. Empty where there is no folder. */
export function filesUnder(folder: string): string[] {
  try {
    return [...walk(folder)].sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** What the next commit would hold: tracked files that are still there. All files where this is no git checkout. */
export async function committedFiles(): Promise<string[]> {
  const git = new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT, stderr: "null" });
  const present = new Set(filesUnder(""));
  try {
    const { success, stdout } = await git.output();
    if (success) return new TextDecoder().decode(stdout).split("\0").filter((path) => present.has(path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return [...present].filter((path) => !path.startsWith("artifacts/"));
}

/** The text of a file by its path from the root. */
export function textOf(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** The folders of `lib`. */
export function rooms(): string[] {
  return [...Deno.readDirSync(new URL("lib", ROOT))].filter((entry) => entry.isDirectory)
    .map(({ name }) => name).sort();
}
