/** Writing to whoever started the command, at their pace. */
import { once } from "node:events";
import type { Writable } from "node:stream";

/** Resolves when the reader is ready for more, so that a slow pipe is waited for and not buffered. */
export async function print(to: Writable, what: string | Uint8Array): Promise<void> {
  if (!to.write(what) && !to.destroyed) await once(to, "drain");
}

/** What moves a cursor, rings a bell, or makes a terminal show something in another order than it is written. */
const steering = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** That, and what cannot be seen: with it two names may look the same. */
const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0001}]/gu;

/** A name as a person may be shown it: on one line, with every character that does something else than to stand there escaped. */
export function plain(text: string): string {
  return text.replaceAll(unseen, escape);
}

/** A text as a terminal may be shown it: its lines and tabs as they are, and nothing that steers the terminal. */
export function plainText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(steering, (character) => (character === "\n" || character === "\t" ? character : escape(character)));
}

/** JSON on one line, which a terminal may be shown as well. */
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

/** As JSON spells them. */
function toUnits(character: string): string {
  let spelled = "";
  for (let at = 0; at < character.length; at += 1)
    spelled += String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return spelled;
}
