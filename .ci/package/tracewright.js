#!/usr/bin/env node
/**
 * Runs the program under the Deno it was made for, with the permissions that the command documents and no others. The
 * unstable option is the one that takes permissions away from a thread.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const DENO = "2.9.6";
const { SPECS } = await import(new URL("../cli/_specs.js", import.meta.url));
const args = process.argv.slice(2);
const permissions = SPECS.find(({ name }) => name === args[0])?.permissions ?? [];
const main = fileURLToPath(new URL("../cli/main.js", import.meta.url));
const onWindows = process.platform === "win32";
const { status, error } = spawnSync(
  onWindows ? "npx.cmd" : "npx",
  ["-y", `deno@${DENO}`, "run", "--no-prompt", "--unstable-worker-options", ...permissions, main, ...args],
  { stdio: "inherit", shell: onWindows, env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" } },
);
if (error) console.error(`npx could not be run: ${error.message}`);
process.exit(status ?? 3);
