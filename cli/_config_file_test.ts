import assert from "node:assert/strict";
import { loadConfig } from "./_config_file.ts";

Deno.test("loadConfig() takes the shipped config wherever it is called from", async () => {
  assert.equal((await loadConfig({ file: undefined, shipped: "smoke" })).name, "smoke");
  assert.equal((await loadConfig({ file: undefined, shipped: "full" })).name, "full");
});

Deno.test("loadConfig() never falls back from a file that the user named", async () => {
  await assert.rejects(loadConfig({ file: "configs/smok.yaml", shipped: "smoke" }), Deno.errors.NotFound);
});

Deno.test("loadConfig() refuses a file that is too large before reading it", async () => {
  const file = await Deno.makeTempFile();
  try {
    await Deno.truncate(file, 300_000);
    await assert.rejects(loadConfig({ file, shipped: "smoke" }), { code: "config_too_large" });
  } finally {
    await Deno.remove(file);
  }
});
