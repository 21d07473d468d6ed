/** What the search index contains of a repository: its commits, with message, author and names of changed files. */
import { createHash } from "node:crypto";
import { notFound } from "../../errors.ts";
import { cutText } from "../../lib/cut-text.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import type { Page } from "../../resources.ts";
import type { Entry, ListRequest, SourceProblem } from "../../source.ts";
import { readCommitObject } from "../../backends/git/commit-object.ts";
import { hiddenMessage, shallowEnds, splitMessage, subjectOf } from "../../backends/git/commits.ts";
import type { OpenRepository } from "../../backends/git/open-repository.ts";
import { ifLacking } from "../../backends/git/trees.ts";
import { maxIndexedCommits } from "./max-indexed-commits.ts";
import { personText } from "./readable.ts";
import { indexedEntries } from "./templates.ts";

export interface IndexedCommits {
  list(request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
  /** The entry of a shown commit. Throws "not-found" if the repository lacks it. */
  describe(hash: string): Promise<Entry>;
  /** The indexed text of a shown commit. */
  summary(hash: string): Promise<string>;
  problems(signal: AbortSignal): Promise<SourceProblem[]>;
}

/** Below files: a commit that contains the words of a query is rarely what was meant, unless it contains all of them. */
const priority = 0.2;
const maxTitle = 300;
const maxMessage = 20_000;
/** Names of files in the text of one commit. An import of a whole project is not found by each of its files. */
const maxNames = 200;
/** Commits that are compared with their parents at once, so that git is asked for many trees in one write. */
const comparedAtOnce = 64;

/** Commits beyond the newest `max` are left out. */
export function createIndexedCommits(opened: OpenRepository, max: number): IndexedCommits {
  const { program, mirror, refs, commits, contents, repository } = opened;
  const others = indexedEntries(max);
  /** The paths of the last first page, in address order: later pages continue it. */
  let paths: readonly string[] = [];

  async function revList(args: readonly string[], signal: AbortSignal): Promise<string[]> {
    const gitDir = await mirror.ready();
    const head = await refs.resolve("HEAD").then(
      ({ hash }) => [hash],
      () => [],
    );
    const { bytes } = await program.run(["rev-list", ...args, ...head, "--branches", "--tags", "--"], {
      gitDir,
      signal,
      // A hash of 64 digits and a line feed each.
      maxBytes: Math.max(1, max) * 65,
    });
    return bytes.toString("latin1").split("\n").filter(Boolean);
  }

  /** The message, the parents and the names of files as they are shown. Without names if the repository lacks a tree. */
  async function shownFacts(hash: string) {
    const [commit, changes, links, isMessageShown] = await Promise.all([
      readCommitObject(hash, contents),
      commits.servedChanges(hash, maxNames + 1).catch(ifLacking),
      commits.parentsOf(hash),
      commits.showsMessage(hash),
    ]);
    if (!commit) throw notFound(hash);
    const isBoundary = shallowEnds(repository)?.has(hash) ?? false;
    return {
      ...commit,
      message: isMessageShown ? commit.text.trim() : hiddenMessage,
      names: isBoundary ? [] : (changes ?? []).map(({ path }) => path),
      /** The content of the commit also depends on the folder rules, and on where a shallow clone ends. */
      state: JSON.stringify([hash, isMessageShown, isBoundary, links, changes]),
    };
  }

  async function describe(hash: string): Promise<Entry> {
    const { message, committer, names, state } = await shownFacts(hash);
    const subject = subjectOf(message);
    return {
      path: `commit/${hash}`,
      title: subject === "" ? hash.slice(0, 12) : cutText(subject, maxTitle),
      mimeType: "application/json",
      annotations: { priority, lastModified: committer.date },
      meta: { "pressmark/as": ["text", "summary"] },
      ...(names.length <= maxNames && {
        version: createHash("sha256").update(state).digest("base64url").slice(0, 22),
      }),
    };
  }

  return {
    describe,

    async list({ cursor, limit }, signal) {
      if (cursor === undefined || paths.length === 0) {
        const hashes = max === 0 ? [] : await revList([`--max-count=${max}`], signal);
        const all = [...others.map(({ path }) => path), ...hashes.map((hash) => `commit/${hash}`)];
        // All are ASCII, and no segment is the beginning of another.
        paths = all.sort();
      }
      const from = cursor === undefined ? 0 : paths.findIndex((path) => path > cursor);
      const page = from < 0 ? [] : paths.slice(from, from + Math.max(1, limit));
      const entries = await inParallel(page, comparedAtOnce, async (path) => {
        const [, hash] = path.split("/");
        if (hash === undefined) return others.find((entry) => entry.path === path);
        return (await commits.isShown(hash)) ? describe(hash) : undefined;
      });
      const items = entries.filter((entry) => entry !== undefined);
      return from >= 0 && from + page.length < paths.length ? { items, next: page.at(-1)! } : { items };
    },

    async summary(hash) {
      const { message, author, names } = await shownFacts(hash);
      const { subject, body } = splitMessage(message);
      const more = names.length > maxNames ? ["…"] : [];
      return [
        subject,
        cutText(body, maxMessage),
        `${personText(author)}, ${author.date.slice(0, 10)}`,
        [...names.slice(0, maxNames), ...more].join("\n"),
      ]
        .filter((part) => part !== "")
        .join("\n\n");
    },

    async problems(signal) {
      if (max === 0) return [];
      const [count] = await revList(["--count"], signal);
      if (!(Number(count) > max)) return [];
      const says = `has ${count} commits, of which the search index contains the newest ${max}`;
      if (max >= maxIndexedCommits) return [{ path: "log", says }];
      const advice = `set "indexedCommits" of the mount to a larger number, at most ${maxIndexedCommits} and below "search.maxFiles"`;
      return [{ path: "log", says, advice }];
    },
  };
}
