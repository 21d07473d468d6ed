/** Asks the user to confirm what was just shown. */
import { createInterface } from "node:readline/promises";
import type { ReadStream } from "node:tty";
import { invalid, ResourceError } from "../errors.ts";
import type { CommandContext } from "./command.ts";

/** Asks on a terminal; elsewhere `--yes` is required. Throws "cancelled" with `otherwise` if the user declines. */
export async function confirm(
  question: string,
  yes: boolean,
  { input, out, signal }: CommandContext,
  otherwise: string,
): Promise<void> {
  if (yes) return;
  if (!(input as Partial<ReadStream>).isTTY)
    throw invalid("nothing was done: confirmation needs a terminal; review the output above, then add --yes");
  const lines = createInterface({ input, output: out });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new ResourceError("cancelled", otherwise);
  } finally {
    lines.close();
  }
}
