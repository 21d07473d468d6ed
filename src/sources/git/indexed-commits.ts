/** What the search index contains of a repository: its commits, with message, author and names of changed files. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { notFound } from "../../errors.ts";
import { cutText } from "../../lib/cut-text.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import type { Page } from "../../resources.ts";
import type { Entry, ListRequest, SourceChange, SourceProblem } from "../../source.ts";
import { readCommitObject } from "../../backends/git/commit-object.ts";
import { hiddenMessage, shallowEnds, splitMessage, subjectOf } from "../../backends/git/commits.ts";
import type { OpenRepository } from "../../backends/git/open-repository.ts";
import { GitFailure } from "../../backends/git/program.ts";
import { ifLacking } from "../../backends/git/trees.ts";
import { ruleFiles } from "../../backends/folder-rules/folder-rules.ts";
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
  /** The present tips, and what is indexed now and was not at the earlier ones, or the reverse. */
  since(before: HistoryTips | undefined, signal: AbortSignal): Promise<CommitsSince>;
}

export interface HistoryTips {
  /** The objects to which HEAD, branches and tags point. */
  readonly tips: readonly string[];
  /** The ignore files in HEAD, each with its mode and hash: they may apply to the whole history. */
  readonly ruleFiles: Readonly<Record<string, string>>;
}

export interface CommitsSince {
  /** Undefined if there are too many. */
  readonly present: HistoryTips | undefined;
  /** Undefined if there are too many, if the repository no longer has what it had, or if other files may be served. */
  readonly changes: readonly SourceChange[] | undefined;
}

/** Below files: a commit that contains the words of a query is rarely what was meant, unless it contains all of them. */
const priority = 0.2;
const maxTitle = 300;
const maxMessage = 20_000;
/** Names of files in the text of one commit. An import of a whole project is not found by each of its files. */
const maxNames = 200;
/** Commits that are compared with their parents at once, so that git is asked for many trees in one write. */
const comparedAtOnce = 64;
/** As many as fit on a command line. */
const maxTips = 1000;
/** With more, listing everything is as fast. */
const maxSince = 1000;

/** Commits beyond the newest `max` are left out. */
export function createIndexedCommits(opened: OpenRepository, max: number): IndexedCommits {
  const { program, mirror, refs, commits, contents, repository } = opened;
  const others = indexedEntries(max);
  /** The paths of the last first page, in address order: later pages continue it. */
  let paths: readonly string[] = [];

  async function headCommit(): Promise<string[]> {
    return refs.resolve("HEAD").then(
      ({ hash }) => [hash],
      () => [],
    );
  }

  /** Of HEAD, branches and tags, and of what is named before or after them. */
  async function revList(
    args: readonly string[],
    signal: AbortSignal,
    { before = [], after = [] }: { readonly before?: readonly string[]; readonly after?: readonly string[] } = {},
  ): Promise<string[]> {
    const gitDir = await mirror.ready();
    const shown = [...(await headCommit()), "--branches", "--tags"];
    const { bytes } = await program.run(["rev-list", ...args, ...before, ...shown, ...after, "--"], {
      gitDir,
      signal,
      // A hash of 64 digits and a line feed each.
      maxBytes: Math.max(1, max) * 65,
    });
    return bytes.toString("latin1").split("\n").filter(Boolean);
  }

  async function presentTips(signal: AbortSignal): Promise<HistoryTips | undefined> {
    const all = (await refs.all(signal)).filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name));
    const head = await headCommit();
    const tips = [...new Set([...head, ...all.map(({ hash }) => hash)])];
    if (tips.length > maxTips) return undefined;
    const gitDir = await mirror.ready();
    const nothing = { bytes: Buffer.alloc(0), isCut: false };
    const { bytes, isCut } =
      head.length === 0 ? nothing : await program.run(["ls-tree", "-r", "-z", ...head], { gitDir, signal });
    if (isCut) return undefined;
    const ruleFilesOfHead: Record<string, string> = {};
    for (const line of bytes.toString("utf8").split("\0")) {
      const tab = line.indexOf("\t");
      const path = line.slice(tab + 1);
      if (ruleFiles.some(([name]) => name === basename(path))) ruleFilesOfHead[path] = line.slice(0, tab);
    }
    return { tips, ruleFiles: ruleFilesOfHead };
  }

  async function changesSince(tips: readonly string[], signal: AbortSignal): Promise<SourceChange[] | undefined> {
    if (max <= maxSince || tips.length === 0) return undefined;
    const limit = `--max-count=${maxSince + 1}`;
    try {
      // Beyond the maximum, older commits take the place of those that are gone, and new ones push others out.
      const [count] = await revList(["--count", `--max-count=${max + 1}`], signal, { before: tips });
      if (!(Number(count) <= max)) return undefined;
      const appeared = await revList([limit], signal, { after: ["--not", ...tips] });
      const gone = await revList([limit], signal, { before: [...tips, "--not"] });
      if (Math.max(appeared.length, gone.length) > maxSince) return undefined;
      const isShown = await Promise.all(appeared.map((hash) => commits.isShown(hash)));
      return [
        { kind: "changed", path: "tags" },
        ...appeared.filter((_, index) => isShown[index]).map((hash) => changeOf("appeared", hash)),
        ...gone.map((hash) => changeOf("gone", hash)),
      ];
    } catch (cause) {
      // The repository may lack the earlier commits by now.
      if (cause instanceof GitFailure) return undefined;
      throw cause;
    }
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

    async since(before, signal) {
      // Read first: what moves meanwhile is compared again the next time.
      const present = await presentTips(signal);
      const isComparable = before && isDeepStrictEqual(before.ruleFiles, present?.ruleFiles);
      return { present, changes: isComparable ? await changesSince(before.tips, signal) : undefined };
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

function changeOf(kind: "appeared" | "gone", hash: string): SourceChange {
  return { kind, path: `commit/${hash}`, isUnlisted: true };
}
