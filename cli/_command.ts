import { Argument, Command, CommanderError } from "commander";
import type { Json } from "../lib/core/canonical_json.ts";
import { errorJson, errorText } from "./_error_report.ts";
import { type ExitCode, exitCodeOf } from "./_exit_code.ts";
import { flag, type OptionSet, type OptionValues } from "./_options.ts";
import { ProgressDisplay } from "./_progress.ts";
import { processTerminal, type Terminal } from "./_terminal.ts";
import { usageError } from "./_usage_error.ts";

/** What a command is called, takes and says about itself. */
export interface CommandSpec {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** A value without a flag; may be left out by the user. */
  readonly argument?: { readonly name: string; readonly description: string };
  readonly options: OptionSet;
  /** Command lines without the program's name. */
  readonly examples: readonly string[];
  /** What the command needs of Deno. */
  readonly permissions: readonly string[];
}

/** What a command may use besides its options. */
export interface CommandContext {
  /** The value without a flag, where the spec has one and the user gave it. */
  readonly argument: string | undefined;
  /** Takes the events of a scheduler. */
  readonly progress: ProgressDisplay;
  /** Says something to a person; never part of a result. */
  note(line: string): void;
}

/** What a command found. */
export interface CommandResult {
  /** The whole result, for `--json`. */
  readonly json: Json;
  /** The same for a person. */
  readonly lines: readonly string[];
  /** Whether what was checked is good; without it, it is. */
  readonly verdict?: "good" | "wrong";
}

/** The work of a command. */
export type CommandBody<Spec extends CommandSpec> = (
  options: OptionValues<Spec["options"]>,
  context: CommandContext,
) => Promise<CommandResult>;

/** A spec with its work. `run` takes the options as the spec's parsers give them. */
export interface RunnableCommand {
  readonly spec: CommandSpec;
  run(options: Readonly<Record<string, unknown>>, context: CommandContext): Promise<CommandResult>;
}

/** Ties a body to its spec, so that the body sees typed options. */
export function command<Spec extends CommandSpec>(spec: Spec, body: CommandBody<Spec>): RunnableCommand {
  // The parsers of the spec made these values, so their types are what the spec says.
  return { spec, run: (options, context) => body(options as OptionValues<Spec["options"]>, context) };
}

/** How often a live line is drawn again where nothing happens, in milliseconds. */
const TICK = 500;

const JSON_FLAG = flag("--json", "print the result as one JSON document on standard output");

/** A spec as `commander` wants it. `done` receives what was parsed. */
function commandOf(
  { spec, program, offered }: { spec: CommandSpec; program: string; offered: "alone" | "among others" },
  done: (options: Record<string, unknown>, argument: string | undefined) => void,
): Command {
  const alone = offered === "alone"; // the program is the command, so its name is not said again
  const result = new Command(spec.name).summary(spec.summary).description(spec.summary);
  if (spec.argument) result.addArgument(new Argument(`[${spec.argument.name}]`, spec.argument.description));
  const options = Object.entries({ ...spec.options, json: JSON_FLAG });
  for (const [name, option] of options) {
    const built = option.build();
    if (built.attributeName() !== name) {
      throw new TypeError(`option ${option.flags} is called ${name} in its spec`);
    }
    result.addOption(built);
  }
  result.allowExcessArguments(false);
  result.addHelpText(
    "after",
    [
      "",
      "Examples:",
      ...spec.examples.map((line) =>
        `  ${program} ${alone ? line.split(" ").slice(1).join(" ") : line}`.trimEnd()
      ),
      "",
      "Needs:",
      `  ${spec.permissions.join(" ")}`,
      "",
    ].join("\n"),
  );
  result.action((...given: unknown[]) => {
    const argument = spec.argument && typeof given[0] === "string" ? given[0] : undefined;
    done(result.opts(), argument);
  });
  return result;
}

/** A command that a program offers. */
export interface ProgramCommand {
  readonly spec: CommandSpec;
  /** Loads the work of the command, so that no command pays for what another one needs. */
  load(): Promise<RunnableCommand>;
}

/** How commands are offered: several behind one program, or one alone in its file. */
export interface Program {
  /** How a user calls it, for the examples. */
  readonly call: string;
  readonly commands: readonly ProgramCommand[];
}

interface Chosen {
  readonly command: ProgramCommand;
  readonly options: Readonly<Record<string, unknown>>;
  readonly argument: string | undefined;
}

interface Parsed {
  readonly chosen?: Chosen;
  /** Help that was asked for. */
  readonly help: string;
}

/**
 * Reads a command line. Help that was asked for is returned as text.
 *
 * @throws TracewrightError "bad_command_line", with the nearest option or command as the hint
 */
function parse(program: Program, args: readonly string[]): Parsed {
  const [only, ...others] = program.commands;
  let chosen: Chosen | undefined;
  let [help, complaint] = ["", ""];
  const single = only !== undefined && others.length === 0;
  const build = (command: ProgramCommand) =>
    commandOf(
      { spec: command.spec, program: program.call, offered: single ? "alone" : "among others" },
      (options, argument) => {
        chosen = { command, options, argument };
      },
    );
  const root = single ? build(only) : new Command(program.call);
  if (!single) {
    root.description("Reinforcement-learning experiments whose every number can be recomputed.");
    root.helpCommand(false);
    for (const command of program.commands) root.addCommand(build(command));
  }
  for (const part of [root, ...root.commands]) {
    part.exitOverride().configureOutput({
      writeOut: (text) => help += text,
      writeErr: (text) => complaint += text,
      // Without these the library reads the environment, which a verifier may not do.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    });
  }
  // Tasks pass on the `--` that separates their own options.
  const given = args[0] === "--" ? args.slice(1) : args;
  const names = program.commands.map(({ spec }) => spec.name);
  if (!single && given.length === 0) {
    throw usageError("bad_command_line", {
      message: "no command given",
      expected: `one of ${names.join(", ")}`,
      hint: `${program.call} --help`,
    });
  }
  try {
    root.parse([...given], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { help };
    const [what = "", near] = complaint.replace(/^error: /, "").trim().split("\n(");
    const ask = !single && names.includes(given[0] ?? "") ? ` ${given[0]}` : "";
    throw usageError("bad_command_line", {
      message: what,
      hint: near ? near.replace(/\)$/, "").replace("Did", "did") : `${program.call}${ask} --help`,
    });
  }
  return { help, ...(chosen ? { chosen } : {}) };
}

/** Keeps the live line of a terminal going; without a terminal there is none. */
function ticking(progress: ProgressDisplay, { interactive }: Terminal): Disposable {
  const timer = interactive ? setInterval(() => progress.tick(), TICK) : undefined;
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Runs a program on a command line and says with which code to exit.
 *
 * Results go to standard output, as lines or with `--json` as one document; everything else goes to standard error.
 */
export async function execute(
  program: Program,
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  using progress = new ProgressDisplay(terminal);
  using _ticking = ticking(progress, terminal);
  try {
    const { chosen, help } = parse(program, args);
    if (!chosen) {
      terminal.out(help);
      return 0;
    }
    const { json, ...options } = chosen.options;
    const body = await chosen.command.load();
    const result = await body.run(options, {
      argument: chosen.argument,
      progress,
      note: (line) => progress.note(line),
    });
    progress.close();
    terminal.out(
      json ? JSON.stringify(result.json) + "\n" : result.lines.map((line) => line + "\n").join(""),
    );
    return result.verdict === "wrong" ? 1 : 0;
  } catch (error) {
    progress.close();
    if (args.includes("--json")) terminal.out(JSON.stringify(errorJson(error)) + "\n");
    terminal.err(errorText(error) + "\n");
    return exitCodeOf(error);
  }
}

/**
 * Runs a program as this process: its command line, its streams, its exit code. An interrupt ends it at once, as a kill
 * would; what finished before is kept, so nothing needs to be saved first.
 */
export async function executeAndExit(program: Program): Promise<never> {
  const terminal = processTerminal();
  Deno.addSignalListener("SIGINT", () => {
    terminal.err("\ninterrupted; finished stages are kept, the same command goes on from there\n");
    Deno.exit(130);
  });
  Deno.exit(await execute(program, Deno.args, terminal));
}

/** Runs one command as this process, for `deno run cli/<command>.ts`. */
export function executeCommand(runnable: RunnableCommand): Promise<never> {
  const { spec } = runnable;
  const call = `deno run ${spec.permissions.join(" ")} cli/${spec.name.replaceAll("-", "_")}.ts`;
  return executeAndExit({ call, commands: [{ spec, load: () => Promise.resolve(runnable) }] });
}
