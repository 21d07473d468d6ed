/** Cuts a text into pieces that a page can draw one after another. */

/** Long enough to fill a screen, short enough to be drawn without delay. */
const pieceLength = 48 * 1024;

/** Cuts after line ends if there are any; never within a character. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = endOf(text, from);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function endOf(text: string, from: number): number {
  const most = from + pieceLength;
  if (most >= text.length) return text.length;
  const line = text.lastIndexOf("\n", most - 1);
  if (line >= from) return line + 1;
  const isWithin = (text.charCodeAt(most) & 0xfc00) === 0xdc00;
  return isWithin ? most - 1 : most;
}
