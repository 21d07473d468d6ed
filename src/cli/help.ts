/** The text of `--help`, generated from the declarations. */
import {
  type Command,
  commonFlags,
  type Flag,
  flagsOf,
  positionals,
  type ShellCompletion,
  shownValue,
} from "./command.ts";
import { exitCodes } from "./exit-codes.ts";

/** `pressmark serve [folder…] [--port PORT]`, wrapped. */
export function usage(command: Command, width = 100): string {
  const places = positionals(command).map(({ name, count }) =>
    count === "one" ? name : count === "optional" ? `[${name}]` : `[${name}…]`,
  );
  const flags = Object.entries(command.flags).map(([name, flag]) => `[--${name}${shownValue(flag)}]`);
  const start = `pressmark ${command.name}`;
  const lines = [start];
  for (const word of [...places, ...flags]) {
    const line = lines.at(-1)!;
    if (line.length + 1 + word.length > width) lines.push(`${" ".repeat(start.length)} ${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join("\n");
}

export function helpFor(command: Command): string {
  const places = positionals(command).map(({ name, summary, offer }): Row => [name, summary + choices(offer)]);
  const flags = Object.entries(flagsOf(command)).map(flagRow);
  return sections(
    `${command.summary}.${command.more ? `\n\n${wrap(command.more, 80)}` : ""}`,
    `Usage: ${usage(command, 93).replaceAll("\n", "\n       ")}`,
    table("Arguments:", places),
    table("Flags:", [...flags, ["-h, --help", "Show this help"]]),
    list("Examples:", command.examples ?? []),
  );
}

export function overview(commands: readonly Command[]): string {
  return sections(
    "Pressmark serves folders and other sources as MCP resources: listed, read, watched.",
    "Usage: pressmark <command> [arguments and flags]",
    table(
      "Commands:",
      commands.map(({ name, summary }): Row => [name, summary]),
    ),
    table("Flags:", [
      ...Object.entries(commonFlags).map(flagRow),
      ["-h, --help", "Show this help, or the help for a command"],
      ["-V, --version", "Show the version"],
    ]),
    table(
      "Exit codes:",
      exitCodes.map(([code, meaning]): Row => [String(code), meaning]),
    ),
    `"pressmark help <command>" shows the help for a command.`,
  );
}

type Row = readonly [term: string, summary: string];

function flagRow([name, flag]: readonly [string, Flag]): Row {
  return [
    `${flag.short ? `-${flag.short}, ` : "    "}--${name}${shownValue(flag)}`,
    flag.summary + choices(flag.offer) + (flag.initially ? `. Default: ${flag.initially}` : ""),
  ];
}

function sections(...parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function table(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([term]) => term.length));
  const indent = " ".repeat(width + 4);
  const lines = rows.map(([term, summary]) => {
    const wrapped = wrap(summary, 105 - indent.length).replaceAll("\n", `\n${indent}`);
    return `  ${term.padEnd(width)}  ${wrapped}`;
  });
  return [title, ...lines].join("\n");
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

export function choices(offer: ShellCompletion | undefined): string {
  return Array.isArray(offer) ? `: ${offer.join(", ")}` : "";
}

function wrap(text: string, width: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}
