/** Computes which rows of a long list are visible, and their position. */

interface Sight {
  readonly count: number;
  /** All in CSS pixels. */
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly height: number;
}

interface Window {
  /** Height of the list. */
  readonly canvas: number;
  /** The rows from `first` up to `last`, not included. */
  readonly first: number;
  readonly last: number;
  /** Position of a row on the canvas. */
  topOf(index: number): number;
  /** Scroll position that shows the row; undefined if it is visible. */
  scrollFor(index: number): number | undefined;
}

/** Browsers limit the height of an element; longer lists are scrolled in larger steps. */
const maxCanvas = 15_000_000;

export function windowOf({ count, rowHeight, scrollTop, height }: Sight, overscan: number): Window {
  const whole = count * rowHeight;
  const canvas = Math.min(whole, maxCanvas);
  const stretch = canvas > height ? (whole - height) / (canvas - height) : 1;
  const top = scrollTop * stretch;
  return {
    canvas,
    first: Math.max(0, Math.floor(top / rowHeight) - overscan),
    last: Math.min(count, Math.ceil((top + height) / rowHeight) + overscan),
    topOf: (index) => index * rowHeight - top + scrollTop,
    scrollFor(index) {
      const start = index * rowHeight;
      if (start < top) return start / stretch;
      return start + rowHeight > top + height ? (start + rowHeight - height) / stretch : undefined;
    },
  };
}
