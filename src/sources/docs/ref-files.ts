/** The files of a folder at a branch, tag or commit, as the collection needs them. */
import { realpathSync } from "node:fs";
import type { RuleChoice } from "../../backends/folder-rules/name-rules.ts";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { type Entry, pathOf, segmentsOf, type SourceChange, type Runtime } from "../../source.ts";
import type { GitSource } from "../git.ts";
import type { DocumentFiles } from "./collection.ts";
import { findAbove } from "./git-times.ts";

export interface RefFilesOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly ref: string;
  readonly maxBytes: number;
}

export async function openRefFiles(options: RefFilesOptions, runtime: Runtime): Promise<DocumentFiles> {
  const { root, ref, ...folder } = options;
  const found = findAbove(root);
  if (!found)
    throw invalid(`${quote(root)} is not in a git repository, so ${quote(ref)} cannot be resolved; remove "ref"`);
  const { repository, folderPath } = found;
  const { openGit } = await import("../git.ts");
  const source = openGit(repository, folder, runtime, {
    root: realpathSync.native(root),
    folderPath,
  }) as Required<GitSource>;

  const at = (kind: "tree" | "blob", path: string) => pathOf([kind, ref, ...folderPath, ...segmentsOf(path)]);

  /** Errors of git name its own addresses; these are replaced. */
  async function withOwnPaths<T>(path: string, work: Promise<T>): Promise<T> {
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

  return {
    async list() {
      try {
        const files = await source.filesAt(ref, folderPath);
        const items = files.map(({ path, hash, size }) => toFile(path, { path, size, version: hash }));
        return { items: items.sort((one, other) => compareAddresses(one.path, other.path)) };
      } catch (cause) {
        if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
        const message = `the repository has no ${quote(ref)} that contains this folder`;
        throw new ResourceError("unavailable", message, { cause });
      }
    },

    async read({ path, query }, call) {
      const parts = await withOwnPaths(path, source.read({ path: at("blob", path), ...(query && { query }) }, call));
      return parts.map(({ reveals: _reveals, ...part }) => part);
    },

    async stat({ path, query }, call) {
      const entry = await withOwnPaths(path, source.stat({ path: at("blob", path), ...(query && { query }) }, call));
      return { ...toFile(path, entry), ...(query && { query }) };
    },

    async watch(call) {
      const changes = await source.watch(call);
      return (async function* fileChanges(): AsyncGenerator<SourceChange> {
        // When a ref moves, the changed files are found by a new check.
        for await (const change of changes) yield change.kind === "lost" ? change : { kind: "changed", path: "" };
      })();
    },

    close: () => source.close(),
  };
}

function toFile(path: string, { size, version }: Entry): Entry {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const mimeType = mimeOfName(name);
  return {
    path,
    name,
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...(version !== undefined && { version }),
  };
}
