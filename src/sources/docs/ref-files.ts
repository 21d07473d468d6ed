/** The files of a folder as they are at a branch, a tag or a commit: what a collection needs of them. */
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
  if (!found) throw invalid(`${quote(root)} is in no git repository, so there is no ${quote(ref)}; remove "ref"`);
  const { repository, way } = found;
  const { openGit } = await import("../git.ts");
  const source = openGit(repository, folder, runtime, { root: realpathSync.native(root), way }) as Required<GitSource>;

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

  return {
    async list() {
      try {
        const files = await source.filesAt(ref, way);
        const items = files.map(({ path, hash, size }) => toFile(path, { path, size, version: hash }));
        return { items: items.sort((one, other) => compareAddresses(one.path, other.path)) };
      } catch (cause) {
        if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
        const says = `there is no ${quote(ref)} with this folder in the repository`;
        throw new ResourceError("unavailable", says, { cause });
      }
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
