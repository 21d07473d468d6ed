/** The picker's state, and how keys and loaded data change it. No side effects. */
import { foldPath } from "./fuzzy.ts";
import { filesCounted, toggled, wholeToggled } from "./choice.ts";
import type { KeyPress } from "./keys.ts";
import { openUseMenu, type PickUse, pressInMenu, type UseMenu } from "./use-menu.ts";

export interface PickItem {
  readonly uri: string;
  readonly name: string;
  /** Text to filter by: the path, or the URI. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** True for a directory, and for a resource that has children. */
  readonly canOpen: boolean;
  readonly mimeType?: string;
  readonly size?: number;
  /** Of a passage: name and path of its file, and the line that matches. */
  readonly file?: string;
  readonly filePath?: string;
  readonly snippet?: string;
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
  /** Whether the letters are searched in contents, not in paths. */
  readonly isSearch: boolean;
  /** Whether the cursor is in the results of a search: space then chooses instead of being typed. */
  readonly isInResults: boolean;
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
  /** All files of folders that were counted, by folder. */
  readonly files: ReadonlyMap<string, readonly PickItem[]>;
  /** Folders that are chosen once they are counted. */
  readonly counting: ReadonlySet<string>;
  /** Shown in the status until the next key. */
  readonly notice: string | undefined;
  readonly menu: UseMenu | undefined;
  /** Whether the choice can be saved as a set, and the names of existing sets as far as they are known. */
  readonly canSave: boolean;
  readonly sets: ReadonlySet<string>;
  /** Undefined for the use that the flags say. */
  readonly use: PickUse | undefined;
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
  | { readonly kind: "passages"; readonly text: string; readonly items: readonly PickItem[]; readonly notice?: string }
  | {
      readonly kind: "files";
      readonly folder: string;
      readonly items: readonly PickItem[];
      readonly isCut: boolean;
    }
  | { readonly kind: "notice"; readonly notice: string }
  | { readonly kind: "sets"; readonly names: readonly string[] }
  | { readonly kind: "known"; readonly count: number; readonly isAll: boolean }
  | { readonly kind: "preview"; readonly preview: PickPreview }
  | { readonly kind: "tokens"; readonly uri: string; readonly tokens: number | undefined };

/** Lines for the filter and the status. */
const reservedRows = 2;

export function beginPick({
  columns,
  rows,
  canSave = true,
}: Pick<PickState, "columns" | "rows"> & { readonly canSave?: boolean }): PickState {
  return withRows({
    columns,
    rows,
    folders: new Map(),
    open: new Set([""]),
    filter: "",
    isSearch: false,
    isInResults: false,
    found: { items: [], count: 0 },
    known: { count: 0, isAll: false },
    shown: [],
    at: 0,
    top: 0,
    chosen: new Map(),
    tokens: new Map(),
    files: new Map(),
    counting: new Set(),
    notice: undefined,
    menu: undefined,
    canSave,
    sets: new Set(),
    use: undefined,
    preview: undefined,
    isHelp: false,
    end: undefined,
  });
}

export function reduce(state: PickState, event: PickEvent): PickState {
  switch (event.kind) {
    case "key":
      return press({ ...state, notice: undefined }, event.key);
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
      if (state.isSearch || event.letters !== foldPath(state.filter)) return state;
      return withRows({ ...state, found: { items: event.items, count: event.count } });
    case "passages":
      if (!state.isSearch || event.text !== state.filter) return state;
      return withRows({
        ...state,
        found: { items: event.items, count: event.items.length },
        notice: event.notice,
      });
    case "files":
      return filesCounted(state, event.folder, event.items, event.isCut);
    case "notice":
      return { ...state, notice: event.notice };
    case "sets":
      return { ...state, sets: new Set(event.names) };
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
  if (state.menu) {
    const { menu, use, notice } = pressInMenu(state.menu, key);
    return use
      ? { ...state, menu: undefined, use, chosen: state.menu.items, end: "finished" }
      : { ...state, menu, notice };
  }
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
      if (state.filter === "" && !state.isSearch) return { ...state, end: "left" };
      return filtered({ ...state, isSearch: false }, "", true);
    case "help":
      return { ...state, isHelp: true };
    case "search":
      return filtered({ ...state, isSearch: !state.isSearch, filter: "" }, state.filter, true);
    case "space":
      if (state.isSearch && !state.isInResults) return filtered(state, `${state.filter} `);
      return moved(toggled(state, current(state)), 1);
    case "tab":
      return state.isSearch ? moved(toggled(state, current(state)), 1) : opened(state, "either");
    case "whole":
      return moved(wholeToggled(state, current(state)), 1);
    case "use":
      return chosenOrCurrent(state, (items) => ({ menu: openUseMenu(items, state.canSave) }));
    case "right":
      return opened(state, "open");
    case "left":
      return opened(state, "close");
    case "enter":
      return chosenOrCurrent(state, (chosen) => ({ chosen, end: "finished" }));
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
  if (state.filter !== "" || state.isSearch) return [];
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
  const shown = state.filter === "" && !state.isSearch ? [...treeRows("", 0, state)] : foundRows(state);
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
    if (item.canOpen && tree.open.has(item.uri)) yield* treeRows(item.uri, depth + 1, tree);
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
  return inSight({ ...state, isInResults: true, at: Math.max(0, Math.min(state.at + by, state.shown.length - 1)) });
}

function filtered(state: PickState, filter: string, isOther = filter !== state.filter): PickState {
  if (!isOther) return state;
  const none = { items: [], count: 0 };
  return withRows({ ...state, filter, isInResults: false, found: none, shown: [], at: 0, top: 0 });
}

let graphemes: Intl.Segmenter | undefined;

/** Removes the last grapheme. */
function withoutLast(text: string): string {
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let last = 0;
  for (const { index } of graphemes.segment(text)) last = index;
  return text.slice(0, last);
}

function opened(state: PickState, way: "open" | "close" | "either"): PickState {
  const item = current(state);
  if (!item || state.filter !== "" || state.isSearch) return state;
  const isOpen = state.open.has(item.uri);
  if (item.canOpen && (way === "either" || isOpen === (way === "close"))) {
    const open = new Set(state.open);
    if (!open.delete(item.uri)) return withRows({ ...state, open: open.add(item.uri) });
    // Opening it again tries again.
    const folders = new Map(state.folders);
    if (folders.get(item.uri)?.failure !== undefined) folders.delete(item.uri);
    return withRows({ ...state, open, folders });
  }
  return way === "close" ? inSight({ ...state, at: parentOf(state) }) : state;
}

/** Row of the directory that contains the item under the cursor. */
function parentOf({ shown, at }: PickState): number {
  const depth = shown[at]?.depth ?? 0;
  const above = shown.slice(0, at).findLastIndex((row) => row.depth < depth);
  return above < 0 ? at : above;
}

/** Without a choice, the item under the cursor is used. A folder that is being counted is waited for. */
function chosenOrCurrent(
  state: PickState,
  change: (items: ReadonlyMap<string, PickItem>) => Partial<PickState>,
): PickState {
  if (state.counting.size > 0) return { ...state, notice: "still counting the files of a folder" };
  const item = current(state);
  if (state.chosen.size > 0) return { ...state, ...change(state.chosen) };
  return item ? { ...state, ...change(new Map([[item.uri, item]])) } : state;
}
