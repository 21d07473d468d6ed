/** Removes characters that a person does not see and a model would read: a common way to hide an instruction. */

/**
 * Zero-width and filler characters, direction controls, tags, variation selectors, and control characters other than tab and newline.
 * Includes the joiners; where a script needs them they stay, see `isNeeded`.
 */
const invisible =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these characters are what this is about
  /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

interface Visible {
  readonly text: string;
  /** Number of characters removed. */
  readonly removed: number;
}

/** Line breaks stay. */
export function removeInvisible(text: string): Visible {
  let removed = 0;
  const visible = text.replaceAll(invisible, (character: string, at: number) => {
    if (isNeeded(character, text, at)) return character;
    removed += 1;
    return "";
  });
  return { text: visible, removed };
}

const emoji = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u20e3]/u;
const joined =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Oriya}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Syriac}\p{Script=Mongolian}]/u;
const han = /\p{Script=Han}/u;

/** True between two letters of a script that joins them, between two emoji, or directly after the character whose form it selects. */
function isNeeded(character: string, text: string, at: number): boolean {
  const before = characterBefore(text, at);
  const behind = text.codePointAt(at + character.length);
  const after = behind === undefined ? "" : String.fromCodePoint(behind);
  if (character === "\u200c" || character === "\u200d") {
    if (joined.test(before) && joined.test(after)) return true;
    return character === "\u200d" && emoji.test(after) && (emoji.test(before) || before === "\ufe0f");
  }
  if (character === "\ufe0e" || character === "\ufe0f")
    return emoji.test(before) || (/[\d#*]/.test(before) && after === "\u20e3");
  const point = character.codePointAt(0)!;
  if ((point >= 0xfe00 && point <= 0xfe02) || (point >= 0xe0100 && point <= 0xe01ef)) return han.test(before);
  return false;
}

function characterBefore(text: string, at: number): string {
  if (at === 0) return "";
  const unit = text.charCodeAt(at - 1);
  const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && at > 1;
  return text.slice(isSecondHalf ? at - 2 : at - 1, at);
}
