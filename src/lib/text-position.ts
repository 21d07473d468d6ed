/** Line and column of offsets in a text, in one pass for any number of offsets. */

/** Both counted from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

export function createPlaceFinder(text: string): (offset: number) => TextPlace {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}
