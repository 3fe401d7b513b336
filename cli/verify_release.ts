import { VERIFY_RELEASE } from "./_bundle_specs.ts";
import { command, executeCommand } from "./_command.ts";
import { checkRelease } from "./_release.ts";
import { verdictJson, verdictLines } from "./_verify.ts";
import { verifyApart } from "./_verify_apart.ts";

/** Where the releases lie: in the repository, and nowhere a user could point to. */
const FOLDER = decodeURIComponent(new URL("../fixtures/release", import.meta.url).pathname)
  .replace(/^\/(?=[A-Za-z]:)/, "");

/** `verify-release`: a published run against what the repository pins of it. */
export const verifyRelease = command(VERIFY_RELEASE, async ({ release }, { note, progress }) => {
  const { pins, result, key_id } = await checkRelease({
    release,
    folder: FOLDER,
    workspace: `artifacts/release-${crypto.randomUUID()}`,
    note,
    verify: (manifest) =>
      verifyApart(
        {
          reference: manifest,
          directory: "artifacts/runs",
          runtime: "wasm",
          level: "standard",
          otherCode: false,
          workers: 2,
        },
        progress.verification("standard"),
      ),
  });
  return {
    json: {
      schema: "tracewright.release-verification.v1",
      release,
      bundle: pins.bundle,
      key_id,
      verification: verdictJson(result),
    },
    lines: [
      `bundle     ok  ${pins.bundle.archive.digest}`,
      `members    ok  ${pins.bundle.archive.members} files`,
      `signature  ok  key ${key_id}`,
      ...verdictLines(result),
      `release    ${release} is good`,
    ],
  };
});

if (import.meta.main) await executeCommand(verifyRelease);
