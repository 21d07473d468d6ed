/** Writing to whoever started the command, at their pace. */
import { once } from "node:events";
import type { Writable } from "node:stream";

/** Resolves when the reader is ready for more, so that a slow pipe is waited for and not buffered. */
export async function print(to: Writable, what: string | Uint8Array): Promise<void> {
  if (!to.write(what) && !to.destroyed) await once(to, "drain");
}

/** A name as a terminal may be shown it: without what would move the cursor, ring the bell or hide the rest. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "�");
}
