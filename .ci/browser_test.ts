import assert from "node:assert/strict";
import { filesUnder, rooms } from "./_tree.ts";
import { isHostFile, isTestFile } from "./rooms.ts";

/**
 * Every room runs in a browser, but for the files that touch the host: each room is bundled for one, and what comes out
 * is searched for what only Deno or Node has. Host files stay outside of the bundle.
 */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

/** Rooms that stand on the store, and so cannot be whole without a host. */
const ON_THE_STORE = new Set(["stage", "verify", "pipeline"]);

/** What only tests stand on. */
const TEST_MATERIAL = /\/_(example|fixture)_[^/]*$/;

interface Bundle {
  /** What still is imported. */
  readonly imports: readonly string[];
  /** Uses of the host that were left in. */
  readonly hostUses: readonly string[];
}

async function bundled(entries: readonly string[]): Promise<Bundle> {
  const host = filesUnder("lib/").filter((path) => path.endsWith(".ts") && isHostFile(path));
  const folder = await Deno.makeTempDir();
  try {
    const entry = `${folder}/entry.ts`;
    // Printing a namespace keeps all of its module; an unused import would be dropped.
    const lines = entries.map((path, i) =>
      `import * as m${i} from "file://${ROOT}${path}";\nconsole.log(m${i});`
    );
    await Deno.writeTextFile(entry, lines.join("\n"));
    const output = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        "--frozen",
        "--platform=browser",
        `--config=${ROOT}deno.json`,
        ...host.map((path) => `--external=${ROOT}${path}`),
        `--output=${folder}/bundle.js`,
        entry,
      ],
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    assert.ok(output.success, new TextDecoder().decode(output.stderr));
    const code = await Deno.readTextFile(`${folder}/bundle.js`);
    const matches = (
      pattern: RegExp,
    ) => [...new Set([...code.matchAll(pattern)].map((match) => match[1] ?? ""))];
    return {
      imports: matches(/^(?:import|export)\b[^;'"]*["']([^"']+)["'];?$/gm),
      hostUses: [
        ...matches(/(\bDeno\.[A-Za-z]\w*)/g),
        ...matches(/(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](node:[a-z/]+)["']/g),
      ],
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

let bundles = 0;

for (const room of rooms()) {
  const entries = filesUnder(`lib/${room}/`).filter((path) =>
    /(?<!\.as)\.ts$/.test(path) && !isTestFile(path) && !isHostFile(path) && !TEST_MATERIAL.test(path)
  );
  if (entries.length === 0) continue;
  Deno.test(`lib/${room} runs in a browser`, async () => {
    const { imports, hostUses } = await bundled(entries);
    assert.deepEqual(hostUses, []);
    const foreign = imports.filter((path) => !isHostFile(path.replace(ROOT, "")));
    assert.deepEqual(ON_THE_STORE.has(room) ? foreign : imports, []);
    bundles++;
  });
}

Deno.test("at least one room was bundled, and the search finds a host where there is one", async () => {
  assert.ok(bundles > 0);
  const { hostUses } = await bundled([".ci/_tree.ts"]);
  assert.ok(hostUses.includes("Deno.readDirSync"));
});
