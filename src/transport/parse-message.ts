/** Parses untrusted bytes as JSON, or says why that failed. */
import { isUtf8 } from "node:buffer";

type ParsedMessage = { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly message: string };

/** Maximum nesting. Recursive code is safe below this. */
export const maxMessageDepth = 512;

/** Never throws. Every failure is a parse error (−32700). */
export function parseMessageBytes(bytes: Buffer): ParsedMessage {
  if (!isUtf8(bytes)) return { ok: false, message: "the message is not UTF-8" };
  if (nestsTooDeep(bytes)) return { ok: false, message: `the message nests deeper than ${maxMessageDepth} levels` };
  try {
    return { ok: true, body: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { ok: false, message: "the message is not JSON" };
  }
}

function nestsTooDeep(bytes: Buffer): boolean {
  // Every bracket must close: a shorter text is either shallow or not JSON.
  if (bytes.length <= 2 * maxMessageDepth) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case 0x22: // a string: brackets inside it do not count
        for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maxMessageDepth) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return false;
}
