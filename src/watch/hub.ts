/** Delivers a change to the readers that are interested in it, and to no other. */
import type { SourceChange } from "../source.ts";

export interface Interest {
  readonly paths: readonly { readonly mount: string; readonly path: string }[];
  /** Mounts whose lists are of interest. */
  readonly lists: readonly string[];
}

export type ChangedUris =
  /** The content at this path may have changed, appeared or gone; for a directory, its direct children may have. */
  | { readonly kind: "path"; readonly mount: string; readonly path: string }
  /** The list of this mount may have changed. */
  | { readonly kind: "list"; readonly mount: string };

export interface Hub<Reader> {
  /** Until it leaves, the reader is notified of what it is interested in. A reader registers once. */
  register(reader: Reader, interest: Interest): void;
  /** Call with the interest that it registered. */
  leave(reader: Reader, interest: Interest): void;
  /**
   * Notifies only the readers concerned. A change of content concerns its path. An entry that appears or goes concerns its path, its
   * directory, the list, and everything below it, unless that has its own changes (`eachBelow`). "lost" concerns every reader
   * with an interest in the mount. With `impliesDirectories`, as in `Source`, it concerns every directory above.
   */
  publish(mount: string, change: SourceChange, options?: { readonly impliesDirectories?: boolean }): void;
}

interface MountListeners<Reader> {
  readonly paths: Map<string, Set<Reader>>;
  /** Number of watched paths below each directory, so that paths are compared only if there are any. */
  readonly below: Map<string, number>;
  readonly lists: Set<Reader>;
}

export function createHub<Reader>(touch: (reader: Reader, touched: ChangedUris) => void): Hub<Reader> {
  const listenersByMount = new Map<string, MountListeners<Reader>>();

  function listenersOf(mount: string): MountListeners<Reader> {
    let listeners = listenersByMount.get(mount);
    if (listeners === undefined)
      listenersByMount.set(mount, (listeners = { paths: new Map(), below: new Map(), lists: new Set() }));
    return listeners;
  }

  function touchPath(listeners: MountListeners<Reader>, mount: string, path: string): void {
    const readers = listeners.paths.get(path);
    if (readers === undefined) return;
    const touched: ChangedUris = { kind: "path", mount, path };
    for (const reader of readers) touch(reader, touched);
  }

  function touchList(listeners: MountListeners<Reader>, mount: string): void {
    if (listeners.lists.size === 0) return;
    const touched: ChangedUris = { kind: "list", mount };
    for (const reader of listeners.lists) touch(reader, touched);
  }

  return {
    register(reader, { paths, lists }) {
      for (const { mount, path } of paths) {
        const listeners = listenersOf(mount);
        const readers = listeners.paths.get(path);
        if (readers) {
          readers.add(reader);
          continue;
        }
        listeners.paths.set(path, new Set([reader]));
        for (const above of ancestorsOf(path)) listeners.below.set(above, (listeners.below.get(above) ?? 0) + 1);
      }
      for (const mount of lists) listenersOf(mount).lists.add(reader);
    },

    leave(reader, { paths, lists }) {
      for (const { mount, path } of paths) {
        const listeners = listenersOf(mount);
        const readers = listeners.paths.get(path);
        if (!readers?.delete(reader) || readers.size > 0) continue;
        listeners.paths.delete(path);
        for (const above of ancestorsOf(path)) {
          const count = listeners.below.get(above) ?? 0;
          if (count > 1) listeners.below.set(above, count - 1);
          else listeners.below.delete(above);
        }
      }
      for (const mount of lists) listenersOf(mount).lists.delete(reader);
    },

    publish(mount, change, { impliesDirectories = false } = {}) {
      const listeners = listenersByMount.get(mount);
      if (listeners === undefined) return;
      if (change.kind === "lost") {
        for (const path of listeners.paths.keys()) touchPath(listeners, mount, path);
        touchList(listeners, mount);
        return;
      }
      const { path } = change;
      touchPath(listeners, mount, path);
      if (change.kind === "changed") return;
      for (const above of ancestorsOf(path)) {
        touchPath(listeners, mount, above);
        if (!impliesDirectories) break;
      }
      if (!change.eachBelow && listeners.below.has(path)) {
        const inside = path === "" ? "" : `${path}/`;
        for (const other of listeners.paths.keys())
          if (other !== path && other.startsWith(inside)) touchPath(listeners, mount, other);
      }
      touchList(listeners, mount);
    },
  };
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

function* ancestorsOf(path: string): Generator<string> {
  while (path !== "") yield (path = parentOf(path));
}
