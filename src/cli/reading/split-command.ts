/** Splits a command line into words as a shell would. No shell is run: nothing is expanded. */
import { quote } from "../../errors.ts";
import { UsageError } from "../command.ts";

/** Supports quotes and backslashes. Refuses characters that only a shell can interpret. */
export function splitCommand(line: string): readonly [command: string, ...args: string[]] {
  const words: string[] = [];
  let word: string | undefined;
  let open: '"' | "'" | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const next = line.charAt(at + 1);
    if (open === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === open) open = undefined;
    else if (open === undefined && (character === '"' || character === "'")) {
      open = character;
      word ??= "";
    } else if (character === "\\" && next !== "" && (open === undefined || (open === '"' && /["\\$`]/.test(next)))) {
      word = (word ?? "") + next;
      at += 1;
    } else if (open === undefined && /[|&;<>]/.test(character))
      throw new UsageError(
        `cannot have ${quote(character)} in a command: no shell is run; put it in quotes to use it literally`,
      );
    else word = (word ?? "") + character;
  }
  if (open !== undefined) throw new UsageError(`has a quote that is never closed: ${quote(line, 60)}`);
  if (word !== undefined) words.push(word);
  const [command, ...args] = words;
  if (!command) throw new UsageError("takes the URL of a server, or a command that starts one");
  return [command, ...args];
}
