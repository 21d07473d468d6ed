/** The tree on the page. Draws only the visible rows, so that a million are as fast as ten. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Here } from "./here.tsx";
import { Hint } from "./hint.tsx";
import { choicesIn } from "./tray.ts";
import { isFolder } from "./tree.ts";
import { TreeColumns, TreeRowView } from "./tree-row.tsx";
import { jumped, moved, type TreeRow, rowsOf } from "./tree-rows.ts";
import { windowOf } from "./window-of.ts";

/** In CSS pixels; the style sheet has another for fingers. */
const usualRowHeight = 27;
const overscan = 8;
/** Loads the rest of a folder this many rows before its end. */
const ahead = 60;
/** Maximum time between two letters of one word. */
const wordMs = 700;
/** Rows that are visible for this time are watched, up to a maximum. */
const restMs = 400;
const maxWatched = 60;

/** Position in the tree, restored when the person returns to it. */
export interface TreePlace {
  key: string;
  near: number;
  top: number;
}

interface TreeProps extends Shared {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly place: TreePlace;
  readonly now: number;
}

export function TreePane({ picker, language, box, place, now }: TreeProps) {
  const { texts } = language;
  const { tree, tray, preview, revealed } = picker.state;
  const rows = useMemo(() => rowsOf(tree), [tree]);
  const [active, setActive] = useState({ key: place.key, near: place.near });
  const [{ top, height, rowHeight }, setView] = useState({ top: place.top, height: 600, rowHeight: usualRowHeight });
  const typed = useRef({ text: "", at: 0 });
  /** Index of a row that is not loaded yet; the pages before it are being loaded. */
  const [goal, setGoal] = useState<number>();
  const found = useMemo(() => rows.indexOf(active.key, active.near), [rows, active]);
  const at = Math.max(0, found);
  const sight = windowOf({ count: rows.length, rowHeight, scrollTop: top, height }, overscan);
  const activeRow = rows.at(at);
  const choices = useMemo(() => choicesIn(tray), [tray]);
  const chosen = useMemo(() => new Map(tray.map(({ resource, tokens }) => [resource.uri, tokens])), [tray]);

  const drawn: { readonly row: TreeRow; readonly index: number }[] = [];
  for (let index = sight.first; index < sight.last; index += 1) {
    const row = rows.at(index);
    if (row) drawn.push({ row, index });
  }
  const watched = drawn
    .flatMap(({ row }) => (row.kind === "resource" && !isFolder(row.resource) ? [row.resource.uri] : []))
    .slice(0, maxWatched);
  // The focused row is always in the DOM, so that it can be read out.
  if (activeRow && (at < sight.first || at >= sight.last)) drawn.push({ row: activeRow, index: at });

  const isEmpty = rows.length === 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    element.scrollTop = place.top;
    const observer = new ResizeObserver(() => {
      const { scrollTop, clientHeight } = element;
      const styled = Number.parseFloat(getComputedStyle(element).getPropertyValue("--row")) || usualRowHeight;
      setView({ top: scrollTop, height: clientHeight, rowHeight: styled });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, isEmpty]);
  useEffect(() => void Object.assign(place, active, { top }), [active, top]);

  // Loads rows a little before they become visible.
  let due: string | undefined;
  for (let index = sight.first; index < sight.last + ahead && due === undefined; index += 1) {
    const row = rows.at(index);
    if (row?.kind === "more") due = row.folder;
  }
  useEffect(() => {
    if (due !== undefined) picker.loadMore(due);
  }, [due, rows, picker]);

  const watchedKey = watched.join("\n");
  useEffect(() => {
    const rest = setTimeout(() => picker.inSight(watched), restMs);
    return () => clearTimeout(rest);
  }, [watchedKey, picker]);
  useEffect(() => () => picker.inSight([]), [picker]);

  useEffect(() => {
    if (revealed === undefined) return;
    const index = rows.find(0, ({ uri }) => uri === revealed);
    if (index === undefined) return;
    goTo(index);
    picker.revealed();
  }, [revealed, rows]);

  // A folder's pages can only be loaded one after the other.
  useEffect(() => {
    if (goal === undefined) return;
    const gap = gapBefore(goal);
    if (!gap) {
      setGoal(undefined);
      goTo(Math.min(goal, rows.length - 1));
    } else if (gap.kind === "more") picker.loadMore(gap.folder);
  }, [goal, rows]);

  /** The first row from here to an index, or at the very end, that stands for rows to be loaded. */
  function gapBefore(to: number): Extract<TreeRow, { readonly folder: string }> | undefined {
    const last = rows.length - 1;
    for (let index = to === Infinity ? last : at; index <= Math.min(to, last); index += 1) {
      const row = rows.at(index);
      if (row?.kind === "more" || row?.kind === "loading") return row;
    }
    return undefined;
  }

  function goTo(index: number): void {
    const row = rows.at(index);
    const element = box.current;
    if (!row || !element) return;
    setActive({ key: row.key, near: index });
    // The scroll position of the browser is newer than the drawn one.
    const current = windowOf(
      { count: rows.length, rowHeight, scrollTop: element.scrollTop, height: element.clientHeight },
      overscan,
    );
    const to = current.scrollFor(index);
    if (to !== undefined) element.scrollTop = to;
  }

  function enter(row: TreeRow): void {
    if (row.kind === "failed" || row.kind === "more") picker.loadMore(row.folder);
    if (row.kind !== "resource") return;
    if (!isFolder(row.resource)) picker.preview(row.resource);
    else turn(row);
  }

  /** Opens or closes what is below. */
  function turn(row: TreeRow): void {
    if (row.kind !== "resource" || !row.canOpen) return;
    if (row.isOpen) picker.closeFolder(row.resource.uri);
    else picker.openFolder(row.resource.uri);
  }

  function onClick({ target }: MouseEvent): void {
    if (!(target instanceof Element)) return;
    const index = Number(target.closest<HTMLElement>("[data-index]")?.dataset["index"]);
    const row = rows.at(index);
    setGoal(undefined);
    if (!row) return;
    if (target.classList.contains("tick") && row.kind === "resource") return picker.toggle(row.resource);
    setActive({ key: row.key, near: index });
    // A resource that has children is shown by its name, and opened by the mark before it.
    if (target.classList.contains("twist") && row.kind === "resource" && row.canOpen) turn(row);
    else enter(row);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = rows.at(at);
    setGoal(undefined);
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const to = moved(rows, at, event.key, page) ?? sideways(row, event.key);
    const isWord = event.key.length === 1 && event.key !== " " && event.key !== "/";
    const far = event.key === "End" ? Infinity : event.key === "PageDown" ? at + page : undefined;
    if (far !== undefined && gapBefore(far)) setGoal(far);
    else if (to !== undefined) goTo(to);
    else if (event.key === "Enter") enter(row);
    else if (event.key === " ") {
      if (row.kind === "resource") picker.toggle(row.resource);
    } else if (isWord) {
      const isSameWord = event.timeStamp - typed.current.at < wordMs;
      typed.current = { text: (isSameWord ? typed.current.text : "") + event.key, at: event.timeStamp };
      const target = jumped(rows, at, typed.current.text);
      if (target !== undefined) goTo(target);
    } else return;
    event.preventDefault();
  }

  /** Right opens, then moves to the first child; left closes, then moves to the parent. */
  function sideways(row: TreeRow, key: string): number | undefined {
    if (key === "ArrowLeft") {
      if (row.kind !== "resource" || !row.isOpen) return rows.parentOf(at) ?? at;
      picker.closeFolder(row.resource.uri);
      return at;
    }
    if (key !== "ArrowRight") return undefined;
    if (row.kind !== "resource" || !row.canOpen) return at;
    if (row.isOpen) return Math.min(rows.length - 1, at + 1);
    picker.openFolder(row.resource.uri);
    return at;
  }

  if (isEmpty)
    return (
      <Hint title={texts.nothingServed} text={texts.nothingServedHint}>
        <CopyButton texts={texts} label={texts.layout.copyServe} text={async () => "pressmark serve ~/notes"} />
      </Hint>
    );
  const here = activeRow?.kind === "resource" ? activeRow.resource : undefined;
  return (
    <>
      <div class="here">{here && <Here {...{ picker, language }} resource={here} />}</div>
      <TreeColumns language={language} />
      <div
        ref={box}
        class="tree"
        role="tree"
        tabIndex={0}
        aria-label={texts.tree}
        aria-activedescendant={`row-${at}`}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) =>
          setView({ top: scrollTop, height: clientHeight, rowHeight })
        }
      >
        <div class="rows" role="presentation" onClick={onClick} style={{ height: `${sight.canvas}px` }}>
          {drawn.map(({ row, index }) => {
            const uri = row.kind === "resource" ? row.resource.uri : "";
            return (
              <TreeRowView
                key={row.key}
                {...{ row, index, now, language }}
                top={sight.topOf(index)}
                isActive={index === at}
                isShown={uri !== "" && uri === preview?.resource.uri}
                choice={uri === "" ? "none" : choices(uri)}
                tokens={chosen.get(uri)}
              />
            );
          })}
        </div>
      </div>
      {goal !== undefined && (
        <p class="going" role="status">
          {texts.loadingRows(new Intl.NumberFormat(language.code).format(rows.length))}
          <span class="stops"> · {texts.loadingStops}</span>
        </p>
      )}
    </>
  );
}
