/** From a change to the readers that asked for it, and to no other. */
import type { SourceChange } from "../source.ts";

export interface Interest {
  readonly paths: readonly { readonly mount: string; readonly path: string }[];
  /** The mounts whose lists are of interest. */
  readonly lists: readonly string[];
}

export type Touched =
  /** What is at this path may be another, gone or new; or, for a directory, what its direct children are. */
  | { readonly kind: "path"; readonly mount: string; readonly path: string }
  /** What there is in this mount may be another. */
  | { readonly kind: "list"; readonly mount: string };

export interface Hub<Reader> {
  /** From here until it leaves the reader is touched by what it is interested in. A reader registers once. */
  register(reader: Reader, interest: Interest): void;
  /** With the interest that it registered. */
  leave(reader: Reader, interest: Interest): void;
  /**
   * Touches only the readers concerned. A change of content concerns its path. What appears or goes concerns its path, the
   * directory it is in, the list, and everything below it, unless that is told for itself (`eachBelow`). "lost" concerns every reader
   * with an interest in the mount.
   */
  publish(mount: string, change: SourceChange): void;
}

interface Desk<Reader> {
  readonly paths: Map<string, Set<Reader>>;
  /** How many watched paths lie below a directory, so that what goes or appears is compared with them only if there are any. */
  readonly below: Map<string, number>;
  readonly lists: Set<Reader>;
}

export function createHub<Reader>(touch: (reader: Reader, touched: Touched) => void): Hub<Reader> {
  const desks = new Map<string, Desk<Reader>>();

  function deskOf(mount: string): Desk<Reader> {
    let desk = desks.get(mount);
    if (desk === undefined) desks.set(mount, (desk = { paths: new Map(), below: new Map(), lists: new Set() }));
    return desk;
  }

  function touchPath(desk: Desk<Reader>, mount: string, path: string): void {
    const readers = desk.paths.get(path);
    if (readers === undefined) return;
    const touched: Touched = { kind: "path", mount, path };
    for (const reader of readers) touch(reader, touched);
  }

  function touchList(desk: Desk<Reader>, mount: string): void {
    if (desk.lists.size === 0) return;
    const touched: Touched = { kind: "list", mount };
    for (const reader of desk.lists) touch(reader, touched);
  }

  return {
    register(reader, { paths, lists }) {
      for (const { mount, path } of paths) {
        const desk = deskOf(mount);
        const readers = desk.paths.get(path);
        if (readers) {
          readers.add(reader);
          continue;
        }
        desk.paths.set(path, new Set([reader]));
        for (const above of ancestorsOf(path)) desk.below.set(above, (desk.below.get(above) ?? 0) + 1);
      }
      for (const mount of lists) deskOf(mount).lists.add(reader);
    },

    leave(reader, { paths, lists }) {
      for (const { mount, path } of paths) {
        const desk = deskOf(mount);
        const readers = desk.paths.get(path);
        if (!readers?.delete(reader) || readers.size > 0) continue;
        desk.paths.delete(path);
        for (const above of ancestorsOf(path)) {
          const count = desk.below.get(above) ?? 0;
          if (count > 1) desk.below.set(above, count - 1);
          else desk.below.delete(above);
        }
      }
      for (const mount of lists) deskOf(mount).lists.delete(reader);
    },

    publish(mount, change) {
      const desk = desks.get(mount);
      if (desk === undefined) return;
      if (change.kind === "lost") {
        for (const path of desk.paths.keys()) touchPath(desk, mount, path);
        touchList(desk, mount);
        return;
      }
      const { path } = change;
      touchPath(desk, mount, path);
      if (change.kind === "changed") return;
      if (path !== "") touchPath(desk, mount, parentOf(path));
      if (!change.eachBelow && desk.below.has(path)) {
        const inside = path === "" ? "" : `${path}/`;
        for (const other of desk.paths.keys())
          if (other !== path && other.startsWith(inside)) touchPath(desk, mount, other);
      }
      touchList(desk, mount);
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
