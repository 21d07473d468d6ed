/** Reads a secret: typed on a terminal without showing it, or the first line of standard input. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { invalid, ResourceError } from "../errors.ts";
import { takeUpTo } from "../lib/read-bounded.ts";
import type { CommandContext } from "./command.ts";

const maxBytes = 8192;

export async function readSecret(what: string, { input, err, signal }: CommandContext): Promise<string> {
  if (!(input as Partial<ReadStream>).isTTY) {
    const given = await takeUpTo(maxBytes, input);
    if (!given) throw invalid(`the ${what} is too long`);
    return given.toString("utf8").split(/\r?\n/, 1)[0] ?? "";
  }
  // A terminal that shows nothing: what is typed is echoed to it.
  const output = new Writable({ write: (_bytes, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal: true, signal });
  lines.on("SIGINT", () => lines.close());
  const typed = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    err.write(`${question}: `);
    const { done, value } = await typed.next();
    err.write("\n");
    if (done) throw new ResourceError("cancelled", "nothing was changed");
    return value;
  };
  try {
    const secret = await ask(`New ${what}`);
    if (secret !== (await ask("Repeat it"))) throw invalid("the two are not the same; nothing was changed");
    return secret;
  } finally {
    lines.close();
  }
}
