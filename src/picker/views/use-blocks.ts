/** Computes which of many stacked blocks of varying height are near the view. */
import { useEffect, useRef, useState } from "preact/hooks";

const marginPx = 800;

export interface BlockList {
  readonly first: number;
  /** Index after the last. */
  readonly end: number;
  /** Height of the blocks above and below. */
  readonly room: readonly [above: number, below: number];
  /** Reports the height of a block. */
  measured(index: number, height: number): void;
}

/** For an element in the scrolling part of the page. */
export function useBlocks(count: number, usualHeight: number) {
  const element = useRef<HTMLTableElement>(null);
  const heights = useRef(new Map<number, number>());
  const [range, setRange] = useState({ first: 0, end: 1 });
  const heightOf = (index: number): number => heights.current.get(index) ?? usualHeight;

  useEffect(() => {
    const table = element.current;
    const scroller = table?.closest(".content");
    if (!table || !scroller) return undefined;
    const ended = new AbortController();
    let due = 0;
    const look = (): void => {
      due = 0;
      const from = scroller.getBoundingClientRect().top - table.getBoundingClientRect().top - marginPx;
      const to = from + scroller.clientHeight + 2 * marginPx;
      let [first, end, top] = [0, 0, 0];
      for (let index = 0; index < count && top < to; index += 1) {
        top += heightOf(index);
        if (top < from) first = index + 1;
        end = index + 1;
      }
      const next = { first: Math.min(first, Math.max(0, count - 1)), end: Math.max(end, 1) };
      setRange((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    const lookSoon = (): void => {
      due ||= requestAnimationFrame(look);
    };
    scroller.addEventListener("scroll", lookSoon, { passive: true, signal: ended.signal });
    const observer = new ResizeObserver(lookSoon);
    observer.observe(scroller);
    observer.observe(table);
    look();
    return () => {
      ended.abort();
      observer.disconnect();
      cancelAnimationFrame(due);
    };
  }, [count]);

  const blocks: BlockList = {
    first: range.first,
    end: Math.min(count, range.end),
    get room() {
      let [above, below] = [0, 0];
      for (let index = 0; index < range.first; index += 1) above += heightOf(index);
      for (let index = range.end; index < count; index += 1) below += heightOf(index);
      return [above, below] as const;
    },
    measured: (index, height) => heights.current.set(index, height),
  };
  return { element, blocks };
}
