/** Chosen folders: counts their files before anything is read, and expands them when they are used. */
import { estimateTokensOf } from "../lib/estimate-tokens.ts";
import type { Resource } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { type Chosen, type Tray, withoutContained } from "./tray.ts";
import { isFolder } from "./tree.ts";
import { filesBelow, type FolderWalk } from "./walk-folder.ts";

/** Files below a folder, by their listed sizes. */
export interface FolderSize {
  readonly files: number;
  /** Estimate for the files whose size is listed. */
  readonly tokens: number;
  /** Number of files without an estimate. */
  readonly unsized: number;
  /** Number of folders that could not be listed. */
  readonly failed: number;
  /** True if there may be more files than the bounds allow. */
  readonly isMore: boolean;
  readonly isCounting: boolean;
}

export interface Expansion {
  /** Each file once, in the order of the tray. */
  readonly resources: readonly Resource[];
  /** Number of folders that could not be listed. */
  readonly failed: number;
}

/** Time between two updates of the page. */
const publishMs = 100;

export function createFolderChoice(part: PagePart) {
  let recoveries = 0;
  const counting = new Map<
    Chosen["resource"],
    { readonly except: Chosen["except"]; readonly ended: AbortController }
  >();

  function walkOf({ except = [] }: Chosen, signal?: AbortSignal): FolderWalk {
    const state = { entries: 0, failed: 0, isMore: false };
    return { ...state, pressmark: part.pressmark(), call: part.call(signal), except: new Set(except) };
  }

  async function count(chosen: Chosen, signal: AbortSignal): Promise<void> {
    const size = { files: 0, tokens: 0, unsized: 0 };
    const walk = walkOf(chosen, signal);
    const recoveriesBefore = recoveries;
    const publish = (isCounting: boolean): void => {
      const { failed, isMore } = walk;
      const folder: FolderSize = { ...size, failed, isMore, isCounting };
      const tray = part.state.tray.map((each) => (isSame(each, chosen) ? { ...each, folder } : each));
      part.change({ tray: isCounting ? tray : withoutContained(tray) });
    };
    publish(true);
    const live = setInterval(() => publish(true), publishMs);
    walk.call.signal.addEventListener("abort", () => clearInterval(live), { once: true });
    try {
      for await (const file of filesBelow(chosen.resource.uri, walk)) {
        const tokens = estimateTokensOf(file);
        size.files += 1;
        if (tokens === undefined) size.unsized += 1;
        else if (tokens !== "none") size.tokens += tokens;
      }
      clearInterval(live);
      if (walk.call.signal.aborted) return;
      publish(false);
      if (recoveries > recoveriesBefore) retry();
    } catch {
      // Cancelled.
    }
  }

  /** Counts those again that could not be listed completely. */
  function retry(): void {
    const { tray } = part.state;
    for (const { resource, folder } of tray) if (hasFailed(folder)) counting.delete(resource);
    countFolders(tray);
  }

  /** Counts the folders that are new in the tray, and stops for those that are gone. */
  function countFolders(tray: Tray): void {
    for (const [resource, { except, ended }] of counting)
      if (!tray.some((chosen) => isSame(chosen, { resource, except }))) {
        ended.abort();
        counting.delete(resource);
      }
    for (const chosen of tray) {
      const { resource, except } = chosen;
      if (!isFolder(resource) || counting.has(resource)) continue;
      const ended = new AbortController();
      counting.set(resource, { except, ended });
      void count(chosen, ended.signal);
    }
  }

  return {
    countFolders,
    /** The server responds again. */
    retryFolders(): void {
      recoveries += 1;
      retry();
    },
    /** Throws only if it is cancelled. */
    async expand(tray: Tray, signal?: AbortSignal): Promise<Expansion> {
      const files = new Map<string, Resource>();
      let failed = 0;
      for (const chosen of tray) {
        const { resource } = chosen;
        if (!isFolder(resource)) {
          files.set(resource.uri, resource);
          continue;
        }
        const walk = walkOf(chosen, signal);
        for await (const file of filesBelow(resource.uri, walk)) if (!files.has(file.uri)) files.set(file.uri, file);
        failed += walk.failed;
      }
      return { resources: [...files.values()], failed };
    },
  };
}

function isSame(one: Chosen, { resource, except }: Chosen): boolean {
  return one.resource === resource && one.except === except;
}

function hasFailed(folder: FolderSize | undefined): boolean {
  return folder !== undefined && folder.failed > 0 && !folder.isCounting;
}
