/** The picker's state, and how keys and loaded data change it. No side effects. */
import { foldPath } from "./fuzzy.ts";
import type { KeyPress } from "./keys.ts";

export interface PickItem {
  readonly uri: string;
  readonly name: string;
  /** Text to filter by: the path, or the URI. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly mimeType?: string;
  readonly size?: number;
}

/** The loaded part of a directory. */
interface PickFolder {
  readonly items: readonly PickItem[];
  /** Cursor of the next page. */
  readonly next?: string;
  readonly failure?: string;
}

export type PickRow =
  | { readonly kind: "item"; readonly item: PickItem; readonly depth: number }
  /** The directory has more entries, loading or not yet loaded. */
  | { readonly kind: "more"; readonly folder: string; readonly depth: number }
  | { readonly kind: "failure"; readonly message: string; readonly depth: number };

interface PickPreview {
  readonly uri: string;
  readonly lines: readonly string[];
}

export interface PickState {
  readonly columns: number;
  readonly rows: number;
  /** By URI; the root is "". */
  readonly folders: ReadonlyMap<string, PickFolder>;
  readonly open: ReadonlySet<string>;
  readonly filter: string;
  readonly found: { readonly items: readonly PickItem[]; readonly count: number };
  /** Number of loaded resources, and whether these are all. */
  readonly known: { readonly count: number; readonly isAll: boolean };
  /** The visible list: the tree, or the matches. */
  readonly shown: readonly PickRow[];
  /** Row under the cursor; `top` is the first visible row. */
  readonly at: number;
  readonly top: number;
  readonly chosen: ReadonlyMap<string, PickItem>;
  /** Tokens of chosen resources; undefined if they cannot be counted. */
  readonly tokens: ReadonlyMap<string, number | undefined>;
  readonly preview: PickPreview | undefined;
  readonly isHelp: boolean;
  readonly end: "finished" | "left" | undefined;
}

export type PickEvent =
  | { readonly kind: "key"; readonly key: KeyPress }
  | { readonly kind: "resized"; readonly columns: number; readonly rows: number }
  | {
      readonly kind: "page";
      readonly folder: string;
      readonly items: readonly PickItem[];
      readonly next?: string;
    }
  | { readonly kind: "failed"; readonly folder: string; readonly message: string }
  | { readonly kind: "found"; readonly letters: string; readonly items: readonly PickItem[]; readonly count: number }
  | { readonly kind: "known"; readonly count: number; readonly isAll: boolean }
  | { readonly kind: "preview"; readonly preview: PickPreview }
  | { readonly kind: "tokens"; readonly uri: string; readonly tokens: number | undefined };

/** Lines for the filter and the status. */
const reservedRows = 2;

export function beginPick({ columns, rows }: Pick<PickState, "columns" | "rows">): PickState {
  return withRows({
    columns,
    rows,
    folders: new Map(),
    open: new Set([""]),
    filter: "",
    found: { items: [], count: 0 },
    known: { count: 0, isAll: false },
    shown: [],
    at: 0,
    top: 0,
    chosen: new Map(),
    tokens: new Map(),
    preview: undefined,
    isHelp: false,
    end: undefined,
  });
}

export function reduce(state: PickState, event: PickEvent): PickState {
  switch (event.kind) {
    case "key":
      return press(state, event.key);
    case "resized":
      return inSight({ ...state, columns: event.columns, rows: event.rows });
    case "page": {
      const before = state.folders.get(event.folder)?.items ?? [];
      return withFolder(state, event.folder, { items: [...before, ...event.items], next: event.next });
    }
    case "failed": {
      const { items = [] } = state.folders.get(event.folder) ?? {};
      return withFolder(state, event.folder, { items, failure: event.message });
    }
    case "found":
      // The filter has changed in the meantime.
      if (event.letters !== foldPath(state.filter)) return state;
      return withRows({ ...state, found: { items: event.items, count: event.count } });
    case "known":
      return { ...state, known: { count: event.count, isAll: event.isAll } };
    case "preview":
      return { ...state, preview: event.preview };
    case "tokens":
      return { ...state, tokens: new Map(state.tokens).set(event.uri, event.tokens) };
  }
}

function press(state: PickState, key: KeyPress): PickState {
  if (key === "interrupt") return { ...state, end: "left" };
  if (state.isHelp) return { ...state, isHelp: false };
  if (typeof key === "object") return filtered(state, state.filter + key.typed);
  switch (key) {
    case "up":
      return moved(state, -1);
    case "down":
      return moved(state, 1);
    case "page-up":
      return moved(state, 1 - listHeight(state));
    case "page-down":
      return moved(state, listHeight(state) - 1);
    case "home":
      return moved(state, -Infinity);
    case "end":
      return moved(state, Infinity);
    case "backspace":
      return filtered(state, withoutLast(state.filter));
    case "clear":
      return filtered(state, "");
    case "escape":
      return state.filter === "" ? { ...state, end: "left" } : filtered(state, "");
    case "help":
      return { ...state, isHelp: true };
    case "space":
      return moved(toggled(state), 1);
    case "tab":
      return opened(state, "either");
    case "right":
      return opened(state, "open");
    case "left":
      return opened(state, "close");
    case "enter":
      return finished(state);
  }
}

/** The item under the cursor. */
export function current(state: PickState): PickItem | undefined {
  const row = state.shown[state.at];
  return row?.kind === "item" ? row.item : undefined;
}

export function listHeight({ rows }: Pick<PickState, "rows">): number {
  return Math.max(1, rows - reservedRows);
}

/** Directories whose next page is about to become visible. */
export function wantedFolders(state: PickState): readonly string[] {
  if (state.filter !== "") return [];
  const height = listHeight(state);
  return state.shown
    .slice(state.top, state.top + 2 * height)
    .flatMap((row) => (row.kind === "more" ? [row.folder] : []));
}

function withFolder(state: PickState, uri: string, folder: PickFolder): PickState {
  return withRows({ ...state, folders: new Map(state.folders).set(uri, folder) });
}

/** Keeps the cursor on its item if that still exists; otherwise the best match is selected. */
function withRows(state: PickState): PickState {
  const uri = state.at === 0 ? undefined : current(state)?.uri;
  const shown = state.filter === "" ? [...treeRows("", 0, state)] : foundRows(state);
  const at = uri === undefined ? state.at : shown.findIndex((row) => row.kind === "item" && row.item.uri === uri);
  return inSight({ ...state, shown, at: at < 0 ? state.at : at });
}

function foundRows({ found }: PickState): PickRow[] {
  return found.items.map((item) => ({ kind: "item", item, depth: 0 }));
}

function* treeRows(uri: string, depth: number, tree: Pick<PickState, "folders" | "open">): Generator<PickRow> {
  const folder = tree.folders.get(uri);
  for (const item of folder?.items ?? []) {
    yield { kind: "item", item, depth };
    if (item.isDirectory && tree.open.has(item.uri)) yield* treeRows(item.uri, depth + 1, tree);
  }
  if (folder?.failure !== undefined) yield { kind: "failure", message: folder.failure, depth };
  else if (!folder || folder.next !== undefined) yield { kind: "more", folder: uri, depth };
}

function inSight(state: PickState): PickState {
  const at = Math.max(0, Math.min(state.at, state.shown.length - 1));
  const height = listHeight(state);
  const top = Math.max(at - height + 1, Math.min(state.top, at), 0);
  return { ...state, at, top };
}

function moved(state: PickState, by: number): PickState {
  return inSight({ ...state, at: Math.max(0, Math.min(state.at + by, state.shown.length - 1)) });
}

function filtered(state: PickState, filter: string): PickState {
  if (filter === state.filter) return state;
  return withRows({ ...state, filter, found: { items: [], count: 0 }, shown: [], at: 0, top: 0 });
}

let graphemes: Intl.Segmenter | undefined;

/** Removes the last grapheme. */
function withoutLast(text: string): string {
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let last = 0;
  for (const { index } of graphemes.segment(text)) last = index;
  return text.slice(0, last);
}

function toggled(state: PickState): PickState {
  const item = current(state);
  if (!item) return state;
  const chosen = new Map(state.chosen);
  if (!chosen.delete(item.uri)) chosen.set(item.uri, item);
  return { ...state, chosen };
}

function opened(state: PickState, way: "open" | "close" | "either"): PickState {
  const item = current(state);
  if (!item || state.filter !== "") return state;
  const isOpen = state.open.has(item.uri);
  if (item.isDirectory && (way === "either" || isOpen === (way === "close"))) {
    const open = new Set(state.open);
    if (!open.delete(item.uri)) open.add(item.uri);
    return withRows({ ...state, open });
  }
  return way === "close" ? inSight({ ...state, at: parentOf(state) }) : state;
}

/** Row of the directory that contains the item under the cursor. */
function parentOf({ shown, at }: PickState): number {
  const depth = shown[at]?.depth ?? 0;
  const above = shown.slice(0, at).findLastIndex((row) => row.depth < depth);
  return above < 0 ? at : above;
}

/** Without a choice, the item under the cursor is used. */
function finished(state: PickState): PickState {
  const item = current(state);
  if (state.chosen.size > 0) return { ...state, end: "finished" };
  return item ? { ...state, chosen: new Map([[item.uri, item]]), end: "finished" } : state;
}
