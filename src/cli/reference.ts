/** Generates `docs/cli.md` from the declarations. */
import { type Command, type ShellCompletion, positionals } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { usage } from "./help.ts";

export function reference(commands: readonly Command[]): string {
  const parts = [
    "# The command",
    "Written by `npm run docs` from the declarations in `src/cli/commands/`; change those, not this page.",
    table(
      ["Command", "What it does"],
      commands.map(({ name, summary }) => [`[\`${name}\`](#pressmark-${name})`, summary]),
    ),
    "Every command takes `--help`. `PRESSMARK_LOG` is the lowest level that is logged to standard error: `info`, `warn` or `error`. Default: `warn`. `PRESSMARK_DEBUG=1` shows where an error came from.",
    table(
      ["Exit code", "Meaning"],
      exitCodes.map(([code, meaning]) => [String(code), meaning]),
    ),
    "[The terminal](terminal.md) describes what the reading commands (`ls`, `tree`, `read`, `stat`, `watch`) have in common.",
    ...commands.flatMap(section),
  ];
  return `${parts.join("\n\n")}\n`;
}

function section(command: Command): string[] {
  const places = positionals(command).map(({ name, summary, offer }) => [`\`${name}\``, summary + choices(offer)]);
  const flags = Object.entries(command.flags).map(([name, { short, value, summary, initially, offer }]) => [
    `\`--${name}${value ? ` ${value}` : ""}\`${short ? `, \`-${short}\`` : ""}`,
    summary + choices(offer) + (initially ? `. Default: ${initially}` : ""),
  ]);
  return [
    `## pressmark ${command.name}`,
    `${command.summary}.${command.more ? ` ${command.more}` : ""}`,
    `\`\`\`\n${usage(command)}\n\`\`\``,
    ...(places.length + flags.length === 0 ? [] : [table(["Argument or flag", "Description"], [...places, ...flags])]),
    ...(command.examples ? [`\`\`\`sh\n${command.examples.join("\n")}\n\`\`\``] : []),
  ];
}

/** Padded, as the formatter would write it. */
function table(head: readonly string[], given: readonly (readonly string[])[]): string {
  // Escapes "|" also in code, where it would end the cell.
  const rows = given.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column]!)].map(({ length }) => length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function choices(offer: ShellCompletion | undefined): string {
  return Array.isArray(offer) ? `: ${offer.join(", ")}` : "";
}
