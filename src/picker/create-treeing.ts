/** The tree's questions: roots, pages of folders, and all of it again when the list has changed. */
import type { Resource } from "../resources.ts";
import { type Desk, messageOf } from "./create-picker.ts";
import { findRoots } from "./find-roots.ts";
import {
  closed,
  isFolder,
  loading,
  opened,
  pageCame,
  pageFailed,
  type Tree,
  wayTo,
  withoutClosed,
  withRoots,
} from "./tree.ts";

export interface Treeing {
  /** Says that the page is ready as soon as there is something to show. */
  start(): Promise<void>;
  open(uri: string): void;
  close(uri: string): void;
  more(uri: string): void;
  reveal(uri: string): void;
  revealed(): void;
}

export function createTreeing(desk: Desk): Treeing {
  let isListening = false;
  const set = (tree: Tree): void => desk.change({ tree });

  async function load(uri: string, isFirst: boolean): Promise<void> {
    const next = isFirst ? undefined : desk.state.tree.folders.get(uri)?.next;
    set(loading(desk.state.tree, uri));
    try {
      const page = await desk.house().children(uri, next === undefined ? {} : { cursor: next }, desk.call());
      set(pageCame(desk.state.tree, uri, page, isFirst));
    } catch (cause) {
      set(pageFailed(desk.state.tree, uri, messageOf(cause)));
    }
  }

  /** As many as there were, at once: a person who has scrolled far stays where they are. */
  async function reload(uri: string): Promise<void> {
    const wanted = desk.state.tree.folders.get(uri)?.children.length ?? 0;
    const items: Resource[] = [];
    let next: string | undefined;
    try {
      do {
        const page = await desk.house().children(uri, next === undefined ? {} : { cursor: next }, desk.call());
        items.push(...page.items);
        next = page.next;
      } while (next !== undefined && items.length < wanted);
      set(pageCame(desk.state.tree, uri, { items, ...(next !== undefined && { next }) }, true));
    } catch (cause) {
      set(pageFailed(desk.state.tree, uri, messageOf(cause)));
    }
  }

  /** Runs as long as the page does. The client takes up what was lost. */
  async function follow(): Promise<void> {
    for await (const { kind } of await desk.house().watch({ list: true }, desk.call())) {
      if (kind !== "list-changed") continue;
      set(withoutClosed(desk.state.tree));
      for (const uri of desk.state.tree.open) await reload(uri);
    }
  }

  function open(uri: string): void {
    const { tree } = desk.state;
    const folder = tree.folders.get(uri);
    set(opened(tree, uri));
    if (!folder || folder.status === "failed") void load(uri, true);
  }

  return {
    async start() {
      for await (const roots of findRoots(desk.house(), desk.call())) {
        desk.change({ connection: "ready", tree: withRoots(desk.state.tree, roots) });
        const [only, ...others] = roots;
        if (only && isFolder(only) && others.length === 0) open(only.uri);
      }
      if (isListening) return;
      isListening = true;
      // A server that tells of no changes is shown as it was found.
      follow().catch(() => (isListening = false));
    },
    open,
    close: (uri) => set(closed(desk.state.tree, uri)),
    more(uri) {
      const folder = desk.state.tree.folders.get(uri);
      if (folder && folder.status !== "loading") void load(uri, folder.children.length === 0);
    },
    reveal(uri) {
      for (const folder of wayTo(desk.state.tree.roots, uri)) if (folder !== uri) open(folder);
      desk.change({ revealed: uri });
    },
    revealed: () => desk.change({ revealed: undefined }),
  };
}
