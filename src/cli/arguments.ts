/** Parses the words after a command's name into the input of its `run`. */
import { quote } from "../errors.ts";
import {
  type Command,
  type commonFlags,
  type Flag,
  type Flags,
  type FlagValues,
  flagsOf,
  type CommandInput,
  positionals,
  type PositionalDeclarations,
  shownValue,
  UsageError,
} from "./command.ts";
import { nearest } from "../lib/nearest.ts";

type CommonInput = CommandInput<PositionalDeclarations, Flags> & { readonly flags: FlagValues<typeof commonFlags> };

type ParsedArguments = { readonly help: true } | { readonly help: false; readonly given: CommonInput };

/** `--help` before `--` takes precedence over any error. */
export function parseArguments(command: Command, words: readonly string[]): ParsedArguments {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  if (words.slice(0, end).some((word) => word === "--help" || word === "-h")) return { help: true };

  const declared = flagsOf(command);
  const flags: Record<string, unknown> = {};
  for (const [name, { initial }] of Object.entries(declared)) flags[name] = initial;
  const placed: string[] = [];

  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (index === end) continue;
    if (index > end || word === "-" || !word.startsWith("-")) {
      placed.push(word);
      continue;
    }
    const { name, flag, written, attached } = findFlag(command.name, declared, word);
    if (flag.value === undefined) {
      if (attached !== undefined) throw new UsageError(`${written} is a switch and takes no value; write it alone`);
      flags[name] = flag.take("", flags[name]);
      continue;
    }
    const isAlone = flag.isValueOptional && attached === undefined;
    const text = attached ?? (isAlone ? "" : index + 1 < end ? words[++index] : undefined);
    if (text === undefined || (flag.isValueOptional && attached === ""))
      throw new UsageError(`${written} needs a value: ${written}${shownValue(flag)}`);
    try {
      flags[name] = flag.take(text, flags[name]);
    } catch (cause) {
      if (cause instanceof UsageError) throw new UsageError(`${written} ${cause.message}`, { cause });
      throw cause;
    }
  }
  if (flags["quiet"] && flags["verbose"]) throw new UsageError("use --quiet or --verbose, not both");
  // Safe cast: every declared name is present, with a value of its declared type.
  return { help: false, given: { ...place(command, placed), flags } as CommonInput };
}

function findFlag(
  command: string,
  declared: Flags,
  word: string,
): { name: string; flag: Flag; written: string; attached: string | undefined } {
  const long = word.startsWith("--");
  const cut = long ? word.indexOf("=") : 2;
  const written = cut < 0 ? word : word.slice(0, cut);
  const rest = cut < 0 ? "" : word.slice(cut);
  const attached = rest === "" ? undefined : rest.startsWith("=") ? rest.slice(1) : rest;
  for (const [name, flag] of Object.entries(declared))
    if (long ? written === `--${name}` : written === `-${flag.short}`) return { name, flag, written, attached };

  const known = ["--help", ...Object.keys(declared).map((name) => `--${name}`)];
  const suggestion = long ? nearest(written, known) : undefined;
  const help = `"pressmark help ${command}" lists all flags`;
  throw new UsageError(
    `${command} has no flag ${quote(written, 40)}; ${suggestion ? `did you mean ${suggestion}? (${help})` : help}`,
  );
}

function place(command: Command, words: readonly string[]): Record<string, string | readonly string[] | undefined> {
  const given: Record<string, string | readonly string[] | undefined> = {};
  let next = 0;
  for (const { name, summary, count, offer } of positionals(command)) {
    if (count === "many") {
      given[name] = words.slice(next);
      next = words.length;
      continue;
    }
    const word = words[next++];
    if (word === undefined && count === "one")
      throw new UsageError(`${command.name} needs a ${name}: ${summary}; try "pressmark help ${command.name}"`);
    if (word !== undefined && Array.isArray(offer) && !offer.includes(word)) {
      const suggestion = nearest(word, offer);
      throw new UsageError(
        `${quote(word, 40)} is not a valid ${name} for ${command.name}; ${suggestion ? `did you mean ${suggestion}?` : `choose one of ${offer.join(", ")}`}`,
      );
    }
    given[name] = word;
  }
  if (next < words.length)
    throw new UsageError(
      `${command.name} takes no argument ${quote(words[next]!, 40)}; see "pressmark help ${command.name}"`,
    );
  return given;
}
