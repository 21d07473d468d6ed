/** Whether the person wants what they were just shown. */
import { createInterface } from "node:readline/promises";
import type { ReadStream } from "node:tty";
import { invalid } from "../errors.ts";
import type { CommandContext } from "./command.ts";

/** Asks where someone can answer; where no one can, `--yes` must have been said. */
export async function confirm(
  question: string,
  yes: boolean,
  { input, out, signal }: CommandContext,
): Promise<boolean> {
  if (yes) return true;
  if (!(input as Partial<ReadStream>).isTTY)
    throw invalid("nothing was done, for there is no one to ask; look at what is shown above, then add --yes");
  const lines = createInterface({ input, output: out });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
