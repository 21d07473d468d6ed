/** The chosen resources, in the person's order, and their cost. */
import { estimateTokens, estimateTokensOf } from "../lib/estimate-tokens.ts";
import { asMarkdown } from "../lib/format-resources.ts";
import { type Lines, linesOf, withLines, withoutLines } from "../lib/line-range-uri.ts";
import { isDocument, passageUri, wholeUri } from "../lib/passage-uri.ts";
import type { Resource } from "../resources.ts";
import type { FolderSize } from "./create-folder-choice.ts";
import type { Listings } from "./create-listings.ts";
import { isFolder } from "./tree.ts";

export interface TokenCount {
  readonly count: number;
  /** False if it is estimated from the text. */
  readonly isExact: boolean;
}

export interface Chosen {
  readonly resource: Resource;
  /** Undefined until it is counted; "none" if it has no text, or cannot be read. */
  readonly tokens?: TokenCount | "none";
  /** The passages that this whole resource has replaced. */
  readonly passages?: readonly Resource[];
  /** For a folder: URIs of files and folders below it that are not chosen. */
  readonly except?: readonly string[];
  /** For a folder: what its lists are known to contain. */
  readonly listings?: Pick<Listings, "isBelow">;
  /** For a folder: what is known about its files so far. */
  readonly folder?: FolderSize;
  /** Since it was chosen, or since the person last looked at it. */
  readonly change?: "updated" | "gone";
}

export type Tray = readonly Chosen[];

/** Whether all of it is chosen, a part of it, or nothing. */
export type Choice = "all" | "some" | "none";

/** Lines of a resource, as a resource of their own. Lines of a document are those of its extracted text. */
export function passageOf(resource: Resource, lines: Lines): Resource {
  const { size: _, ...rest } = resource;
  return { ...rest, uri: passageUri(resource, lines) };
}

/** A resource, a passage or a folder is chosen by itself or as a part of something else. */
export function choiceOf(tray: Tray, uri: string): Choice {
  let choice: Choice = "none";
  for (const chosen of tray) {
    const by = choiceBy(chosen, uri);
    if (by === "all") return by;
    if (by === "some") choice = by;
  }
  return choice;
}

/** As `choiceOf`, for many URIs. */
export function choicesIn(tray: Tray): (uri: string) => Choice {
  const known = new Map<string, Choice>();
  return (uri) => {
    const choice = known.get(uri) ?? choiceOf(tray, uri);
    known.set(uri, choice);
    return choice;
  };
}

function choiceBy({ resource: chosen, except = [], listings }: Chosen, uri: string): Choice {
  if (isFolder(chosen) && isWithin(uri, chosen.uri)) {
    const whole = wholeUri(uri);
    // A folder is replaced by what it lists: a resource that no list contains is not chosen with it.
    const isIn = (each: string): boolean => each === chosen.uri || !listings || listings.isBelow(each, chosen.uri);
    if (!isIn(uri) && !isIn(whole)) return "none";
    if (except.some((each) => isWithin(whole, each))) return "none";
    return except.some((each) => isWithin(each, whole)) ? "some" : "all";
  }
  if (chosen.uri === uri) return "all";
  if (isWithin(chosen.uri, uri)) return "some";
  if (wholeUri(chosen.uri) !== wholeUri(uri)) return "none";
  const [mine, wanted] = [linesOf(chosen.uri), linesOf(uri)];
  if (!mine) return "all";
  if (wanted && withoutLines(chosen.uri) !== withoutLines(uri)) return "none";
  const [first, last] = wanted ?? [1, Infinity];
  if (mine[0] <= first && last <= mine[1]) return "all";
  return mine[0] <= last && first <= mine[1] ? "some" : "none";
}

/** The resource that a passage is from. The extracted text of a resource that is text itself is one of its own. */
function wholeOf(passage: Resource): Resource {
  const whole = { ...passage, uri: wholeUri(passage.uri) };
  return isDocument(whole) ? whole : { ...passage, uri: withoutLines(passage.uri) };
}

/** It is the folder itself, or below it. */
function isWithin(uri: string, folder: string): boolean {
  return uri === folder || uri.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

export function has(tray: Tray, uri: string): boolean {
  return tray.some(({ resource }) => resource.uri === uri);
}

/** The tokens of one chosen resource, if counted. */
export function trayTokens(tray: Tray, uri: string): Chosen["tokens"] {
  return tray.find(({ resource }) => resource.uri === uri)?.tokens;
}

/** Chooses it, or removes it if all of it is chosen. */
export function toggled(tray: Tray, resource: Resource, listings?: Chosen["listings"]): Tray {
  return choiceOf(tray, resource.uri) === "all" ? unchosen(tray, resource) : withOne(tray, resource, listings);
}

/** Removes a file from a folder, or lines from the file or passage that contains them: its other lines stay. */
function unchosen(tray: Tray, removed: Resource): Tray {
  const { uri } = removed;
  return tray.flatMap((chosen): Tray => {
    const { resource, except = [], listings } = chosen;
    if (choiceBy(chosen, uri) !== "all") return [chosen];
    if (!isFolder(resource)) return otherLines(resource, uri, linesOf(resource.uri));
    if (resource.uri === uri) return [];
    return [{ resource, except: [...except, wholeUri(uri)], listings }, ...otherLines(removed, uri)];
  });
}

/** Passages of the text that `uri` names lines of, without these. */
function otherLines(resource: Resource, uri: string, [first, last]: Lines = [1, Infinity]): Tray {
  const removed = linesOf(uri);
  if (!removed) return [];
  const rest: Lines[] = [
    [first, removed[0] - 1],
    [removed[1] + 1, last],
  ];
  return rest
    .filter(([from, to]) => from <= to && from < Infinity)
    .map((lines) => ({ resource: passageOf({ ...resource, uri }, lines) }));
}

/** Adds it at the place of the first item that it contains, otherwise at the end. Passages that overlap or touch become one. */
function withOne(tray: Tray, wanted: Resource, listings?: Chosen["listings"]): Tray {
  if (choiceOf(tray, wanted.uri) === "all") return tray;
  const added = joined(tray, wanted);
  const folder = tray.find(
    ({ resource, except }) => isWithin(added.uri, resource.uri) && except?.some((uri) => isWithin(uri, added.uri)),
  );
  const chosen = folder
    ? withoutException(folder, added.uri)
    : { resource: added, ...(isFolder(added) && { listings }), ...passagesOf(tray, added) };
  const isReplaced = (each: Chosen): boolean => each === folder || choiceBy(chosen, each.resource.uri) === "all";
  const kept = tray.filter((each) => !isReplaced(each));
  const at = tray.findIndex(isReplaced);
  return kept.toSpliced(at < 0 ? kept.length : at, 0, chosen);
}

function withoutException({ resource, except = [], listings }: Chosen, uri: string): Chosen {
  return { resource, listings, except: except.filter((each) => !isWithin(each, uri)) };
}

/** The passages that a whole resource replaces. */
function passagesOf(tray: Tray, { uri: added }: Resource): Pick<Chosen, "passages"> {
  const isPassage = ({ uri }: Resource): boolean =>
    linesOf(uri) !== undefined && linesOf(added) === undefined && wholeUri(uri) === wholeUri(added);
  const passages = tray.map(({ resource }) => resource).filter(isPassage);
  return passages.length > 0 ? { passages } : {};
}

/** A passage together with those of the same text that overlap it or touch it. */
function joined(tray: Tray, added: Resource): Resource {
  const lines = linesOf(added.uri);
  if (!lines) return added;
  const ranges = tray.flatMap(({ resource: { uri } }) => {
    const range = withoutLines(uri) === withoutLines(added.uri) ? linesOf(uri) : undefined;
    return range && range[0] <= lines[1] + 1 && lines[0] <= range[1] + 1 ? [range] : [];
  });
  const all = [lines, ...ranges];
  const whole: Lines = [Math.min(...all.map(([first]) => first)), Math.max(...all.map(([, last]) => last))];
  const isAll = whole[0] === 1 && whole[1] === Infinity;
  return isAll ? wholeOf(added) : { ...added, uri: withLines(added.uri, whole) };
}

/** Replaces a passage by its whole resource, or a whole resource by the passages that it has replaced. */
export function wholeToggled(tray: Tray, uri: string): Tray {
  const chosen = tray.find(({ resource }) => resource.uri === uri);
  if (!chosen) return tray;
  if (linesOf(uri)) return withOne(tray, wholeOf(chosen.resource));
  const { passages } = chosen;
  return passages
    ? tray.flatMap((each) => (each === chosen ? passages.map((resource) => ({ resource })) : [each]))
    : tray;
}

export function without(tray: Tray, uri: string): Tray {
  return tray.filter(({ resource }) => resource.uri !== uri);
}

export function trayCounts(tray: Tray, counts: ReadonlyMap<string, TokenCount | "none">): Tray {
  return tray.map((chosen) => {
    const tokens = counts.get(chosen.resource.uri);
    return tokens === undefined ? chosen : { ...chosen, tokens };
  });
}

/** Adds new ones at the end. */
export function withAll(tray: Tray, resources: readonly Resource[], listings?: Chosen["listings"]): Tray {
  return resources.reduce((all, resource) => withOne(all, resource, listings), tray);
}

/** Without the items that a chosen folder turned out to contain. */
export function withoutContained(tray: Tray): Tray {
  const folders = tray.filter(({ resource }) => isFolder(resource));
  return tray.filter(
    (chosen) => !folders.some((folder) => folder !== chosen && choiceBy(folder, chosen.resource.uri) === "all"),
  );
}

/** Removes those of which all is chosen. */
export function withoutAll(tray: Tray, resources: readonly Resource[]): Tray {
  return resources.reduce(
    (rest, resource) => (choiceOf(rest, resource.uri) === "all" ? unchosen(rest, resource) : rest),
    tray,
  );
}

/** Moves to a position from 0. */
export function movedTo(tray: Tray, uri: string, to: number): Tray {
  const chosen = tray.find(({ resource }) => resource.uri === uri);
  if (!chosen) return tray;
  return without(tray, uri).toSpliced(Math.max(0, to), 0, chosen);
}

/** The sum of what is counted or, before that, estimated, as it is pasted: each text with its name, its URI and a fence. */
export function trayTotal(tray: Tray): TokenCount {
  return tray.reduce(
    (sum: TokenCount, chosen) => {
      const cost = costOf(chosen);
      const frame = frameTokens(chosen);
      return {
        count: sum.count + (cost?.count ?? 0) + frame,
        isExact: sum.isExact && cost?.isExact === true && frame === 0,
      };
    },
    { count: 0, isExact: true },
  );
}

/** An estimate of what is pasted around its text, or around the texts of a folder's files. Without a text, nothing is pasted. */
function frameTokens({ resource, tokens, folder }: Chosen): number {
  if (tokens === "none") return 0;
  const frame = estimateTokens(asMarkdown([{ resource, text: "" }]));
  return isFolder(resource) ? frame * (folder?.files ?? 0) : frame;
}

/** Undefined if nothing is known yet. */
export function costOf({ resource, tokens, folder }: Chosen): TokenCount | undefined {
  if (folder) return { count: folder.tokens, isExact: false };
  const known = tokens ?? (isFolder(resource) ? undefined : estimateTokensOf(resource));
  if (known === "none") return { count: 0, isExact: true };
  return typeof known === "number" ? { count: known, isExact: false } : known;
}

/** Number of files, with those of chosen folders. */
export function trayFiles(tray: Tray): number {
  return tray.reduce((sum, { resource, folder }) => sum + (isFolder(resource) ? (folder?.files ?? 0) : 1), 0);
}
