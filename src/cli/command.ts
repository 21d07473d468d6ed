/** What a command says of itself. Parsing, help, docs and completions all come from this one declaration. */
import type { Readable, Writable } from "node:stream";
import { quote } from "../errors.ts";

/** What a shell may offer in place of a value. */
export type ShellCompletion = "files" | "folders" | readonly string[];

export interface Positional<Value = unknown> {
  readonly summary: string;
  readonly count: "one" | "optional" | "many";
  readonly offer?: ShellCompletion;
  /** Never set: it carries the type of what `run` is given. */
  readonly gives?: Value;
}

export interface Flag<Value = unknown> {
  readonly summary: string;
  /** What stands for the value in the help. Absent for a switch, which takes none. */
  readonly value?: string;
  readonly short?: string;
  readonly offer?: ShellCompletion;
  /** What `run` is given when the flag is absent. */
  readonly initial: Value;
  /** The initial value as the help says it, where that is worth saying. */
  readonly initially?: string;
  /** Takes one occurrence. Throws a UsageError whose message completes the sentence `--flag …`. */
  take(text: string, before: Value): Value;
}

export type PositionalDeclarations = Readonly<Record<string, string | Positional>>;
export type Flags = Readonly<Record<string, Flag>>;

export type CommandInput<T extends PositionalDeclarations, F extends Flags> = {
  readonly [Name in keyof T]: T[Name] extends Positional<infer Value> ? Value : string;
} & { readonly flags: { readonly [Name in keyof F]: F[Name] extends Flag<infer Value> ? Value : never } };

/** Where something is written to; whether a person sees it there, and how much of it at once. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** The process, as a command may touch it. Tests hand in their own. */
export interface CommandContext {
  readonly version: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: Readable;
  readonly out: Screen;
  readonly err: Screen;
  /** Ends when the person asks to stop. */
  readonly signal: AbortSignal;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What the help says beyond the summary; one paragraph. */
  readonly more?: string;
  readonly examples?: readonly string[];
  readonly takes: PositionalDeclarations;
  readonly flags: Flags;
  run(given: CommandInput<PositionalDeclarations, Flags>, world: CommandContext): Promise<void>;
}

export interface CommandDeclaration<T extends PositionalDeclarations, F extends Flags> extends Omit<
  Command,
  "run" | "takes" | "flags"
> {
  readonly takes?: T;
  readonly flags?: F;
  run(given: CommandInput<T, F>, world: CommandContext): Promise<void>;
}

/** Ties what a command takes to what its `run` is given, so that both are checked. */
export function defineCommand<const T extends PositionalDeclarations = {}, const F extends Flags = {}>(
  declaration: CommandDeclaration<T, F>,
): Command {
  const { run, takes, flags, ...rest } = declaration;
  return {
    ...rest,
    takes: takes ?? {},
    flags: flags ?? {},
    // The parser fills exactly what `takes` and `flags` declare, which is what the declaration's `run` asks for.
    run: (given, world) => run(given as CommandInput<T, F>, world),
  };
}

export function optional(summary: string, offer?: ShellCompletion): Positional<string | undefined> {
  return { summary, count: "optional", ...(offer && { offer }) };
}

export function many(summary: string, offer?: ShellCompletion): Positional<readonly string[]> {
  return { summary, count: "many", ...(offer && { offer }) };
}

export function one(summary: string, offer?: ShellCompletion): Positional<string> {
  return { summary, count: "one", ...(offer && { offer }) };
}

/** A switch: there or not. */
export function flag(summary: string, { short }: { readonly short?: string } = {}): Flag<boolean> {
  return { summary, initial: false, take: () => true, ...(short && { short }) };
}

interface ValueFlagOptions<Value> {
  readonly initial: Value;
  readonly initially?: string;
  readonly short?: string;
  readonly offer?: ShellCompletion;
  readonly parse: (text: string) => Value;
}

/** A flag with a value; the last one given counts. */
export function valueFlag<Value>(
  value: string,
  summary: string,
  { parse, ...rest }: ValueFlagOptions<Value>,
): Flag<Value> {
  return { summary, value, ...rest, take: (text) => parse(text) };
}

/** A flag with one of a few values. */
export function choiceFlag<const Choice extends string>(
  value: string,
  summary: string,
  { choices, initial }: { readonly choices: readonly Choice[]; readonly initial: Choice },
): Flag<Choice> {
  return valueFlag(value, summary, { initial, initially: initial, offer: choices, parse: oneOf(choices) });
}

/** Takes one of these words and nothing else. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw new UsageError(`takes ${choices.join(" or ")}, not ${quote(text, 40)}`);
    return found;
  };
}

/** Takes a whole number from `least` on. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,15}$/.test(text) || number < least)
      throw new UsageError(`takes a whole number from ${least} on, not ${quote(text, 40)}`);
    return number;
  };
}

/** A flag with a value that may be given again and again. */
export function listFlag(value: string, summary: string, offer?: ShellCompletion): Flag<readonly string[]> {
  return { summary, value, initial: [], take: (text, before) => [...before, text], ...(offer && { offer }) };
}

/** The command was asked for in a way it cannot be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The person left before it was done. */
export class LeftError extends Error {
  override readonly name = "LeftError";
}

/** Every place of a command in order, each in its long form. */
export function positionals(command: Command): readonly (Positional & { readonly name: string })[] {
  return Object.entries(command.takes).map(([name, said]) => ({
    name,
    ...(typeof said === "string" ? { summary: said, count: "one" as const } : said),
  }));
}
