/** Completion scripts for shells, generated from the command declarations. */
import { type Command, flagsOf, type ShellCompletion, positionals } from "./command.ts";

export const shells = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
    case "powershell":
      return powershell(commands);
  }
}

function bash(commands: readonly Command[]): string {
  const arms = commands.map((command) => {
    const flags = Object.entries(flagsOf(command));
    const valued = flags.filter(([, { value, isValueOptional }]) => value !== undefined && !isValueOptional);
    return [
      `    ${command.name})`,
      ...(valued.length === 0
        ? []
        : [
            `      case $previous in`,
            ...valued.map(([name, { short, offer }]) => {
              const spellings = short ? `--${name}|-${short}` : `--${name}`;
              return `        ${spellings}) ${bashOffer(offer)}; return ;;`;
            }),
            `      esac`,
          ]),
      `      if [[ $word == -* ]]; then ${reply(`-W ${single([...flags.map(([name]) => `--${name}`), "--help"].join(" "))}`)}`,
      `      else ${bashOffer(positionals(command)[0]?.offer)}; fi ;;`,
    ].join("\n");
  });
  return `# pressmark completions for bash: eval "$(pressmark completions bash)"
_pressmark() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  compopt -o filenames 2>/dev/null
  if ((COMP_CWORD == 1)); then
    ${reply(`-W ${single([...commands.map(({ name }) => name), "--help", "--version"].join(" "))}`)}
    return
  fi
  case \${COMP_WORDS[1]} in
${arms.join("\n")}
  esac
}
complete -F _pressmark pressmark
`;
}

function reply(action: string): string {
  return `COMPREPLY=($(compgen ${action} -- "$word"))`;
}

function bashOffer(offer: ShellCompletion | undefined): string {
  // File names may contain spaces; offered words do not.
  if (offer === "folders" || offer === "files") return `local IFS=$'\\n'; ${reply(offer === "files" ? "-f" : "-d")}`;
  return reply(`-W ${single((offer ?? []).join(" "))}`);
}

function zsh(commands: readonly Command[]): string {
  const arms = commands.map((command) => {
    const flags = Object.entries(flagsOf(command)).map(([name, { summary, value, isValueOptional, offer }]) =>
      single(
        `*--${name}${isValueOptional ? "=-" : ""}[${bracketed(summary)}]${value ? `${isValueOptional ? "::" : ":"}${bracketed(value)}:${zshOffer(offer)}` : ""}`,
      ),
    );
    const places = positionals(command).map(({ name, count, offer }) =>
      single(`${count === "many" ? "*:" : count === "optional" ? "::" : ":"}${name}:${zshOffer(offer)}`),
    );
    return `    ${command.name}) _arguments ${[...flags, single("--help[Show help]"), ...places].join(" ")} ;;`;
  });
  return `#compdef pressmark
# pressmark completions for zsh: eval "$(pressmark completions zsh)"
_pressmark() {
  local -a commands=(${commands.map(({ name, summary }) => single(`${name}:${summary}`)).join(" ")})
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${arms.join("\n")}
  esac
}
compdef _pressmark pressmark
`;
}

function zshOffer(offer: ShellCompletion | undefined): string {
  if (offer === "folders") return "_files -/";
  return offer === "files" ? "_files" : offer ? `(${offer.join(" ")})` : " ";
}

function fish(commands: readonly Command[]): string {
  const lines = [
    "# pressmark completions for fish: pressmark completions fish | source",
    "complete -c pressmark -f",
    "complete -c pressmark -n __fish_use_subcommand -l version -d 'Show the version'",
    "complete -c pressmark -l help -d 'Show help'",
  ];
  for (const command of commands) {
    const within = `complete -c pressmark -n '__fish_seen_subcommand_from ${command.name}'`;
    lines.push(`complete -c pressmark -n __fish_use_subcommand -a ${command.name} -d ${single(command.summary)}`);
    for (const { offer } of positionals(command)) if (offer) lines.push(`${within}${fishOffer(offer)}`);
    for (const [name, { summary, short, value, isValueOptional, offer }] of Object.entries(flagsOf(command)))
      lines.push(
        `${within} -l ${name}${short ? ` -s ${short}` : ""}${value && !isValueOptional ? ` -r${offer ? fishOffer(offer) : ""}` : ""} -d ${single(summary)}`,
      );
  }
  return `${lines.join("\n")}\n`;
}

function fishOffer(offer: ShellCompletion): string {
  return offer === "folders"
    ? " -a '(__fish_complete_directories)'"
    : offer === "files"
      ? " -F"
      : ` -a ${single(offer.join(" "))}`;
}

/** For Windows PowerShell 5.1 and PowerShell 7. Values without choices are left to the shell, which completes paths. */
function powershell(commands: readonly Command[]): string {
  const rows = commands.map((command) => {
    const flags = Object.entries(flagsOf(command));
    const entries = [
      ...flags.map(([name, { summary }]) => `      ${literal(`--${name}`)} = ${literal(summary)}`),
      `      '--help' = 'Show help'`,
    ];
    const valued = flags.filter(([, { value, isValueOptional }]) => value !== undefined && !isValueOptional);
    const values = valued.flatMap(([name, { short, offer }]) =>
      [`--${name}`, ...(short ? [`-${short}`] : [])].map((written) => `      ${literal(written)} = ${words(offer)}`),
    );
    return [
      `    ${literal(command.name)} = @{`,
      `      summary = ${literal(command.summary)}`,
      `      flags = [ordered]@{\n${entries.map((entry) => `  ${entry}`).join("\n")}\n      }`,
      `      takes = @{\n${values.map((entry) => `  ${entry}`).join("\n")}\n      }`,
      `      places = ${words(positionals(command)[0]?.offer)}`,
      "    }",
    ].join("\n");
  });
  return `# pressmark completions for PowerShell: pressmark completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName pressmark -ScriptBlock {
  param($word, $line, $cursor)
  $commands = [ordered]@{
${rows.join("\n")}
  }
  $typed = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  $offer = { param($text, $tip) [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $tip) }
  if ($typed.Count -le 1) {
    $commands.Keys | Where-Object { $_ -like "$word*" } | ForEach-Object { & $offer $_ $commands[$_].summary }
    '--help', '--version' | Where-Object { $_ -like "$word*" } | ForEach-Object { & $offer $_ $_ }
    return
  }
  $command = $commands[$typed[1]]
  if (-not $command) { return }
  $previous = $typed[-1]
  if ($command.takes.ContainsKey($previous)) {
    $command.takes[$previous] | Where-Object { $_ -like "$word*" } | ForEach-Object { & $offer $_ $_ }
    return
  }
  if ($word -like '-*') {
    $command.flags.Keys | Where-Object { $_ -like "$word*" } | ForEach-Object { & $offer $_ $command.flags[$_] }
    return
  }
  $command.places | Where-Object { $_ -like "$word*" } | ForEach-Object { & $offer $_ $_ }
}
`;
}

function words(offer: ShellCompletion | undefined): string {
  return `@(${Array.isArray(offer) ? offer.map(literal).join(", ") : ""})`;
}

/** A verbatim string of PowerShell, which also takes typographic quotes for its end. */
function literal(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}

/** Quotes a text as one word for a POSIX shell. */
function single(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function bracketed(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}
