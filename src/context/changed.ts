/** Finds what a checkout has changed since it left a branch: a summary, the patches, and the names to search for what they touch. */
import { quote, ResourceError, toResourceError } from "../errors.ts";
import { changesTemplate } from "../lib/changes-template.ts";
import { encodePath } from "../lib/encode-path.ts";
import { nearest } from "../lib/nearest.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { definedNames } from "../search/defined-names.ts";
import { textFormatOf } from "../search/format.ts";
import { type ChangedLines, hunksOf } from "./changed-lines.ts";
import { fileKindOf } from "./file-kind.ts";
import type { LeftOut } from "./pack.ts";
import { findPinned } from "./pins.ts";
import { readText } from "./read-text.ts";
import { roundRobin, tryRequest } from "./round-robin.ts";

export interface CheckoutChanges {
  /** The ref that the checkout was compared with. */
  readonly base: string;
  /** Number of changed files. */
  readonly count: number;
  /** True if more files have changed than a history lists. */
  readonly isMore: boolean;
  /** URIs to include, each with the reason: the summary first, then patches and new files. */
  readonly include: ReadonlyMap<string, string>;
  /** Changed files as they are now. */
  readonly files: readonly Resource[];
  /** By the URI of a changed file: its changed lines and those beside them. */
  readonly lines: ReadonlyMap<string, ChangedLines>;
  /** Names that the changed lines define or are in, the most changed first, then names of files. */
  readonly names: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

interface ChangedFile {
  readonly path: string;
  readonly change: string;
  readonly additions?: number;
  readonly deletions?: number;
  readonly untracked?: boolean;
}

/** Maximum number of files whose changes are included. */
const maxFiles = 80;
const maxNames = 14;
/** Maximum number of untracked files whose names are searched for. */
const maxUntrackedRead = 20;
const maxPatchLength = 1024 * 1024;
const atOnce = 4;

/** Throws "not-found" for an unknown base and if nothing has changed, "unsupported" without a history. */
export async function findChanges(
  resources: Resources,
  base: string | undefined,
  roots: readonly string[],
  call: Call,
): Promise<CheckoutChanges> {
  const histories = await checkouts(resources, call);
  if (histories.length === 0)
    throw new ResourceError(
      "unsupported",
      "no history of a checkout is mounted, so its changes are not known; serve the top folder of a git checkout, and mount a linked worktree or a submodule with the source git in a trusted config",
    );
  const answers = await roundRobin(histories, 2, (history) => changesIn(resources, history, base, call));
  const found = answers.flatMap((one) => (one === undefined || one instanceof ResourceError ? [] : [one]));
  const changed = found.filter(({ files }) => files.length > 0);
  const [first] = changed;
  if (!first) {
    const failure = answers.find((one) => one instanceof ResourceError);
    if (failure) throw failure;
    if (!found[0]) throw await unknownBase(resources, histories, base, call);
    throw new ResourceError("not-found", `nothing changed since ${found[0].base}`);
  }
  const failed = histories.filter((_, at) => answers[at] instanceof ResourceError);
  const all = await roundRobin(changed, 1, (one) => includeChanges(resources, one, roots, call));
  return {
    base: first.base,
    count: all.reduce((sum, { count }) => sum + count, 0),
    isMore: all.some(({ isMore }) => isMore),
    include: new Map(all.flatMap(({ include }) => [...include])),
    files: all.flatMap(({ files }) => files),
    lines: new Map(all.flatMap(({ lines }) => [...lines])),
    names: all.flatMap(({ names }) => names).slice(0, maxNames),
    leftOut: [
      ...failed.map((history) => ({ uri: addressOf(history, { base }), why: "could not be read" })),
      ...all.flatMap(({ leftOut }) => leftOut),
    ],
  };
}

/** Whether a word is a branch, tag or commit of a history. */
export async function isBase(resources: Resources, word: string, call: Call): Promise<boolean> {
  const known = await roundRobin(await checkouts(resources, call), 2, (history) =>
    findPinned(resources, addressOf(history, { base: word }), call),
  );
  return known.some((one) => one !== undefined);
}

/** URI prefixes of histories with a checkout. */
async function checkouts(resources: Resources, call: Call): Promise<readonly string[]> {
  const { items } = await tryRequest(() => resources.templates({ limit: 500 }, call), { items: [] }, call);
  return items.flatMap(({ uriTemplate }) =>
    uriTemplate.endsWith(changesTemplate) ? [uriTemplate.slice(0, -changesTemplate.length)] : [],
  );
}

function addressOf(history: string, query: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeQueryValue(value)}`],
  );
  return `${history}changes${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`;
}

interface HistoryChanges {
  readonly history: string;
  readonly base: string;
  readonly files: readonly ChangedFile[];
  /** True if the list is incomplete. */
  readonly isMore: boolean;
}

/** Undefined if the base is unknown there, or there is no checkout. Returns other errors: another history may have changes. */
async function changesIn(
  resources: Resources,
  history: string,
  base: string | undefined,
  call: Call,
): Promise<HistoryChanges | ResourceError | undefined> {
  try {
    const text = await readText(resources, addressOf(history, { base }), call);
    const { base: used, files, truncated } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof used !== "string" || !Array.isArray(files)) return undefined;
    return { history, base: used, files: files.filter(isChangedFile), isMore: truncated === true };
  } catch (cause) {
    if (call.signal.aborted) throw cause;
    const error = toResourceError(cause);
    return error.kind === "not-found" || error.kind === "denied" ? undefined : error;
  }
}

function isChangedFile(value: unknown): value is ChangedFile {
  return (
    typeof value === "object" &&
    value !== null &&
    "path" in value &&
    typeof value.path === "string" &&
    "change" in value &&
    typeof value.change === "string"
  );
}

async function unknownBase(
  resources: Resources,
  histories: readonly string[],
  base: string | undefined,
  call: Call,
): Promise<ResourceError> {
  if (base === undefined) return new ResourceError("unsupported", "no checkout is served, only its history");
  const names = await roundRobin(histories, 2, async (history) => {
    const request = { template: history + changesTemplate, variable: "base", value: "", given: {} };
    return (await tryRequest(() => resources.complete(request, call), { values: [] }, call)).values;
  });
  const near = nearest(base, names.flat());
  const advice = near === undefined ? "name a branch, a tag or a commit" : `nearest: ${quote(near)}`;
  return new ResourceError("not-found", `no branch, tag or commit ${quote(base, 80)}; ${advice}`);
}

async function includeChanges(
  resources: Resources,
  { history, base, files: changed, isMore }: HistoryChanges,
  roots: readonly string[],
  call: Call,
): Promise<Omit<CheckoutChanges, "base">> {
  const some = changed.slice(0, maxFiles);
  const folder = await folderOf(resources, some, roots, call);
  const now = await roundRobin(some, atOnce, async ({ path, change }) =>
    folder === undefined || change === "deleted" ? undefined : fileAt(resources, folder + encodePath(path), call),
  );
  const include = new Map([[addressOf(history, { base, as: "text" }), `lists what changed since ${base}`]]);
  const leftOut: LeftOut[] = [];
  for (const [at, file] of some.entries()) {
    const { uri } = now[at] ?? {};
    const patch = addressOf(history, { base, path: file.path });
    if (file.change === "added" && uri !== undefined) include.set(uri, "is new");
    else if (file.change === "deleted") leftOut.push({ uri: patch, why: "was deleted; only its name is included" });
    else if (!file.untracked) include.set(patch, `is the patch of a file that was ${file.change}${sayLines(file)}`);
    else leftOut.push({ uri: patch, why: "is new, and its file is not served" });
  }
  for (const { path } of changed.slice(maxFiles))
    leftOut.push({ uri: addressOf(history, { base, path }), why: `is after the first ${maxFiles} changed files` });
  const patch = await readPart(resources, addressOf(history, { base, as: "patch" }), call);
  const fresh = some.flatMap(({ path, untracked: isNew }, at) => (isNew && now[at] ? { path, uri: now[at].uri } : []));
  const untracked = await roundRobin(fresh.slice(0, maxUntrackedRead), atOnce, async ({ path, uri }) => ({
    path,
    changed: await readPart(resources, uri, call),
    around: "",
  }));
  return {
    count: changed.length,
    isMore,
    include,
    files: now.filter((one) => one !== undefined),
    lines: new Map(
      Array.from(hunksOf(folder === undefined ? "" : patch), ([path, hunks]) => [
        `${folder}${encodePath(path)}`,
        new Map(hunks.flatMap((hunk) => hunk.map((line) => [line, 1 / hunk.length]))),
      ]),
    ),
    names: [...new Set([...namesIn([...sectionsOf(patch), ...untracked]), ...stemsOf(some)])],
    leftOut,
  };
}

function sayLines({ additions, deletions }: ChangedFile): string {
  return additions === undefined ? "" : `: +${additions} -${deletions ?? 0}`;
}

/** The prefix below which the changed files are served: of the roots, or of what a search finds; the one with most of them. */
async function folderOf(
  resources: Resources,
  files: readonly ChangedFile[],
  roots: readonly string[],
  call: Call,
): Promise<string | undefined> {
  const there = files.filter(({ change }) => change !== "deleted").slice(0, 3);
  const [first] = there;
  if (!first) return undefined;
  const ending = `/${encodePath(first.path)}`;
  const request = { text: stemOf(first.path), limit: 20 };
  const { hits } = await tryRequest(() => resources.search(request, call), { hits: [], ready: 0 }, call);
  const found = hits.flatMap(({ resource: { uri } }) =>
    uri.endsWith(ending) ? [uri.slice(0, 1 - ending.length)] : [],
  );
  let best: { readonly folder: string; readonly count: number } | undefined;
  for (const folder of new Set([...roots, ...found])) {
    const known = await roundRobin(there, 3, ({ path }) => fileAt(resources, folder + encodePath(path), call));
    const count = known.filter((one) => one !== undefined).length;
    if (count > (best?.count ?? 0)) best = { folder, count };
  }
  return best?.folder;
}

async function fileAt(resources: Resources, uri: string, call: Call): Promise<Resource | undefined> {
  const found = await findPinned(resources, uri, call);
  return found?.mimeType === directoryType ? undefined : found;
}

/** Slashes need no escape in a query, but `&`, `+` and `=` do. */
function encodeQueryValue(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll("%2F", "/");
}

function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

/** Files of these names are in many folders. */
const commonStem = /^(?:index|main|mod|lib|__init__|readme|changelog|package|package-lock)$/i;

function stemsOf(files: readonly ChangedFile[]): readonly string[] {
  return files.flatMap(({ path }) => {
    const stem = stemOf(path);
    return fileKindOf(path) === "test" || commonStem.test(stem) || !isTelling(stem) ? [] : [stem];
  });
}

/** Short names are everywhere. */
function isTelling(name: string): boolean {
  return name.length >= (/\p{Script=Han}/u.test(name) ? 2 : 3) && name.length <= 60;
}

interface ChangedText {
  readonly path: string;
  /** Changed lines, and lines beside them. */
  readonly changed: string;
  readonly around: string;
}

function sectionsOf(patch: string): readonly ChangedText[] {
  return patch.split(/^(?=diff --git )/m).map((section) => {
    const path = /^(?:\+\+\+|---) "?[ab]\/(.*?)"?$/m.exec(section.replace(/^\+\+\+ \/dev\/null$/m, ""))?.[1] ?? "";
    const lines = section.slice(Math.max(0, section.search(/^@@/m))).split("\n");
    const changed = lines.filter((line) => /^[+-]/.test(line)).map((line) => line.slice(1));
    const around = lines.flatMap((line) =>
      line.startsWith(" ") ? [line.slice(1)] : (/^@@ [^@]*@@ (.*)$/.exec(line)?.[1] ?? []),
    );
    return { path, changed: changed.join("\n"), around: around.join("\n") };
  });
}

const lockName = /(?:^|[._-])lock(?:[._-]|$)|(?:^|\/)go\.sum$/i;

/**
 * Names that changed lines define, then names of the functions around them; the most frequent first. Tests define nothing, and keys of
 * data are everywhere.
 */
function namesIn(texts: readonly ChangedText[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path, changed, around } of texts) {
    const format = textFormatOf(path);
    if (fileKindOf(path) === "test" || lockName.test(path) || format === "keys") continue;
    for (const [text, weight] of [
      [changed, 2],
      [around, 1],
    ] as const)
      for (const name of definedNames(text, format))
        if (isTelling(name) && /^[\p{L}\p{N}_$]+$/u.test(name)) counts.set(name, (counts.get(name) ?? 0) + weight);
  }
  return [...counts].sort((left, right) => right[1] - left[1]).map(([name]) => name);
}

/** The beginning of a text; empty if it cannot be read. */
async function readPart(resources: Resources, uri: string, call: Call): Promise<string> {
  return (await tryRequest(() => readText(resources, uri, call), "", call)).slice(0, maxPatchLength);
}
