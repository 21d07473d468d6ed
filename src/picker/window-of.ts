/** Which rows of a long list are in sight, and where they stand on the page. */

export interface Sight {
  readonly count: number;
  /** All in CSS pixels. */
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly height: number;
}

export interface Window {
  /** How high the list is made. */
  readonly canvas: number;
  /** The rows from `first` up to `last`, which is no more of it. */
  readonly first: number;
  readonly last: number;
  /** Where a row stands on the canvas. */
  topOf(index: number): number;
  /** How far to scroll so that the row is in sight; undefined where it is. */
  scrollFor(index: number): number | undefined;
}

/** Browsers make nothing much higher than this; longer lists are scrolled through in larger steps. */
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
