import { command, executeCommand } from "./_command.ts";
import { VERIFY } from "./_specs.ts";
import { verdictJson, verdictLines, verify as verifyRun } from "./_verify.ts";

/** `verify`: checks every claim of a finished run; reads only. */
export const verify = command(VERIFY, async (options, { progress }) => {
  const result = await verifyRun(
    { reference: options.manifest, directory: options.runs, ...options },
    progress.verification(options.level),
  );
  return { json: verdictJson(result), lines: verdictLines(result) };
});

if (import.meta.main) await executeCommand(verify);
