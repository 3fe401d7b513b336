import { executeAndExit, type ProgramCommand } from "./_command.ts";

/**
 * All commands behind one name. A command's file is loaded only when it is called, so that `verify` neither needs the
 * permissions nor pays for the code of the others: `{ spec: VERIFY, load: async () => (await import("./verify.ts")).verify }`.
 */
const COMMANDS: readonly ProgramCommand[] = [];

if (import.meta.main) await executeAndExit({ call: "tracewright", commands: COMMANDS });
