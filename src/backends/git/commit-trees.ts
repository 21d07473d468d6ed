/** The links of commits and the bytes of their trees, cached for all who compare commits. */
import { type GitRepository } from "./repository.ts";
import { shallowEnds } from "./commits.ts";
import type { Objects } from "./objects.ts";
import { lacking, maxTreeBytes } from "./trees.ts";

export interface CommitLinks {
  readonly tree: string;
  /** The first parent first. */
  readonly parents: readonly string[];
}

export interface CommitTrees {
  /** Undefined if the repository lacks the commit, as beyond the end of a shallow clone. */
  linksOf(commit: string): Promise<CommitLinks | undefined>;
  /** Caches the links of a commit, so that git need not be called again. */
  note(commit: string, links: CommitLinks): void;
  /** Empty for an undefined hash. */
  readTree(hash: string | undefined): Promise<Buffer>;
}

const maxCached = 20_000;
const maxHeaderBytes = 64 * 1024;
const maxCachedBytes = 8 * 1024 * 1024;
const noTree = Buffer.alloc(0);

export function createCommitTrees(repository: GitRepository, contents: Objects): CommitTrees {
  const links = new Map<string, CommitLinks>();
  /** Recently read trees, oldest first: successive commits share most of them. */
  const cachedTrees = new Map<string, Buffer>();
  const fetching = new Map<string, Promise<Buffer>>();
  let cachedBytes = 0;
  let round: PromiseWithResolvers<void> | undefined;
  let pending = 0;

  function note(commit: string, commitLinks: CommitLinks): void {
    if (links.size >= maxCached) links.clear();
    links.set(commit, commitLinks);
  }

  /**
   * Requests trees in rounds, the next when all of the last have arrived. Judging many commits concurrently then takes one write to git per
   * tree depth, instead of one per tree.
   */
  async function inRounds<T>(work: () => Promise<T>): Promise<T> {
    if (!round) {
      round = Promise.withResolvers();
      if (pending === 0) setImmediate(beginRound);
    }
    await round.promise;
    pending += 1;
    try {
      return await work();
    } finally {
      pending -= 1;
      if (pending === 0) beginRound();
    }
  }

  function beginRound(): void {
    round?.resolve();
    round = undefined;
  }

  async function fetchTree(hash: string): Promise<Buffer> {
    const found = await inRounds(() => contents.find(hash, maxTreeBytes));
    if (found?.type !== "tree" || !found.bytes) throw lacking();
    // A copy, because the bytes are part of a larger buffer.
    const bytes = Buffer.from(found.bytes);
    cachedTrees.set(hash, bytes);
    cachedBytes += bytes.length;
    for (const [oldest, { length }] of cachedTrees) {
      if (cachedBytes <= maxCachedBytes || oldest === hash) break;
      cachedTrees.delete(oldest);
      cachedBytes -= length;
    }
    return bytes;
  }

  return {
    note,

    async linksOf(commit) {
      const known = links.get(commit);
      if (known) return known;
      const found = await contents.findStart(commit, maxHeaderBytes);
      if (found?.type !== "commit" || !found.bytes) return undefined;
      const head = found.bytes.toString("latin1");
      const [, tree = "", lines = ""] = /^tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)/.exec(head) ?? [];
      const parents = shallowEnds(repository)?.has(commit) ? [] : lines.split("\n").filter(Boolean);
      const commitLinks = { tree, parents: parents.map((line) => line.slice("parent ".length)) };
      note(commit, commitLinks);
      return commitLinks;
    },

    async readTree(hash) {
      if (hash === undefined) return noTree;
      const known = cachedTrees.get(hash) ?? fetching.get(hash);
      if (known) return known;
      const fetched = fetchTree(hash).finally(() => fetching.delete(hash));
      fetching.set(hash, fetched);
      return fetched;
    },
  };
}
