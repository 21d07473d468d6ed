/** Loads the tree: roots, pages of folders, and everything again when the list has changed. */
import type { Resource } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import { findTreeRoots, readMounts } from "./find-roots.ts";
import {
  closed,
  countOf,
  isFolder,
  loading,
  opened,
  pageCame,
  pageFailed,
  touched,
  type ResourceTree,
  wayTo,
  withoutClosed,
  withRoots,
} from "./tree.ts";

/** A folder with fewer entries is requested again when one of them has changed. */
const fewEntries = 1000;

export function createTreeing(part: PagePart) {
  let isListening = false;
  let isFound = false;
  const turns = new Map<string, Promise<void>>();
  let watching = new AbortController();
  const set = (tree: ResourceTree): void => part.change({ tree });

  /** Requests of one folder are sequential: the page before must not change meanwhile. */
  function inOrder(uri: string, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(uri) ?? Promise.resolve()).then(async () => {
      try {
        await work();
      } catch (cause) {
        set(pageFailed(part.state.tree, uri, messageOf(cause)));
      }
      if (turns.get(uri) === turn) turns.delete(uri);
    });
    turns.set(uri, turn);
    return turn;
  }

  /** Loads the next page, or the first one. */
  function load(uri: string): Promise<void> {
    set(loading(part.state.tree, uri));
    return inOrder(uri, async () => {
      const { next, status } = part.state.tree.folders.get(uri) ?? {};
      // Loaded again meanwhile.
      if (status === "ready") return;
      const page = await part.pressmark().children(uri, next === undefined ? {} : { cursor: next }, part.call());
      set(pageCame(part.state.tree, uri, page, next === undefined));
    });
  }

  /** Loads as many entries as there were in one request, so that the scroll position stays. */
  function reload(uri: string): Promise<void> {
    return inOrder(uri, async () => {
      const wanted = countOf(part.state.tree.folders.get(uri));
      const items: Resource[] = [];
      let next: string | undefined;
      do {
        const page = await part.pressmark().children(uri, next === undefined ? {} : { cursor: next }, part.call());
        for (const item of page.items) items.push(item);
        next = page.next;
      } while (next !== undefined && items.length < wanted);
      set(pageCame(part.state.tree, uri, { items, next }, true));
    });
  }

  async function find(): Promise<void> {
    for await (const roots of findTreeRoots(part.pressmark(), part.call())) show(roots);
  }

  /** A single root is opened when it appears, unless the person has closed it. */
  function show(roots: readonly Resource[]): void {
    const before = new Set(part.state.tree.roots.map(({ uri }) => uri));
    part.change({ connection: "ready", tree: withRoots(part.state.tree, roots) });
    const [only, ...others] = roots;
    if (only && isFolder(only) && others.length === 0 && !before.has(only.uri)) open(only.uri);
  }

  /** The mounts may have changed; roots that were found otherwise stay. */
  async function reloadRoots(): Promise<void> {
    if (part.state.tree.roots.length === 0) return find();
    const mounts = await readMounts(part.pressmark(), part.call());
    if (mounts) show(mounts);
  }

  /** Runs as long as the page does. The client restores lost watches. */
  async function follow(): Promise<void> {
    for await (const { kind } of await part.pressmark().watch({ list: true }, part.call())) {
      if (kind !== "list-changed") continue;
      // Changes are followed even after an error.
      await reloadRoots().catch(() => undefined);
      set(withoutClosed(part.state.tree));
      for (const uri of part.state.tree.open) await reload(uri);
    }
  }

  /** A change of a visible row is shown immediately; its new size is requested where that is cheap. */
  async function followInSight(uris: readonly string[], signal: AbortSignal): Promise<void> {
    for await (const change of await part.pressmark().watch({ uris }, part.call(signal))) {
      if (change.kind !== "updated") continue;
      set(touched(part.state.tree, change.uri, new Date().toISOString()));
      const parent = wayTo(part.state.tree.roots, change.uri).at(-1);
      const folder = parent === undefined ? undefined : part.state.tree.folders.get(parent);
      if (parent !== undefined && folder && countOf(folder) <= fewEntries) await reload(parent);
    }
  }

  function open(uri: string): void {
    const { tree } = part.state;
    const folder = tree.folders.get(uri);
    set(opened(tree, uri));
    if (!folder || folder.status === "failed") void load(uri);
  }

  return {
    /** Marks the page as ready as soon as there is something to show. */
    async findRoots(): Promise<void> {
      await find();
      // After a failure, changes may have been missed.
      if (isFound) for (const uri of part.state.tree.open) void reload(uri);
      isFound = true;
      if (isListening) return;
      isListening = true;
      // A server that reports no changes is shown as first loaded.
      follow().catch(() => (isListening = false));
    },
    openFolder: open,
    closeFolder: (uri: string) => set(closed(part.state.tree, uri)),
    /** Loads the next page, or the same again if it failed. */
    loadMore(uri: string): void {
      const folder = part.state.tree.folders.get(uri);
      if (folder && folder.status !== "loading") void load(uri);
    },
    reveal(uri: string): void {
      part.change({ view: "tree" });
      for (const folder of wayTo(part.state.tree.roots, uri)) if (folder !== uri) open(folder);
      part.change({ revealed: uri });
    },
    /** The tree has scrolled there. */
    revealed: () => part.change({ revealed: undefined }),
    /** Rows in view: when one of them changes, its row shows that. */
    inSight(uris: readonly string[]): void {
      watching.abort();
      watching = new AbortController();
      // A server that reports no changes is shown as first loaded.
      if (uris.length > 0) followInSight(uris, watching.signal).catch(() => undefined);
    },
  };
}
