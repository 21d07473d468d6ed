/** Asks the user to confirm what was just shown. */
import { createInterface } from "node:readline/promises";
import type { ReadStream } from "node:tty";
import { invalid } from "../errors.ts";
import type { CommandContext } from "./command.ts";

/** Asks on a terminal; elsewhere `--yes` is required. */
export async function confirm(
  question: string,
  yes: boolean,
  { input, out, signal }: CommandContext,
): Promise<boolean> {
  if (yes) return true;
  if (!(input as Partial<ReadStream>).isTTY)
    throw invalid("nothing was done: confirmation needs a terminal; review the output above, then add --yes");
  const lines = createInterface({ input, output: out });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
