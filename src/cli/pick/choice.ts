/** The choice: files, passages of files, and all files of a folder. No side effects. */
import { linesOf } from "../../lib/line-range-uri.ts";
import { wholeUri } from "../../lib/passage-uri.ts";
import { estimateTokensOfBytes } from "../../lib/estimate-tokens.ts";
import type { PickItem, PickState } from "./state.ts";

/** "some" for a folder with chosen files, and for a file with chosen passages. */
export type ChoiceMark = "none" | "some" | "all";

export function markOf(item: PickItem, { chosen, files }: Pick<PickState, "chosen" | "files">): ChoiceMark {
  if (chosen.has(item.uri) || chosen.has(wholeUri(item.uri))) return "all";
  if (linesOf(item.uri)) return "none";
  const below = item.isDirectory ? filesOf(item, files) : undefined;
  if (below && below.length > 0 && below.every(({ uri }) => chosen.has(uri))) return "all";
  for (const uri of chosen.keys())
    if (item.isDirectory ? isBelow(uri, item.uri) : wholeUri(uri) === item.uri) return "some";
  return "none";
}

/** Chooses the item, or undoes that. A folder whose files are not known yet is counted first. */
export function toggled(state: PickState, item: PickItem | undefined): PickState {
  if (!item) return state;
  if (item.isDirectory) return folderToggled(state, item);
  const chosen = new Map(state.chosen);
  if (chosen.delete(item.uri)) return { ...state, chosen };
  // A passage replaces the whole file, and the other way round.
  if (linesOf(item.uri)) chosen.delete(wholeUri(item.uri));
  else for (const uri of chosen.keys()) if (wholeUri(uri) === item.uri) chosen.delete(uri);
  return { ...state, chosen: chosen.set(item.uri, item) };
}

/** Chooses the whole file instead of the passage, or undoes that. */
export function wholeToggled(state: PickState, item: PickItem | undefined): PickState {
  if (!item) return state;
  const uri = wholeUri(item.uri);
  return toggled(
    state,
    uri === item.uri ? item : { ...item, uri, name: item.file ?? item.name, path: item.filePath ?? item.path },
  );
}

function folderToggled(state: PickState, folder: PickItem): PickState {
  const files = filesOf(folder, state.files);
  if (!files) {
    const counting = new Set(state.counting);
    if (!counting.delete(folder.uri)) counting.add(folder.uri);
    return { ...state, counting };
  }
  const isAll = markOf(folder, state) === "all";
  if (!isAll) return { ...state, chosen: withFiles(state.chosen, files) };
  const chosen = new Map(state.chosen);
  for (const { uri } of files) chosen.delete(uri);
  return { ...state, chosen };
}

/** The files of a folder that was counted, itself or as a part of another. */
function filesOf({ uri: folder }: PickItem, counted: PickState["files"]): readonly PickItem[] | undefined {
  const own = counted.get(folder);
  if (own) return own;
  const [, outer = []] = [...counted].find(([each]) => isBelow(folder, each)) ?? [];
  const files = outer.filter(({ uri }) => isBelow(uri, folder));
  return files.length === 0 ? undefined : files;
}

/** Adds whole files, which replace their passages. */
function withFiles(before: PickState["chosen"], files: readonly PickItem[]): Map<string, PickItem> {
  const added = new Map(files.map((file) => [file.uri, file]));
  const chosen = new Map(before);
  for (const uri of before.keys()) if (linesOf(uri) && added.has(wholeUri(uri))) chosen.delete(uri);
  for (const [uri, file] of added) if (!chosen.has(uri)) chosen.set(uri, file);
  return chosen;
}

/** The files of a folder have been counted: if it is still wanted, they are chosen. Their tokens are estimated without reading them. */
export function filesCounted(state: PickState, folder: string, items: readonly PickItem[], isCut: boolean): PickState {
  const counting = new Set(state.counting);
  if (!counting.delete(folder)) return state;
  if (isCut) return { ...state, counting, notice: "this folder has more than 10,000 files; choose folders inside it" };
  if (items.length === 0) return { ...state, counting, notice: "this folder has no files" };
  const chosen = withFiles(state.chosen, items);
  const tokens = new Map(state.tokens);
  for (const item of items) if (!tokens.has(item.uri)) tokens.set(item.uri, tokensBySize(item));
  return { ...state, counting, chosen, tokens, files: new Map(state.files).set(folder, items) };
}

const bytesType = /^(?:image|audio|video|font)\/|octet-stream|pdf|zip/;

function tokensBySize({ size, mimeType = "" }: PickItem): number | undefined {
  return size === undefined || bytesType.test(mimeType) ? undefined : estimateTokensOfBytes(size);
}

function isBelow(uri: string, folder: string): boolean {
  return uri.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
