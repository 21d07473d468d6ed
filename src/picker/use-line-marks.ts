/** Marks lines in whatever view is drawn, and keeps the requested lines in sight until the person scrolls. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Lines } from "../lib/line-range-uri.ts";

/** The elements of these lines get the class `line-found` and so on. */
interface LineMarks {
  readonly found: readonly Lines[];
  readonly matched: readonly Lines[];
  readonly chosen: readonly Lines[];
  readonly picked: readonly Lines[];
}

export interface LineElement {
  readonly element: HTMLElement;
  /** Without those of the elements within. */
  readonly lines: Lines;
}

interface MarkOptions {
  readonly marks: LineMarks;
  /** Scrolled to whenever it is another array. */
  readonly wanted: Lines | undefined;
  /** Scrolled to again when this changes. */
  readonly view: string;
  /** Called if the view shows text without its lines. */
  readonly onMissing: () => void;
}

/** Views put the number of a line, or of the first line of a block, into `data-line`. */
export function useLineMarks(
  box: RefObject<HTMLElement | null>,
  { marks, wanted, view, onMissing }: MarkOptions,
): void {
  const followed = useRef<Lines | undefined>(undefined);
  useEffect(() => {
    followed.current = wanted;
    const ended = new AbortController();
    const stop = (): void => {
      followed.current = undefined;
    };
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
      box.current?.addEventListener(type, stop, { passive: true, signal: ended.signal });
    return () => ended.abort();
  }, [wanted, view]);

  useEffect(() => {
    const root = box.current;
    if (!root) return undefined;
    const update = (): void => {
      const elements = lineElementsIn(root);
      for (const { element, lines } of elements)
        for (const [name, ranges] of Object.entries(marks) as [string, readonly Lines[]][])
          element.classList.toggle(
            `line-${name}`,
            ranges.some((range) => range[0] <= lines[1] && lines[0] <= range[1]),
          );
      if (!followed.current) return;
      if (elements.length === 0 && root.querySelector(".shown > *")) onMissing();
      else scrollTo(root, elements, followed.current[0]);
    };
    // Old marks are removed once; then a text without marks is drawn as fast as before.
    update();
    const isMarked = Object.values(marks).some((ranges: readonly Lines[]) => ranges.length > 0);
    const updateMarked = (): void => {
      if (isMarked || followed.current) update();
    };
    const drawn = new MutationObserver(updateMarked);
    drawn.observe(root, { childList: true, subtree: true });
    // Heights are known only when lines come near the view.
    const sized = new ResizeObserver(updateMarked);
    for (const child of root.children) sized.observe(child);
    return () => {
      drawn.disconnect();
      sized.disconnect();
    };
  }, [JSON.stringify(marks), wanted, view]);
}

export function lineElementsIn(root: Element): readonly LineElement[] {
  // In a diff, the numbers are those of other files.
  const elements = [...root.querySelectorAll<HTMLElement>("[data-line]:not(.diff *)")].filter(
    (element) => element.querySelector<HTMLElement>("[data-line]")?.dataset["line"] !== element.dataset["line"],
  );
  return elements.map((element, index) => {
    const first = lineOf(element);
    if (element.classList.contains("line")) return { element, lines: [first, first] };
    let next = index + 1;
    while (next < elements.length && lineOf(elements[next]) <= first) next += 1;
    return { element, lines: [first, next < elements.length ? lineOf(elements[next]) - 1 : Infinity] };
  });
}

function lineOf(element: HTMLElement | undefined): number {
  return Number(element?.dataset["line"]);
}

function scrollTo(root: Element, elements: readonly LineElement[], line: number): void {
  const target = elements.find(({ lines }) => line <= lines[1]);
  if (!target || (target.lines[0] > line && target.element.classList.contains("line"))) return;
  const top = target.element.getBoundingClientRect().top - root.getBoundingClientRect().top;
  const by = Math.round(top - root.clientHeight / 4);
  if (by !== 0) root.scrollTop += by;
}
