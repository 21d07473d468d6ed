/** Cuts a text into pieces that a page can draw one after another. */

/** Long enough to fill a screen, short enough to be drawn without delay. */
const pieceLength = 48 * 1024;
const linesAtOnce = 250;

interface TextPiece {
  readonly text: string;
  /** Number of the first line. */
  readonly line: number;
  readonly lineCount: number;
  /** True if the piece begins within a line. */
  readonly isContinued: boolean;
}

/**
 * Cuts after line ends, within a line only if it is very long, and never within a character. Pieces begin at the same lines
 * wherever the text begins.
 */
export function piecesOf(text: string, firstLine = 1): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let feed = text.indexOf("\n");
  let isContinued = false;
  for (let from = 0, line = firstLine; from < text.length;) {
    const end = blockEnd(line);
    let [to, next] = [from, line];
    while (next < end && to < text.length) {
      const lineEnd = feed < 0 ? text.length : feed + 1;
      if (lineEnd - from > pieceLength) break;
      to = lineEnd;
      next += 1;
      feed = text.indexOf("\n", to);
    }
    const isCut = to === from;
    if (isCut) to = cutBefore(text, from + pieceLength);
    pieces.push({ text: text.slice(from, to), line, lineCount: Math.max(1, next - line), isContinued });
    isContinued = isCut;
    [from, line] = [to, next];
  }
  return pieces;
}

/** The first line of the next block. */
export function blockEnd(line: number): number {
  return line + linesAtOnce - ((line - 1) % linesAtOnce);
}

function cutBefore(text: string, at: number): number {
  const isWithin = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isWithin ? at - 1 : at;
}
