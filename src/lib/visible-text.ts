/** Text that cannot deceive the reader of a terminal. */

/** Controls, direction marks, invisible characters, and every space but the plain one. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
/** Many spaces push text out of sight; many accents paint over the lines above. */
const heaped = / {3,}|\p{M}{3,}/gu;

/** The text on one line, each character visible or escaped as in JSON (`\u001b`). Nothing is cut. */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, escaped).replaceAll(heaped, escaped);
}

/** Reverses or hides text, also where fonts show wide spaces and joined emoji well. */
const deceptive =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b\u2060-\u2064\u2800\u3164\uffa0\ufeff\u{e0000}-\u{e007f}]/gu;

/** A name for a page: nothing in it can reverse or hide a part of it. */
export function visibleName(name: string): string {
  return name.replaceAll(deceptive, escaped);
}

function escaped(characters: string): string {
  let written = "";
  for (let at = 0; at < characters.length; at += 1)
    written += String.raw`\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return written;
}
