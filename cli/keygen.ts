import { generateKeyFiles, readVerifyingKey } from "../lib/store/signing_key.ts";
import { KEYGEN } from "./_bundle_specs.ts";
import { command, executeCommand } from "./_command.ts";
import { usageError } from "./_usage_error.ts";

const PROGRAM = Deno.build.os === "windows"
  ? undefined
  : decodeURIComponent(new URL("../", import.meta.url).pathname).replace(/\/$/, "");

function folderOf(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return Deno.realPathSync(at < 0 ? "." : path.slice(0, at) || "/").replaceAll("\\", "/");
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A private key inside a checkout is published by the next commit that takes everything. */
function refuseCheckout(path: string): void {
  for (
    let folder = folderOf(path);
    folder !== "";
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))
  ) {
    if (folder !== PROGRAM && !exists(`${folder}/.git`)) continue;
    throw usageError("key_in_repository", {
      message: "a private key may not lie in a repository",
      path,
      actual: folder,
      hint: "name a file outside of it, such as ~/.config/tracewright/signing.pem",
    });
  }
}

function createNew(path: string, text: string, mode: number): void {
  if (exists(path)) {
    throw usageError("file_exists", { message: "a key is never replaced", path, hint: "name another file" });
  }
  using file = Deno.openSync(path, { write: true, createNew: true, mode });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  file.syncSync();
}

/** `keygen`: a private key that only its owner can read, and the public half. */
export const keygen = command(KEYGEN, async (options) => {
  refuseCheckout(options.privateKey);
  const files = await generateKeyFiles();
  const { id } = await readVerifyingKey(files.publicKey);
  createNew(options.privateKey, files.privateKey, 0o600);
  createNew(options.publicKey, files.publicKey, 0o644);
  return {
    json: { key_id: id, private_key: options.privateKey, public_key: options.publicKey },
    lines: [
      `key      ${id}`,
      `private  ${options.privateKey}  (no password: whoever reads it can sign as you)`,
      `public   ${options.publicKey}`,
    ],
  };
});

if (import.meta.main) await executeCommand(keygen);
