/** Masks secrets in texts of any length without keeping others waiting: a long text is looked through in a thread. */
import { ResourceError } from "../errors.ts";
import { maskPatch, maskSecrets } from "../lib/secrets.ts";
import { createThreads, ThreadOverrun, type Threads } from "../lib/threads.ts";

/** Takes some hundredths of a second, whatever the text. */
const maxHere = 64 * 1024;

const functions = { maskPatch, maskSecrets };
let threads: Threads | undefined;

export async function maskText(text: string, how: keyof typeof functions = "maskSecrets"): Promise<string> {
  if (text.length <= maxHere) return functions[how](text).text;
  threads ??= createThreads({ name: "pressmark-secrets", max: 2, deadlineMs: 30_000, maxMiB: 1024 });
  try {
    const { text: masked } = await threads.use(new URL("../lib/secrets.ts", import.meta.url), (call) =>
      call<ReturnType<typeof maskSecrets>>(how, text),
    );
    return masked;
  } catch (cause) {
    if (!(cause instanceof ThreadOverrun)) throw cause;
    throw new ResourceError(
      "too-large",
      `nothing of this text is served: to look for secrets in it takes ${cause.message}`,
      { cause, details: { reason: "too-large" } },
    );
  }
}
