/** The Drive source: lists and directories from the ledger, single files from Drive itself. */
import { entriesPage } from "../../backends/entries-page.ts";
import { denied, isDirectoryError, notFound, quote } from "../../errors.ts";
import { type Caller, directoryType } from "../../resources.ts";
import type {
  Address,
  Entry,
  ListRequest,
  Source,
  SourceProblem,
  SourceTemplate,
  Suggestion,
  Runtime,
} from "../../source.ts";
import { createExtract } from "../../backends/documents/extract.ts";
import type { RetryState } from "./backoff.ts";
import { type DriveFile, folderType, isDriveId, shortcutType } from "./drive-objects.ts";
import type { DriveApi } from "./drive-api.ts";
import { driveChildren, targetOf, toEntry, toFolder } from "./entries.ts";
import { createFollowing } from "./follow.ts";
import { formatNames, exportFormatOf, isNative, isReadable } from "./formats.ts";
import type { Ledger } from "./ledger.ts";
import type { Opened, LedgerRow } from "./rows.ts";
import type { DriveSourceOptions } from "./options.ts";
import { parseDriveReadRequest, createDriveReader, type DriveReadRequest, driveFileTemplate } from "./reading.ts";
import { mayRead } from "./readers.ts";
import { searchDrive } from "./search.ts";
import type { SharedListings } from "./shared-listings.ts";
import { createSync, readersOf } from "./sync.ts";

interface DriveSourceParts {
  /** For calls, which wait only briefly. */
  readonly api: DriveApi;
  /** For background work, which can wait. */
  readonly patientApi: DriveApi;
  /** Its retry state. */
  readonly retryState?: RetryState;
  readonly ledger: Ledger;
  readonly listings?: SharedListings | undefined;
  readonly runtime: Runtime;
}

type Spot =
  | { readonly kind: "top" | "files" | "folders" | "search" }
  | { readonly kind: "file" | "folder"; readonly id: string };

const maxSuggestions = 100;
const maxJudged = 5000;
const maxProblems = 200;

const templates: readonly SourceTemplate[] = [
  {
    template: driveFileTemplate,
    name: "File",
    description:
      "A Drive file by its id: a document as Markdown, a spreadsheet as CSV for each sheet, slides with their notes; or in another format, or a range of its lines or bytes",
  },
  {
    template: "folder/{id}",
    name: "Folder",
    description: "A folder or a shared drive, by its id",
    mimeType: directoryType,
  },
  {
    template: "search{?q}",
    name: "Search in Drive",
    description: "Results of Drive's own search for these words, as JSON",
    mimeType: "application/json",
  },
];

export function createDriveSource(
  options: DriveSourceOptions,
  { api, patientApi, retryState, ledger, listings, runtime }: DriveSourceParts,
): Source {
  const { myDrive, drives, folders, access, callers, maxBytes, pollMs } = options;
  const isJudged = access === "drive";
  /** Whether the account sees more than is served. */
  const isConfined = folders.length > 0 || !myDrive || drives !== "all";
  const sync = createSync({
    api: patientApi,
    retryState,
    ledger,
    listings,
    runtime,
    myDrive,
    drives,
    withPermissions: isJudged,
  });
  const extract = createExtract();
  const reading = createDriveReader({ api, extract, maxBytes });
  const { push } = options;
  const following = createFollowing({
    sync,
    ledger,
    runtime,
    pollMs,
    push:
      push &&
      (async (call, signal) =>
        (await import("./push.ts")).push({ ...push, api: patientApi, ledger, runtime }, call, signal)),
  });

  const closing = new AbortController();
  let judgedMs = -Infinity;
  let lately: { readonly folder: string; readonly seq: number; readonly entries: readonly Entry[] } | undefined;

  const fresh = (signal: AbortSignal) => sync.within(pollMs, signal);
  async function untilFresh(asking: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([asking, closing.signal]);
    while (!signal.aborted)
      try {
        return await fresh(signal);
      } catch {
        await runtime.wait(pollMs, signal).catch(() => undefined);
      }
  }

  /** Undefined also while it may be from an old listing, and have moved or been removed since. */
  const currentRow = (id: string) => (sync.hasCaughtUp ? ledger.row(id) : undefined);

  /** Also for changes: a path right below the folder that a file entered or left. */
  function maySee(caller: Caller, { path }: Address): boolean {
    const id = path.split("/").slice(1).at(-1);
    if (id === undefined) return true;
    // If nothing lists or watches, permissions are not refreshed: do it now, for the next caller.
    if (!(runtime.monotonicMs() - judgedMs < pollMs)) {
      judgedMs = runtime.monotonicMs();
      fresh(closing.signal).catch(() => undefined);
    }
    if (!sync.hasCaughtUp) return false;
    const row = ledger.known(id);
    const real = row?.kind === "shortcut" ? targetOf(ledger, row) : row;
    return mayRead(caller, real?.permissions, { callers, nowMs: runtime.now() });
  }

  /** The current description of an id. "not-found" for everything that is not served. */
  async function find(opened: Opened, path: string, signal: AbortSignal): Promise<DriveFile> {
    const { id } = opened;
    const file = await api.file(ledger.row(id) ?? opened, signal);
    // Drive accepts aliases such as "root"; we do not.
    if (file.isTrashed || file.id !== id) throw notFound(path);
    if (isConfined || isJudged) {
      // Drive does not tell whether it lies in a served folder.
      if (isConfined) await fresh(signal);
      if (!currentRow(id)) await sync.now(signal);
      if (!currentRow(id)?.isShown) throw notFound(path);
    }
    if (isJudged) {
      const { permissions } = file;
      ledger.setPermissions(id, permissions?.length ? permissions : await readersOf(api, id, signal));
    }
    return file;
  }

  /** The file of an id; follows a shortcut. */
  async function findFile(id: string, path: string, signal: AbortSignal): Promise<DriveFile> {
    let file = await find({ id }, path, signal);
    // A shortcut to a shortcut leads nowhere.
    if (file.mimeType === shortcutType && file.target) file = await find(file.target, path, signal);
    if (file.mimeType === folderType || file.mimeType === shortcutType) throw notFound(path);
    if (!isReadable(file.mimeType)) throw denied(`${quote(path)} has no readable content`);
    if (!file.canDownload) throw denied(`${quote(path)} may not be downloaded: its owner does not allow it`);
    return file;
  }

  /** Undefined if the file is unknown, or must be requested to know whether it is still there. */
  async function freshRow(id: string, signal: AbortSignal): Promise<LedgerRow | undefined> {
    if (!ledger.row(id)) return undefined;
    // Where everything is served, a request for the file tells enough, also while all files are listed.
    if (isConfined) await fresh(signal);
    return sync.isFresh(pollMs) ? currentRow(id) : undefined;
  }

  /** Saves a request when the file is read completely: then its earlier size and type do not matter. */
  async function readable(
    id: string,
    path: string,
    request: DriveReadRequest,
    signal: AbortSignal,
  ): Promise<LedgerRow | DriveFile> {
    const row = isJudged ? undefined : await freshRow(id, signal);
    const isWhole =
      row && (isNative(row.mimeType) || (!request.range && !request.asText && (row.size ?? 0) <= maxBytes));
    return isWhole && row.isShown && row.kind === "file" ? row : findFile(id, path, signal);
  }

  async function readSearch(words: string | undefined, path: string, caller: Caller, signal: AbortSignal) {
    if (words === undefined) throw notFound(path);
    if (isConfined || isJudged) await fresh(signal);
    const logs = ledger.logs.map(({ name }) => name);
    const { files, isComplete } = await searchDrive(words, { api, logs: logs.length > 0 ? logs : [""] }, signal);
    const isFor = ({ id, mimeType, canDownload }: DriveFile): boolean => {
      if (!isReadable(mimeType) || !canDownload || mimeType === folderType || mimeType === shortcutType) return false;
      if (isConfined && !currentRow(id)?.isShown) return false;
      return !isJudged || maySee(caller, { path: `file/${id}` });
    };
    const found = files.filter(isFor).map((file) => {
      const { path: at, title, mimeType, annotations } = toEntry(file, false);
      return { path: at, title, mimeType, lastModified: annotations?.lastModified };
    });
    const text = `${JSON.stringify({ q: words, complete: isComplete, found }, undefined, 2)}\n`;
    return [{ body: { text }, mimeType: "application/json", freshness: { scope: "private", ttlMs: 0 } as const }];
  }

  async function childrenOf(spot: Spot, path: string, request: ListRequest, signal: AbortSignal) {
    if (spot.kind === "top") return entriesPage([directoryOf("file"), directoryOf("folder")], request);
    await fresh(signal);
    if (spot.kind === "files") return listFiles(request);
    if (spot.kind === "folders")
      return entriesPage(
        ledger.tops().map((row) => toFolder(row, isJudged)),
        request,
      );
    if (spot.kind !== "folder") throw notFound(path);
    const row = ledger.row(spot.id);
    if (row?.kind !== "folder" || !row.isShown) throw notFound(path);
    return entriesPage(entriesIn(spot.id), request);
  }

  /** Cached, so that paging through a large folder does not rebuild all its entries for each page. */
  function entriesIn(folder: string): readonly Entry[] {
    const { seq } = ledger;
    if (lately?.folder !== folder || lately.seq !== seq)
      lately = { folder, seq, entries: driveChildren(ledger, folder, isJudged) };
    return lately.entries;
  }

  function listFiles({ cursor = "", limit }: ListRequest) {
    const rows = ledger.files(cursor, limit + 1);
    const items = rows.slice(0, limit).map((row) => toEntry(row, isJudged));
    const last = rows[limit - 1];
    return { items, ...(rows.length > limit && last && { next: last.id }) };
  }

  return {
    timeoutMs: options.timeoutMs,

    async list(request, { signal }) {
      await fresh(signal);
      return listFiles(request);
    },

    cursorAfter: ({ path }) => path.slice("file/".length),

    async read(at, { signal, caller }) {
      const { path } = at;
      const spot = spotOf(path);
      if (!spot) throw notFound(path);
      if (spot.kind === "search") return readSearch(onlyWords(at), path, caller, signal);
      if (at.query && spot.kind !== "file") throw notFound(path);
      if (spot.kind !== "file" && spot.kind !== "folder") throw isDirectoryError(path);
      if (spot.kind === "folder") {
        const { mimeType } = await find(spot, path, signal);
        throw mimeType === folderType ? isDirectoryError(path) : notFound(path);
      }
      const request = parseDriveReadRequest(at);
      if (!request) throw notFound(path);
      const file = await readable(spot.id, path, request, signal);
      const parts = await reading.read(file, path, request, signal);
      // Checked again before it is returned: permissions may just have changed.
      const reveals = { path: `file/${file.id}` };
      return isJudged || file.id !== spot.id ? parts.map((part) => ({ ...part, reveals })) : parts;
    },

    async stat(at, { signal }) {
      const { path, query } = at;
      const spot = spotOf(path);
      if (!spot) throw notFound(path);
      if (spot.kind === "search") {
        if (onlyWords(at) === undefined) throw notFound(path);
        return { path, query: query!, mimeType: "application/json" };
      }
      if (!("id" in spot)) {
        if (query) throw notFound(path);
        return directoryOf(path);
      }
      if (spot.kind === "folder") {
        const file = query ? undefined : await find(spot, path, signal);
        if (file?.mimeType !== folderType) throw notFound(path);
        return toFolder(file, isJudged);
      }
      const request = parseDriveReadRequest(at);
      if (!request) throw notFound(path);
      return entryForRequest(await findFile(spot.id, path, signal), at, request, isJudged);
    },

    async children(at, request, { signal }) {
      const spot = spotOf(at.path);
      if (!spot || Object.keys(at.query ?? {}).length > 0) throw notFound(at.path);
      return childrenOf(spot, at.path, request, signal);
    },

    templates,

    async complete({ template, variable, value, given }, { signal, caller }) {
      if (variable !== "format" && variable !== "id" && variable !== "q") return [];
      await fresh(signal);
      if (variable === "format") {
        const row = currentRow(given["id"] ?? "");
        const names = formatNames(row?.isShown ? row.mimeType : undefined);
        return names.filter((name) => name.startsWith(value)).map((name) => ({ value: name }));
      }
      const kind = template.template.startsWith("folder") ? "folder" : "file";
      const found = ledger
        .titled(value, kind, isJudged ? maxJudged : maxSuggestions)
        .map(({ id, name }): Suggestion & { readonly reveals: Address } => ({
          value: variable === "q" ? name : id,
          reveals: { path: `${kind}/${id}` },
        }));
      // Filter before the limit: hidden entries must not displace visible ones.
      return (isJudged ? found.filter(({ reveals }) => maySee(caller, reveals)) : found).slice(0, maxSuggestions);
    },

    async problems({ signal }) {
      await fresh(signal);
      return ledger.unreadable(maxProblems).map(({ id, canDownload }): SourceProblem => ({
        path: `file/${id}`,
        says: canDownload
          ? "has a type without readable content"
          : "is left out, because its owner does not allow downloads",
      }));
    },

    watch: ({ signal }) => following.watch(signal),

    async noteChanges(_changes, { signal }) {
      sync.expire();
      // Who may see a file is judged without waiting: listeners would not hear of a file that is not known yet.
      if (isJudged) await untilFresh(signal);
    },

    ...(isJudged && { maySee }),

    async close() {
      closing.abort();
      await following.close();
      await sync.close();
      extract.close();
      ledger.close();
    },
  };
}

/** Undefined for a path that nothing can have. */
function spotOf(path: string): Spot | undefined {
  if (path === "") return { kind: "top" };
  const [first, id, ...rest] = path.split("/");
  if (id === undefined) {
    if (first === "file") return { kind: "files" };
    if (first === "folder") return { kind: "folders" };
    return first === "search" ? { kind: "search" } : undefined;
  }
  if ((first !== "file" && first !== "folder") || rest.length > 0 || !isDriveId(id)) return undefined;
  return { kind: first, id };
}

/** The words to search for, if the query has nothing else. */
function onlyWords({ query = {} }: Address): string | undefined {
  const { q, ...rest } = query;
  return Object.keys(rest).length === 0 ? q : undefined;
}

function entryForRequest(
  file: DriveFile,
  { path, query }: Address,
  request: DriveReadRequest,
  isJudged: boolean,
): Entry {
  const isLink = path !== `file/${file.id}`;
  const { size, ...entry } = toEntry(file, isJudged || isLink);
  const isWhole = request.range === undefined && !request.asText;
  return {
    ...entry,
    path,
    ...(request.format !== undefined && { mimeType: exportFormatOf(file.mimeType, request.format).mimeType }),
    ...(isWhole && size !== undefined && { size }),
    ...(query && { query }),
  };
}

const titles: Readonly<Record<string, string>> = { "": "Google Drive", file: "All files", folder: "Folders" };

function directoryOf(path: string): Entry {
  return { path, mimeType: directoryType, title: titles[path] ?? path };
}
