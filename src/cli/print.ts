/** Writes to a stream with backpressure, and escapes text for terminals. */
import { once } from "node:events";
import type { Writable } from "node:stream";

/** Resolves when the stream accepts more, so that a slow pipe does not fill the memory. */
export async function print(to: Writable, what: string | Uint8Array): Promise<void> {
  if (!to.write(what) && !to.destroyed) await once(to, "drain");
}

/** Characters that control a terminal or change the order in which text is displayed. */
const steering = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** The same plus invisible characters, which can make two names look alike. */
const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0001}]/gu;

/** A name on one line, with control and invisible characters escaped. */
export function plain(text: string): string {
  return text.replaceAll(unseen, escape);
}

/** A text with its line breaks and tabs, and with terminal control characters escaped. */
export function plainText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(steering, (character) => (character === "\n" || character === "\t" ? character : escape(character)));
}

/** JSON on one line, safe to show in a terminal. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll(unseen, toUnits)}\n`;
}

const short: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` };

function escape(character: string): string {
  const code = character.codePointAt(0)!;
  const digits = code.toString(16);
  return (
    short[character] ??
    (code <= 0xff
      ? String.raw`\x${digits.padStart(2, "0")}`
      : code <= 0xffff
        ? String.raw`\u${digits.padStart(4, "0")}`
        : String.raw`\u{${digits}}`)
  );
}

/** As JSON escapes: `\u200b`. */
function toUnits(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at += 1)
    escaped += String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
}
