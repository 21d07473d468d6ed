/** The declaration of a command. Parsing, help, docs and completions are derived from it. */
import type { Readable, Writable } from "node:stream";
import { quote } from "../errors.ts";
import type { ExitCode } from "./exit-codes.ts";

/** Values that a shell may complete. */
export type ShellCompletion = "files" | "folders" | readonly string[];

interface Positional<Value = unknown> {
  readonly summary: string;
  readonly count: "one" | "optional" | "many";
  readonly offer?: ShellCompletion;
  /** Never set: carries the type of the parsed value. */
  readonly gives?: Value;
}

export interface Flag<Value = unknown> {
  readonly summary: string;
  /** Placeholder for the value in the help. Absent for a switch, which takes no value. */
  readonly value?: string;
  /** True if the flag may stand alone; a value is then written with an equals sign. */
  readonly isValueOptional?: boolean;
  readonly short?: string;
  readonly offer?: ShellCompletion;
  /** Value passed to `run` when the flag is absent. */
  readonly initial: Value;
  /** The default as shown in the help, if it is worth showing. */
  readonly initially?: string;
  /** Parses one occurrence. Throws a UsageError whose message completes the sentence `--flag …`. */
  take(text: string, before: Value): Value;
}

export type PositionalDeclarations = Readonly<Record<string, string | Positional>>;
export type Flags = Readonly<Record<string, Flag>>;

/** The values of declared flags. */
export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F]: F[Name] extends Flag<infer Value> ? Value : never;
};

export type CommandInput<T extends PositionalDeclarations, F extends Flags> = {
  readonly [Name in keyof T]: T[Name] extends Positional<infer Value> ? Value : string;
} & { readonly flags: FlagValues<F> };

/** An output stream, and the size of the terminal if it is one. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** The process, as far as a command uses it. Tests pass their own. */
export interface CommandContext {
  readonly version: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: Readable;
  readonly out: Screen;
  readonly err: Screen;
  /** Aborted when the user asks to stop. */
  readonly signal: AbortSignal;
  /** Only results and errors are to be printed. */
  readonly isQuiet?: boolean;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** One paragraph that the help shows below the summary. */
  readonly more?: string;
  readonly examples?: readonly string[];
  readonly takes: PositionalDeclarations;
  readonly flags: Flags;
  /** Returns the exit code if it is not 0. */
  run(given: CommandInput<PositionalDeclarations, Flags>, world: CommandContext): Promise<ExitCode | void>;
}

interface CommandDeclaration<T extends PositionalDeclarations, F extends Flags> extends Omit<
  Command,
  "run" | "takes" | "flags"
> {
  readonly takes?: T;
  readonly flags?: F;
  run(given: CommandInput<T, F>, world: CommandContext): Promise<ExitCode | void>;
}

/** Checks the types of a command's declarations against its `run`. */
export function defineCommand<const T extends PositionalDeclarations = {}, const F extends Flags = {}>(
  declaration: CommandDeclaration<T, F>,
): Command {
  const { run, takes, flags, ...rest } = declaration;
  return {
    ...rest,
    takes: takes ?? {},
    flags: flags ?? {},
    // Safe cast: the parser fills exactly what `takes` and `flags` declare.
    run: (given, world) => run(given as CommandInput<T, F>, world),
  };
}

export function optional(summary: string, offer?: ShellCompletion): Positional<string | undefined> {
  return { summary, count: "optional", offer };
}

export function many(summary: string, offer?: ShellCompletion): Positional<readonly string[]> {
  return { summary, count: "many", offer };
}

export function one(summary: string, offer?: ShellCompletion): Positional<string> {
  return { summary, count: "one", offer };
}

/** A switch: present or not. */
export function flag(summary: string, { short }: { readonly short?: string } = {}): Flag<boolean> {
  return { summary, initial: false, take: () => true, short };
}

/** Flags of every command. */
export const commonFlags = {
  quiet: flag("Print only results and errors", { short: "q" }),
  verbose: flag("Log more, and show where an error came from", { short: "v" }),
};

interface ValueFlagOptions<Value> extends Pick<Flag, "initially" | "short" | "offer"> {
  readonly parse: (text: string) => Value;
}

/** A flag with a value; the last occurrence wins. Without `initial`, the value of an absent flag is undefined. */
export function valueFlag<Value>(
  value: string,
  summary: string,
  options: ValueFlagOptions<Value> & { readonly initial: Value },
): Flag<Value>;
export function valueFlag<Value>(
  value: string,
  summary: string,
  options: ValueFlagOptions<Value>,
): Flag<Value | undefined>;
export function valueFlag<Value>(
  value: string,
  summary: string,
  { parse, initial, ...rest }: ValueFlagOptions<Value> & { readonly initial?: Value },
): Flag<Value | undefined> {
  return { summary, value, initial, ...rest, take: (text) => parse(text) };
}

/** A flag with any text. */
export function textFlag(value: string, summary: string, offer?: ShellCompletion): Flag<string | undefined> {
  return valueFlag(value, summary, { offer, parse: (text) => text });
}

/** A flag that may stand alone, or have a text: `--name` or `--name=text`. Alone, its value is true. */
export function optionalTextFlag(value: string, summary: string): Flag<string | true | undefined> {
  return { summary, value, isValueOptional: true, initial: undefined, take: (text) => (text === "" ? true : text) };
}

/** A flag with a text that must not be empty. */
export function filledTextFlag(value: string, summary: string): Flag<string | undefined> {
  return valueFlag(value, summary, {
    parse(text) {
      if (text.trim() === "") throw new UsageError("takes a text that is not empty");
      return text;
    },
  });
}

/** A flag with a fixed set of values. */
export function choiceFlag<const Choice extends string>(
  value: string,
  summary: string,
  { choices, initial }: { readonly choices: readonly Choice[]; readonly initial: Choice },
): Flag<Choice> {
  return valueFlag(value, summary, { initial, initially: initial, offer: choices, parse: oneOf(choices) });
}

/** Accepts exactly one of these words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw new UsageError(`takes ${choices.join(" or ")}, not ${quote(text, 40)}`);
    return found;
  };
}

/** Accepts a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,15}$/.test(text) || number < least)
      throw new UsageError(`takes a whole number of at least ${least}, not ${quote(text, 40)}`);
    return number;
  };
}

/** Accepts a port of at least `least`; 0 stands for a free one. */
export function portNumber(least: 0 | 1): (text: string) => number {
  return (text) => {
    const port = Number(text);
    if (!/^\d{1,5}$/.test(text) || port < least || port > 65_535)
      throw new UsageError(`takes a number from ${least} to 65535, not ${quote(text, 40)}`);
    return port;
  };
}

/** A flag with a value that may be repeated. */
export function listFlag(value: string, summary: string, offer?: ShellCompletion): Flag<readonly string[]> {
  return { summary, value, initial: [], take: (text, before) => [...before, text], offer };
}

/** The value of a flag behind its name, as shown in the help: ` BASE`, or `[=BASE]` if it is optional. */
export function shownValue({ value, isValueOptional }: Pick<Flag, "value" | "isValueOptional">): string {
  if (value === undefined) return "";
  return isValueOptional ? `[=${value}]` : ` ${value}`;
}

/** Invalid usage: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The user quit before the command finished. */
export class LeftError extends Error {
  override readonly name = "LeftError";
}

/** All flags of a command: its own, then those of every command. */
export function flagsOf(command: Command): Flags {
  return { ...command.flags, ...commonFlags };
}

/** All positional arguments of a command in order, in long form. */
export function positionals(command: Command): readonly (Positional & { readonly name: string })[] {
  return Object.entries(command.takes).map(([name, declared]) => ({
    name,
    ...(typeof declared === "string" ? { summary: declared, count: "one" as const } : declared),
  }));
}
