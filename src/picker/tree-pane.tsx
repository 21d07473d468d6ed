/** The tree on the page. Only the rows in sight are drawn, so that a million are as quick as ten. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { Icon } from "./icon.tsx";
import { inUnits } from "./texts.ts";
import { has } from "./tray.ts";
import { isFolder, jumped, moved, parentRow, type Row, rowsOf } from "./tree.ts";

/** In CSS pixels, as the style sheet has it. */
const rowHeight = 28;
const overscan = 8;
/** Letters that follow each other sooner are one word. */
const wordMs = 700;

export function TreePane({
  picker,
  language: { texts },
  box,
}: Shared & { readonly box: RefObject<HTMLDivElement | null> }) {
  const { tree, tray, preview, revealed } = picker.state;
  const rows = useMemo(() => rowsOf(tree), [tree]);
  const [active, setActive] = useState("");
  const [{ top, height }, setView] = useState({ top: 0, height: 600 });
  const typed = useRef({ text: "", at: 0 });
  const found = rows.findIndex((row) => keyOf(row) === active);
  const at = Math.max(0, found);
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + overscan);
  const inSight = rows.slice(first, last).map((row, index) => ({ row, index: first + index }));
  // What has the focus is always there to be read out.
  const activeRow = rows[at];
  const drawn = activeRow && (at < first || at >= last) ? [...inSight, { row: activeRow, index: at }] : inSight;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setView({ top: element.scrollTop, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);

  // What comes into sight is asked for.
  const due = inSight.find(({ row }) => row.kind === "more")?.row;
  useEffect(() => {
    if (due?.kind === "more") picker.loadMore(due.folder);
  }, [due, picker]);

  useEffect(() => {
    const index =
      revealed === undefined ? -1 : rows.findIndex((row) => row.kind === "resource" && row.resource.uri === revealed);
    if (index < 0) return;
    goTo(index);
    picker.revealed();
  }, [revealed, rows]);

  function goTo(index: number): void {
    const row = rows[index];
    const element = box.current;
    if (!row || !element) return;
    setActive(keyOf(row));
    const start = index * rowHeight;
    if (start < element.scrollTop) element.scrollTop = start;
    else if (start + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = start + rowHeight - element.clientHeight;
  }

  function enter(row: Row): void {
    if (row.kind === "failed" || row.kind === "more") picker.loadMore(row.folder);
    if (row.kind !== "resource") return;
    if (!row.isFolder) picker.preview(row.resource);
    else if (row.isOpen) picker.closeFolder(row.resource.uri);
    else picker.openFolder(row.resource.uri);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const to = moved(rows, at, event.key, Math.max(1, Math.floor(height / rowHeight) - 1)) ?? sideways(row, event.key);
    const isWord = event.key.length === 1 && event.key !== " " && event.key !== "/";
    if (to !== undefined) goTo(to);
    else if (event.key === "Enter") enter(row);
    else if (event.key === " ") {
      if (row.kind === "resource" && !row.isFolder) picker.toggle(row.resource);
    } else if (isWord) {
      const isSameWord = event.timeStamp - typed.current.at < wordMs;
      typed.current = { text: (isSameWord ? typed.current.text : "") + event.key, at: event.timeStamp };
      const target = jumped(rows, at, typed.current.text);
      if (target !== undefined) goTo(target);
    } else return;
    event.preventDefault();
  }

  /** Right opens, then goes in; left closes, then goes out. */
  function sideways(row: Row, key: string): number | undefined {
    if (key === "ArrowLeft") {
      if (row.kind !== "resource" || !row.isOpen) return parentRow(rows, at) ?? at;
      picker.closeFolder(row.resource.uri);
      return at;
    }
    if (key !== "ArrowRight") return undefined;
    if (row.kind !== "resource" || !row.isFolder) return at;
    if (row.isOpen) return Math.min(rows.length - 1, at + 1);
    picker.openFolder(row.resource.uri);
    return at;
  }

  if (rows.length === 0) return <p class="state">{texts.nothingServed}</p>;
  return (
    <>
      <div
        ref={box}
        class="tree"
        role="tree"
        tabIndex={0}
        aria-label={texts.tree}
        aria-multiselectable="true"
        aria-activedescendant={`row-${at}`}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) => setView({ top: scrollTop, height: clientHeight })}
      >
        <div class="rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
          {drawn.map(({ row, index }) => (
            <TreeRow
              key={keyOf(row)}
              row={row}
              index={index}
              isActive={index === at}
              isShown={row.kind === "resource" && row.resource.uri === preview?.resource.uri}
              isChosen={row.kind === "resource" && has(tray, row.resource.uri)}
              sayings={[texts.loading, texts.more, texts.empty, `${texts.failed}. ${texts.retry}`]}
              onClick={() => {
                setActive(keyOf(row));
                enter(row);
              }}
              onChoose={() => row.kind === "resource" && picker.toggle(row.resource)}
            />
          ))}
        </div>
      </div>
      <p class="keys">{texts.keys}</p>
    </>
  );
}

interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly isActive: boolean;
  readonly isShown: boolean;
  readonly isChosen: boolean;
  readonly sayings: readonly [loading: string, more: string, empty: string, failed: string];
  readonly onClick: () => void;
  readonly onChoose: () => void;
}

function TreeRow({ row, index, isActive, isShown, isChosen, sayings, onClick, onChoose }: RowProps) {
  const style = { top: `${index * rowHeight}px`, paddingInlineStart: `${row.depth * 16 + 8}px` };
  const shared = { id: `row-${index}`, role: "treeitem" as const, style, onClick, "aria-level": row.depth + 1 };
  const look = `row${isActive ? " active" : ""}${isShown ? " shown" : ""}`;
  if (row.kind !== "resource") {
    const [loading, more, empty, failed] = sayings;
    const said = { loading, more, empty, failed }[row.kind];
    return (
      <div {...shared} class={`${look} saying ${row.kind}`} aria-selected={false} title={row.problem}>
        {row.problem === undefined ? said : `${said} (${row.problem})`}
      </div>
    );
  }
  const { resource, isFolder: folder, isOpen, position, siblings } = row;
  return (
    <div
      {...shared}
      class={look}
      aria-selected={isShown}
      aria-posinset={position}
      aria-setsize={siblings}
      {...(folder ? { "aria-expanded": isOpen } : { "aria-checked": isChosen })}
      title={resource.description ?? resource.uri}
    >
      <span class={`twist${isOpen ? " open" : ""}`} aria-hidden="true">
        {folder ? "›" : ""}
      </span>
      <Icon type={resource.mimeType} />
      <span class="name">{resource.title ?? resource.name}</span>
      {resource.size !== undefined && !isFolder(resource) && <span class="size">{inUnits(resource.size)}</span>}
      {!folder && (
        <span
          class={`tick${isChosen ? " on" : ""}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onChoose();
          }}
        />
      )}
    </div>
  );
}

function keyOf(row: Row): string {
  return row.kind === "resource" ? `${row.parent ?? ""} ${row.resource.uri}` : `${row.kind} ${row.folder}`;
}
