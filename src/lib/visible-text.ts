/** Text that cannot deceive whoever reads it on a terminal. */

/** Controls, marks of direction, what has no shape of its own, and every space but the plain one. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
/** Enough spaces push what follows out of sight; enough accents paint over the lines above. */
const heaped = / {3,}|\p{M}{3,}/gu;

/** The text on one line, each character either seen or spelled as JSON escapes it (`\u001b`). Nothing is cut. */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, escaped).replaceAll(heaped, escaped);
}

function escaped(characters: string): string {
  let spelled = "";
  for (let at = 0; at < characters.length; at += 1)
    spelled += String.raw`\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return spelled;
}
