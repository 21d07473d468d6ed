/** Lines that the person selects in the preview: by their numbers, by keyboard, or as text. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lines } from "../lib/line-range-uri.ts";
import type { LinedText } from "./matched-lines.ts";
import { type LineElement, lineElementsIn } from "./use-line-marks.ts";

interface PickOptions {
  /** Undefined if what is shown has no lines. */
  readonly lined: LinedText | undefined;
  /** Nothing is selected any more when this changes. */
  readonly view: string;
  /** Enter was pressed. */
  readonly onChoose: () => void;
}

interface PickedLines {
  readonly view: string;
  /** Where the selection began, and where it can be extended. */
  readonly from: Lines;
  readonly to: Lines;
}

export function usePickedLines(box: RefObject<HTMLElement | null>, { lined, view, onChoose }: PickOptions) {
  const [pick, setPick] = useState<PickedLines>();
  const current = pick?.view === view && lined ? pick : undefined;
  const latest = useRef({ current, onChoose });
  latest.current = { current, onChoose };

  useEffect(() => {
    const root = box.current;
    if (!root || !lined) return undefined;
    const ended = new AbortController();
    const { signal } = ended;
    let isDragging = false;
    /** Touch has neither Shift nor a drag: a tap on a number extends what is picked. */
    let isTouch = false;
    const set = (from: Lines, to: Lines): void => setPick({ view, from, to });
    const extend = (to: Lines): void => set(latest.current.current?.from ?? to, to);

    function onMouseDown(event: MouseEvent): void {
      const at = lineAt(event.target);
      if (!at || event.button !== 0 || !isOnNumber(event, at)) return setPick(undefined);
      // Neither selects text nor takes the focus from the region with the keys.
      event.preventDefault();
      root?.focus({ preventScroll: true });
      isDragging = true;
      const line = oneLine(at);
      if (event.shiftKey || isTouch) extend(line);
      else set(line, line);
    }

    function onMouseMove({ target }: MouseEvent): void {
      const at = isDragging ? lineAt(target) : undefined;
      if (at) extend(oneLine(at));
    }

    function onKeyDown(event: KeyboardEvent): void {
      const { current: before, onChoose: choose } = latest.current;
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.target !== root) return;
      if (by !== undefined && (before || event.shiftKey)) {
        const next = root && neighbour(root, before?.to, by);
        if (!next) return;
        if (event.shiftKey) extend(next.lines);
        else set(next.lines, next.lines);
        next.element.scrollIntoView({ block: "nearest" });
      } else if (before && event.key === "Enter") choose();
      else if (before && event.key === "Escape") setPick(undefined);
      else return;
      event.preventDefault();
    }

    function onSelection(): void {
      const found = root && selectedLines(root);
      if (found) set(...found);
    }

    root.addEventListener("pointerdown", ({ pointerType }) => (isTouch = pointerType === "touch"), { signal });
    root.addEventListener("mousedown", onMouseDown, { signal });
    root.addEventListener("mousemove", onMouseMove, { signal });
    root.addEventListener("keydown", onKeyDown, { signal });
    document.addEventListener("mouseup", () => (isDragging = false), { signal });
    document.addEventListener("selectionchange", onSelection, { signal });
    return () => ended.abort();
  }, [view, lined === undefined]);

  return {
    picked: current && lined && between(current, lined),
    clear: () => setPick(undefined),
  };
}

function between({ from, to }: PickedLines, lined: LinedText): Lines {
  return [Math.min(from[0], to[0]), Math.max(lastOf(from, lined), lastOf(to, lined))];
}

/** Without the empty lines after a block. The last block ends with the text. */
function lastOf([first, last]: Lines, { text, firstLine }: LinedText): number {
  if (first === last) return last;
  const lines = text.split("\n");
  let end = Math.min(last, firstLine + lines.length - 1);
  while (end > first && lines[end - firstLine]?.trim() === "") end -= 1;
  return end;
}

/** The line of a node, or of its child at this index. */
function lineAt(target: unknown, index = -1): HTMLElement | undefined {
  const node = target instanceof Element ? (target.childNodes[index] ?? target) : target;
  const element = node instanceof Element ? node : node instanceof Node ? node.parentElement : null;
  const line = element?.closest<HTMLElement>("[data-line]") ?? element?.querySelector<HTMLElement>("[data-line]");
  return line ?? undefined;
}

function oneLine({ dataset }: HTMLElement): Lines {
  return [Number(dataset["line"]), Number(dataset["line"])];
}

function isOnNumber({ clientX }: MouseEvent, line: HTMLElement): boolean {
  const gutterPx = Number.parseFloat(getComputedStyle(line).paddingInlineStart);
  return line.classList.contains("line") && clientX - line.getBoundingClientRect().left < gutterPx;
}

/** The line after or before these; at first the one at the top of the view. */
function neighbour(root: Element, at: Lines | undefined, by: number): LineElement | undefined {
  const elements = lineElementsIn(root);
  if (!at) {
    const top = root.getBoundingClientRect().top;
    return elements.find(({ element }) => element.getBoundingClientRect().top >= top);
  }
  return by > 0 ? elements.find(({ lines }) => lines[0] > at[0]) : elements.findLast(({ lines }) => lines[0] < at[0]);
}

/** The first and the last line that contain selected text. */
function selectedLines(root: HTMLElement): readonly [Lines, Lines] | undefined {
  const tree = root.getRootNode();
  // In a shadow tree, some browsers know the selection only there.
  const selection = "getSelection" in tree ? (tree as Document).getSelection() : document.getSelection();
  const range = selection && !selection.isCollapsed ? selection.getRangeAt(0) : undefined;
  if (!range || !root.contains(range.commonAncestorContainer)) return undefined;
  const first = lineAt(range.startContainer, range.startOffset);
  let last = lineAt(range.endContainer, range.endOffset - 1);
  const elements = lineElementsIn(root);
  const indexOf = (line: Element | undefined): number => elements.findIndex(({ element }) => element === line);
  // A selection that ends at the beginning of a line contains nothing of it.
  if (last && last !== first && isBefore(range, last)) last = elements[indexOf(last) - 1]?.element;
  const [from, to] = [elements[indexOf(first)], elements[indexOf(last)]];
  return from && to && [from.lines, to.lines];
}

function isBefore(range: Range, line: Element): boolean {
  const inside = range.cloneRange();
  inside.setStart(line, 0);
  return inside.toString() === "";
}
