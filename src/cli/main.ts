/** Runs a command line and returns its exit code. */
import { quote, ResourceError } from "../errors.ts";
import { parseArguments } from "./arguments.ts";
import { type Command, type commonFlags, type FlagValues, UsageError, type CommandContext } from "./command.ts";
import { allCommands, commands, loadCommand } from "./commands/index.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { checkLogFormat } from "./log-format.ts";
import { helpFor, overview } from "./help.ts";
import { jsonLogLine } from "../lib/log-line.ts";
import { neededPackages } from "../lib/missing-package.ts";
import { nearest } from "../lib/nearest.ts";
import { plainText, print } from "./print.ts";

export async function main(words: readonly string[], world: CommandContext): Promise<number> {
  const code = await runCommand(words, world);
  if (neededPackages().length === 0 || !world.out.isTTY || !world.err.isTTY) return code;
  const { offerInstall } = await import("./offer-install.ts");
  return (await offerInstall(words, neededPackages(), world)) ?? code;
}

async function runCommand(words: readonly string[], world: CommandContext): Promise<number> {
  let format: unknown = world.env["PRESSMARK_LOG_FORMAT"];
  try {
    const [name, ...rest] = words;
    if (name === "--version" || name === "-V") {
      await print(world.out, `pressmark ${world.version}\n`);
      return 0;
    }
    if (name === undefined || name === "--help" || name === "-h") {
      await print(name === undefined ? world.err : world.out, overview(await allCommands()));
      return name === undefined ? 2 : 0;
    }
    const command = await find(name);
    const parsed = parseArguments(command, rest);
    if (parsed.help) {
      await print(world.out, helpFor(command));
      return 0;
    }
    const { "log-format": given } = parsed.given.flags as { readonly "log-format"?: unknown };
    if (given === undefined) checkLogFormat(world.env);
    else format = given;
    return (await command.run(parsed.given, (world = withVerbosity(world, parsed.given.flags)))) ?? 0;
  } catch (cause) {
    return explain(cause, world, format === "json");
  }
}

/** The flags mean the same as the variables of the log, and win over them. */
function withVerbosity(world: CommandContext, { quiet, verbose }: FlagValues<typeof commonFlags>): CommandContext {
  if (!quiet && !verbose) return world;
  const log = quiet ? { PRESSMARK_LOG: "error" } : { PRESSMARK_LOG: "info", PRESSMARK_DEBUG: "1" };
  // Not a copy: that would open standard input, which takes a tenth of the start time.
  return Object.create(world, { env: { value: { ...world.env, ...log } }, isQuiet: { value: quiet } });
}

async function find(name: string): Promise<Command> {
  const command = await loadCommand(name);
  if (command) return command;
  const suggestion = nearest(name, Object.keys(commands));
  const help = `"pressmark help" lists all commands`;
  throw new UsageError(
    `there is no command ${quote(name, 40)}; ${suggestion ? `did you mean ${suggestion}? (${help})` : help}`,
  );
}

/** As a line of the log if the log is JSON: programs read it. */
function explain(cause: unknown, { err, env, signal }: CommandContext, isJson: boolean): number {
  const code = exitCodeOf(cause, signal.aborted);
  if (code === 130) return code;
  const known = cause instanceof UsageError || cause instanceof ResourceError;
  const message = cause instanceof Error ? cause.message : String(cause);
  const isDebugging = env["PRESSMARK_DEBUG"] === "1";
  if (isJson) {
    err.write(jsonLogLine("error", message, isDebugging ? { stack: stackOf(cause) } : {}, { timeMs: Date.now() }));
    return code;
  }
  err.write(`pressmark: ${plainText(message)}\n`);
  if (isDebugging) err.write(`${plainText(stackOf(cause))}\n`);
  else if (!known) err.write(`pressmark: this is an unexpected error; --verbose shows where it happened\n`);
  return code;
}

function stackOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? String(cause.stack) : `${cause.stack}\ncaused by ${stackOf(cause.cause)}`;
}
