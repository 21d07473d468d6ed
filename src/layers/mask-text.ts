/** Masks secrets in texts of any length without blocking: a long text is scanned in a thread. */
import { ResourceError } from "../errors.ts";
import { maskPatch, maskSecrets } from "../lib/secrets.ts";
import { callInThread, ThreadOverrun } from "../lib/threads.ts";

/** Scanning so much takes some hundredths of a second, whatever the text. */
const maxInlineLength = 64 * 1024;

const functions = { maskPatch, maskSecrets };

export async function maskText(text: string, how: keyof typeof functions = "maskSecrets"): Promise<string> {
  if (text.length <= maxInlineLength) return functions[how](text).text;
  try {
    const module = new URL("../lib/secrets.ts", import.meta.url);
    const { text: masked } = await callInThread<ReturnType<typeof maskSecrets>>(module, how, text);
    return masked;
  } catch (cause) {
    if (!(cause instanceof ThreadOverrun)) throw cause;
    throw new ResourceError("too-large", `this text cannot be served: scanning it for secrets takes ${cause.message}`, {
      cause,
      details: { reason: "too-large" },
    });
  }
}
