/** Generates `docs/cli.md` from the declarations. */
import { markdownTable } from "../lib/markdown-table.ts";
import { type Command, positionals, shownValue } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { choices, usage } from "./help.ts";

export function reference(commands: readonly Command[]): string {
  const parts = [
    "# The command",
    "Written by `npm run docs` from the declarations in `src/cli/commands/`; change those, not this page.",
    markdownTable(
      ["Command", "What it does"],
      commands.map(({ name, summary }) => [`[\`${name}\`](#pressmark-${name})`, summary]),
    ),
    "Every command takes `--help`, `--quiet` (`-q`: print only results and errors) and `--verbose` (`-v`: log more, and show where an error came from). `PRESSMARK_LOG` is the lowest level that is logged to standard error: `info`, `warn` or `error`. Default: `warn`. `PRESSMARK_LOG_FORMAT=json` logs [JSON](monitoring.md#logs). `PRESSMARK_DEBUG=1` shows where an error came from.",
    markdownTable(
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
  const flags = Object.entries(command.flags).map(([name, flag]) => [
    `\`--${name}${shownValue(flag)}\`${flag.short ? `, \`-${flag.short}\`` : ""}`,
    flag.summary + choices(flag.offer) + (flag.initially ? `. Default: ${flag.initially}` : ""),
  ]);
  return [
    `## pressmark ${command.name}`,
    `${command.summary}.${command.more ? ` ${command.more}` : ""}`,
    `\`\`\`\n${usage(command)}\n\`\`\``,
    ...(places.length + flags.length === 0
      ? []
      : [markdownTable(["Argument or flag", "Description"], [...places, ...flags])]),
    ...(command.examples ? [`\`\`\`sh\n${command.examples.join("\n")}\n\`\`\``] : []),
  ];
}
