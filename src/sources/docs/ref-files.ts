/** The files of a folder at a branch, tag or commit, as the collection needs them. */
import { realpathSync } from "node:fs";
import type { RuleChoice } from "../../backends/folder-rules/name-rules.ts";
import { createLazyRepository } from "../../backends/git/lazy-repository.ts";
import { parseReadQuery } from "../../backends/ranges/range.ts";
import { invalid, notFound, quote, ResourceError, unavailable } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { type Address, type Entry, segmentsOf, type SourceChange, type Runtime } from "../../source.ts";
import type { DocumentFiles } from "./collection.ts";
import { findAbove } from "./git-times.ts";
import { rangeTemplate } from "./reading.ts";

interface RefFilesOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly ref: string;
  readonly maxBytes: number;
}

export function openRefFiles(options: RefFilesOptions, runtime: Runtime): DocumentFiles {
  const { root, ref, maxBytes, ...chosen } = options;
  const found = findAbove(root);
  if (!found)
    throw invalid(`${quote(root)} is not in a git repository, so ${quote(ref)} cannot be resolved; remove "ref"`);
  const { repository, folderPath } = found;
  const opened = createLazyRepository(repository, async (reach) => {
    const { openRepository } = await import("../../backends/git/open-repository.ts");
    const part = { root: realpathSync.native(root), folderPath };
    const { log, env } = runtime;
    const watching = { watch: "auto", pollMs: 5000 } as const;
    return openRepository(repository, {
      maxBytes,
      partTemplate: rangeTemplate,
      ...watching,
      chosen,
      part,
      log,
      env,
      reach,
    });
  });

  /** Throws "not-found" if there is no file at the path, or if the query is unknown. */
  async function find({ path, query }: Address) {
    const parsed = query && parseReadQuery(query);
    if (query && (!parsed?.range || parsed.asText)) throw notFound(path);
    const { answer, refs, trees, blobs } = await opened.use();
    return answer(
      (async () => {
        const commit = await refs.resolve(ref);
        const entry = await trees.at(commit, [...folderPath, ...segmentsOf(path)]);
        if (entry.kind === "folder") throw notFound(path);
        return { answer, blobs, commit, entry, range: parsed?.range };
      })(),
    );
  }

  return {
    async list() {
      try {
        const { answer, filesAt } = await opened.use();
        const files = await answer(filesAt(ref, folderPath));
        const items = files.map(({ path, hash, size }) => toFile(path, { path, size, version: hash }));
        return { items: items.sort((one, other) => compareAddresses(one.path, other.path)) };
      } catch (cause) {
        if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
        const message = `the repository has no ${quote(ref)} that contains this folder`;
        throw unavailable(message, cause);
      }
    },

    async read(at, { signal }) {
      const { answer, blobs, ...file } = await find(at);
      const name = segmentsOf(at.path).at(-1) ?? "";
      return [await answer(blobs.read({ ...file, at, name }, signal))];
    },

    async stat(at) {
      const { answer, blobs, entry } = await find(at);
      return { ...toFile(at.path, await answer(blobs.describe(at, entry))), ...(at.query && { query: at.query }) };
    },

    async watch({ signal }) {
      const { answer, watching } = await opened.use();
      const changes = await answer(watching.watch(signal));
      return {
        async *[Symbol.asyncIterator](): AsyncGenerator<SourceChange> {
          // When a ref moves, the changed files are found by a new check.
          for await (const change of changes) yield change.kind === "lost" ? change : { kind: "changed", path: "" };
        },
        get failure() {
          return changes.failure;
        },
      };
    },

    async noteChanges() {
      (await opened.used())?.expireRules();
    },

    close: opened.close,
  };
}

function toFile(path: string, { size, version }: Entry): Entry {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const mimeType = mimeOfName(name);
  return {
    path,
    name,
    mimeType,
    size,
    version,
  };
}
