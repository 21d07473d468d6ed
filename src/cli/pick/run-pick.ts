/** Runs the picker: handles keys and pages, draws the state, and loads what the state needs. */
import { formatBytes } from "../../lib/format-bytes.ts";
import type { Readable } from "node:stream";
import { ResourceError, toResourceError } from "../../errors.ts";
import { estimateTokens, estimateTokensOfBytes } from "../../lib/estimate-tokens.ts";
import { withLines } from "../../lib/line-range-uri.ts";
import { readableUri } from "../../lib/readable-uri.ts";
import { createCursorGuard } from "../../lib/cursor-guard.ts";
import { directoryType, type Page, type Resource } from "../../resources.ts";
import type { Screen } from "../command.ts";
import type { ReadingContext } from "../reading/reading-context.ts";
import { createPickCatalogue } from "./catalogue.ts";
import { filesBelow } from "./files-below.ts";
import { createPassageSearch, toPickItem } from "./search-passages.ts";
import type { PickUse } from "./use-menu.ts";
import { draw, hasPreview, toPreview } from "./draw.ts";
import { openTerminalScreen } from "./terminal-screen.ts";
import { beginPick, current, type PickEvent, type PickItem, type PickState, reduce, wantedFolders } from "./state.ts";

interface Terminal {
  readonly input: Readable;
  readonly screen: Screen;
  /** Whether the choice can be saved as a set. */
  readonly canSave: boolean;
}

const previewLines = 200;
/** Larger resources are previewed by their first lines, and their tokens estimated from the size. */
const maxRead = 256 * 1024;

interface Picked {
  readonly items: readonly PickItem[];
  /** Undefined for the use that the flags say. */
  readonly use: PickUse | undefined;
}

/** Undefined if the user quit without choosing. */
export async function runPick(
  context: ReadingContext,
  { input, screen, canSave }: Terminal,
): Promise<Picked | undefined> {
  const stop = new AbortController();
  const call = { caller: context.call.caller, signal: AbortSignal.any([context.call.signal, stop.signal]) };
  const loading = new Set<string>();
  const counting = new Set<string>();
  const countingFiles = new Set<string>();
  const searchPassages = createPassageSearch(context, call);
  const ended = Promise.withResolvers<void>();
  let previewing: { readonly uri: string; readonly stop: AbortController } | undefined;
  let isListing = false;
  let areSetsListed = false;
  let sought = "";
  let isDue = false;

  const catalogue = createPickCatalogue({ found: (what) => take({ kind: "found", ...what }) });
  const stage = openTerminalScreen({
    input,
    screen,
    pressed: (key) => take({ kind: "key", key }),
    resized: (columns, rows) => take({ kind: "resized", columns, rows }),
    closed: () => take({ kind: "key", key: "interrupt" }),
  });
  let state: PickState = beginPick({ ...stage.size(), canSave });

  function take(event: PickEvent): void {
    if (state.end) return;
    state = reduce(state, event);
    if (state.end) return ended.resolve();
    follow();
    if (isDue) return;
    isDue = true;
    // Draws once for many events.
    setImmediate(() => {
      isDue = false;
      if (!state.end) stage.show(draw(state, context.paint));
    });
  }

  /** Starts every load that the state needs and that is not running. */
  function follow(): void {
    for (const folder of wantedFolders(state)) void load(folder);
    searchPassages(state.isSearch ? state.filter : undefined, take);
    if (state.isSearch) sought = "";
    else {
      if (state.filter !== "") void listAll();
      if (state.filter !== sought) {
        sought = state.filter;
        catalogue.seek(sought);
      }
    }
    if (state.menu && canSave) void listSets();
    for (const folder of state.counting) void countFiles(folder);
    for (const item of state.chosen.values()) void count(item);
    const item = current(state);
    if (item && hasPreview(state) && previewing?.uri !== item.uri) void preview(item);
  }

  async function load(uri: string): Promise<void> {
    if (loading.has(uri)) return;
    loading.add(uri);
    try {
      const cursor = state.folders.get(uri)?.next;
      const page = await openFolder(uri, cursor);
      take({ kind: "page", folder: uri, items: page.items.map(toItem), next: page.next });
    } catch (cause) {
      take({ kind: "failed", folder: uri, message: toResourceError(cause).message });
    } finally {
      loading.delete(uri);
      // The next page may be needed already.
      if (!state.end) follow();
    }
  }

  async function openFolder(uri: string, cursor: string | undefined): Promise<Page<Resource>> {
    const ask = cursor === undefined ? {} : { cursor };
    if (uri !== "") return context.resources.children(uri, ask, call);
    const [root, ...more] = context.roots;
    if (root && more.length > 0)
      return { items: distinct(await Promise.all(context.roots.map((each) => statRoot(each.uri)))) };
    try {
      if (root) return await context.resources.children(root.uri, ask, call);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
    }
    // A source without directories is shown as a list.
    return context.resources.list(ask, call);
  }

  /** A mount that is currently unreachable can still be opened. */
  function statRoot(uri: string): Promise<Resource> {
    return context.resources.stat(uri, call).catch(() => ({ uri, name: uri, mimeType: directoryType }));
  }

  async function listAll(): Promise<void> {
    if (isListing) return;
    isListing = true;
    const leadsOn = createCursorGuard();
    let cursor: string | undefined;
    try {
      do {
        const page = await context.resources.list(cursor === undefined ? {} : { cursor }, call);
        catalogue.add(page.items.map(toItem));
        cursor = page.next;
        take({ kind: "known", count: catalogue.size, isAll: cursor === undefined });
        // Handles keys before the next page.
        await new Promise(setImmediate);
      } while (cursor !== undefined && leadsOn(cursor) && !catalogue.isFull && !state.end);
    } catch {
      // The loaded part can be filtered; the status line shows that it is incomplete.
    }
  }

  async function listSets(): Promise<void> {
    if (areSetsListed) return;
    areSetsListed = true;
    try {
      const { items } = await context.resources.children("set://", {}, call);
      take({ kind: "sets", names: items.map(({ name }) => name) });
    } catch {
      // Saving says whether the set existed.
    }
  }

  async function preview({ uri, isDirectory, size = 0 }: PickItem): Promise<void> {
    previewing?.stop.abort();
    const leave = new AbortController();
    previewing = { uri, stop: leave };
    if (isDirectory) return;
    const requested = size > maxRead ? withLines(uri, [1, previewLines]) : uri;
    try {
      const { contents } = await context.resources.read(requested, {
        caller: call.caller,
        signal: AbortSignal.any([call.signal, leave.signal]),
      });
      const lines = contents.flatMap(({ body, mimeType }) =>
        "text" in body
          ? toPreview(body.text, previewLines)
          : [`${mimeType ?? "bytes"}, ${formatBytes(body.bytes.length)}`],
      );
      take({ kind: "preview", preview: { uri, lines } });
    } catch (cause) {
      if (leave.signal.aborted) return;
      take({ kind: "preview", preview: { uri, lines: toPreview(toResourceError(cause).message, 4) } });
    }
  }

  async function countFiles(folder: string): Promise<void> {
    if (countingFiles.has(folder)) return;
    countingFiles.add(folder);
    try {
      const { files, isCut } = await filesBelow(folder, context, call);
      take({ kind: "files", folder, items: files.map(toItem), isCut });
    } catch (cause) {
      take({ kind: "files", folder, items: [], isCut: false });
      take({ kind: "notice", notice: toResourceError(cause).message });
    } finally {
      countingFiles.delete(folder);
    }
  }

  async function count({ uri, isDirectory, size = 0 }: PickItem): Promise<void> {
    if (isDirectory || counting.has(uri) || state.tokens.has(uri)) return;
    counting.add(uri);
    if (size > maxRead) return take({ kind: "tokens", uri, tokens: estimateTokensOfBytes(size) });
    try {
      const { contents } = await context.resources.read(uri, call);
      const texts = contents.flatMap(({ body }) => ("text" in body ? [body.text] : []));
      const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
      take({ kind: "tokens", uri, tokens: texts.length === 0 ? undefined : tokens });
    } catch {
      // Stays among the uncounted resources.
    }
  }

  const toItem = (resource: Resource) => toPickItem(resource, context.roots);

  const leave = () => take({ kind: "key", key: "interrupt" });
  context.call.signal.addEventListener("abort", leave, { once: true });
  try {
    if (context.call.signal.aborted) leave();
    stage.show(draw(state, context.paint));
    follow();
    await ended.promise;
  } finally {
    stop.abort();
    catalogue.stop();
    stage.leave();
    context.call.signal.removeEventListener("abort", leave);
  }
  return state.end === "finished" ? { items: [...state.chosen.values()], use: state.use } : undefined;
}

/** Mounts of one name, such as the files and the history of one folder, are told apart by their URIs. */
function distinct(roots: readonly Resource[]): readonly Resource[] {
  return roots.map((root) =>
    roots.some((other) => other !== root && other.name === root.name)
      ? { ...root, name: `${root.name} (${readableUri(root.uri)})` }
      : root,
  );
}
