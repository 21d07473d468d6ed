/** The files of a folder as they are at a branch, a tag or a commit: what a collection needs of them. */
import { invalid, quote, ResourceError } from "../../errors.ts";
import { directoryType } from "../../resources.ts";
import type { Call } from "../../resources.ts";
import { type Entry, pathOf, segmentsOf, type Source, type SourceChange, type Tools } from "../../source.ts";
import type { Files } from "./collection.ts";
import { findAbove } from "./git-times.ts";

export interface RefFilesOptions {
  readonly root: string;
  readonly ref: string;
  readonly maxBytes: number;
  /** Whether names that begin with a dot are served. */
  readonly hidden?: boolean | undefined;
}

const pageSize = 1000;
/** More are left out: no one wrote so many documents. */
const maxFiles = 1_000_000;

/** The set of files at the time of one tree. */
interface Known {
  readonly tree: string;
  readonly items: readonly Entry[];
}

export async function openRefFiles(options: RefFilesOptions, tools: Tools): Promise<Files> {
  const { root, ref, maxBytes, hidden = false } = options;
  const found = findAbove(root);
  if (!found) throw invalid(`${quote(root)} is in no git repository, so there is no ${quote(ref)}; remove "ref"`);
  const { repository, way } = found;
  const { default: git } = await import("../git.ts");
  const source = (await git.open({ root: repository.root, maxBytes }, tools)) as Required<Source>;
  let known: Known | undefined;

  const at = (kind: "tree" | "blob", path: string) => pathOf([kind, ref, ...way, ...segmentsOf(path)]);

  /** Git speaks of its own addresses. */
  async function ask<T>(path: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      if (!(cause instanceof ResourceError)) throw cause;
      const { kind, passing, details, message } = cause;
      const own = message
        .replaceAll(quote(at("blob", path)), quote(path))
        .replaceAll(quote(at("tree", path)), quote(path));
      throw new ResourceError(kind, own, { passing, cause, ...(details && { details }) });
    }
  }

  async function treeOf(call: Call): Promise<string> {
    try {
      const { version } = await source.stat({ path: at("tree", "") }, call);
      return version ?? "";
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
      throw new ResourceError("unavailable", `there is no ${quote(ref)} with this folder in the repository`, { cause });
    }
  }

  async function gather(folder: string, items: Entry[], call: Call): Promise<void> {
    for (let cursor: string | undefined; ;) {
      const page = await source.children(
        { path: at("tree", folder) },
        cursor === undefined ? { limit: pageSize } : { limit: pageSize, cursor },
        call,
      );
      for (const entry of page.items) {
        const name = segmentsOf(entry.path).at(-1) ?? "";
        const path = folder === "" ? name : `${folder}/${name}`;
        if ((name.startsWith(".") && !hidden) || items.length >= maxFiles) continue;
        if (entry.mimeType === directoryType) await gather(path, items, call);
        // Links and submodules have no size.
        else if (entry.size !== undefined) items.push(toFile(path, entry));
      }
      cursor = page.next;
      if (cursor === undefined) return;
    }
  }

  return {
    async list(_ask, call) {
      const tree = await treeOf(call);
      if (known?.tree !== tree || tree === "") {
        const items: Entry[] = [];
        await gather("", items, call);
        known = { tree, items };
      }
      return { items: known.items };
    },

    async read({ path, query }, call) {
      const parts = await ask(path, source.read({ path: at("blob", path), ...(query && { query }) }, call));
      return parts.map(({ reveals: _reveals, ...part }) => part);
    },

    async stat({ path, query }, call) {
      const entry = await ask(path, source.stat({ path: at("blob", path), ...(query && { query }) }, call));
      return { ...toFile(path, entry), ...(query && { query }) };
    },

    async watch(call) {
      const changes = await source.watch(call);
      return (async function* heard(): AsyncGenerator<SourceChange> {
        // Which files a ref brings when it moves is seen by looking.
        for await (const change of changes) yield change.kind === "lost" ? change : { kind: "changed", path: "" };
      })();
    },

    close: () => source.close(),
  };
}

function toFile(path: string, { mimeType, size, version }: Entry): Entry {
  return {
    path,
    name: path.slice(path.lastIndexOf("/") + 1),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...(version !== undefined && { version }),
  };
}
