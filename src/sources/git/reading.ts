/** Reads, describes and lists the addresses of a repository. */
import { entriesPage } from "../../backends/entries-page.ts";
import { isDirectoryError, notFound, ResourceError } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { cutText } from "../../lib/cut-text.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { TextSeal } from "../../lib/sealed-text.ts";
import { directoryType, type Page } from "../../resources.ts";
import {
  type Address,
  type Entry,
  type ListRequest,
  type Part,
  pathOf,
  type Runtime,
  segmentsOf,
} from "../../source.ts";
import { blobPath, type GitDiffRequest, type GitFileRequest, parseAddress } from "./addresses.ts";
import { churnText, readChurn } from "./churn.ts";
import type { OpenRepository } from "../../backends/git/open-repository.ts";
import { readBlame } from "./blame.ts";
import { pinnedFreshness } from "../../backends/git/blobs.ts";
import { changedFiles, countLines, hiddenMessage, shallowEnds } from "../../backends/git/commits.ts";
import { readCommitObject } from "../../backends/git/commit-object.ts";
import { checkBase, readChanges, readChangesPatch } from "./changes.ts";
import { readDiff } from "./diff.ts";
import { readBranches, readTags } from "./listings.ts";
import type { IndexedCommits } from "./indexed-commits.ts";
import { readLog } from "./log.ts";
import { mergeBase, rangeFiles } from "./range.ts";
import { changesText, commitText, filesText, logText, markdownPart, type ReadableCommit } from "./readable.ts";
import { mayMeanAnother, meantPath } from "./meant-path.ts";
import { type Commit, listedNames } from "../../backends/git/refs.ts";
import { readCheckoutStatus } from "./status.ts";
import { listed } from "./templates.ts";

export interface GitReader {
  read(at: Address, signal: AbortSignal): Promise<Part>;
  stat(at: Address, signal: AbortSignal): Promise<Entry>;
  children(at: Address, request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
}

interface GitReaderOptions extends OpenRepository {
  readonly redact: Runtime["redact"] | undefined;
  readonly seal: TextSeal;
  readonly indexed: IndexedCommits;
}

const json = "application/json";

/** The files of a branch or tag show the same content again. */
const view = { "pressmark/view": true };

const refsFolder: Entry = { path: "tree", mimeType: directoryType, meta: view };

/** The empty tree, which every repository has. */
const emptyTrees = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;
const maxFiles = 1000;
const namesMs = 1000;
const maxMessage = 100_000;

export function createGitReader(options: GitReaderOptions): GitReader {
  const { repository, mirror, refs, commits, trees, blobs, watching } = options;
  let known: { readonly names: readonly string[]; readonly untilMs: number } | undefined;
  const context = (signal: AbortSignal) => ({ ...options, servesPath: trees.serves, signal });

  const changesContext = (signal: AbortSignal) => ({
    ...context(signal),
    side,
    emptyTree: emptyTrees[mirror.hashLength],
  });

  async function find({ ref, path }: GitFileRequest) {
    const commit = await refs.resolve(ref);
    return { commit, entry: await trees.at(commit, path) };
  }

  /** The commit of a ref or, if that is not shown, the nearest earlier one that is. */
  async function shownCommit(ref: string): Promise<Commit> {
    const commit = await refs.resolve(ref);
    if (commit.byHash !== undefined && !(await commits.isShown(commit.byHash))) throw notFound(ref);
    const hash = await commits.nearest(commit.hash);
    if (hash === undefined) throw notFound(ref);
    return { ...commit, hash };
  }

  /** The hash of a commit or, if it is not shown, of the nearest earlier one that is. */
  async function shownHash({ hash }: Commit): Promise<string | null> {
    return hash === emptyTrees[mirror.hashLength] ? hash : ((await commits.nearest(hash)) ?? null);
  }

  /** A commit, or the empty tree. */
  async function side(ref: string): Promise<Commit> {
    await mirror.ready();
    if (ref === emptyTrees[mirror.hashLength]) return { hash: ref, isPinned: true };
    const commit = await refs.resolve(ref);
    if (commit.byHash !== undefined && !(await commits.isShown(commit.byHash))) throw notFound(ref);
    return commit;
  }

  /** The two commits to compare. With `isFromCommon`, the first is the shown commit at which the two histories part. */
  async function sides(
    { path }: Address,
    { base, head, isFromCommon }: GitDiffRequest,
    signal: AbortSignal,
  ): Promise<[Commit, Commit]> {
    const found = await Promise.all([side(base), side(head)]);
    watching.noteDiff(path, base, head);
    if (!isFromCommon || found.some(({ hash }) => hash === emptyTrees[mirror.hashLength])) return found;
    const hash = await mergeBase(found[0].hash, found[1].hash, context(signal));
    return [{ hash, isPinned: found[0].isPinned }, found[1]];
  }

  async function servesEither(path: string, ...both: readonly Commit[]): Promise<boolean> {
    for (const { hash } of both)
      if (hash !== emptyTrees[mirror.hashLength] && (await trees.serves(path, hash))) return true;
    return false;
  }

  async function commitFacts(hash: string, signal: AbortSignal, withCounts = false): Promise<ReadableCommit> {
    const [commit, links] = await Promise.all([readCommitObject(hash, options.contents), commits.linksOf(hash)]);
    if (!commit || !links) throw notFound(hash);
    const { author, committer, text } = commit;
    const message = (await commits.showsMessage(hash)) ? text.trimEnd() : hiddenMessage;
    const described = {
      hash,
      parents: await commits.nearestOf(links.parents),
      author,
      committer,
      message: cutText(message, maxMessage),
    };
    if (shallowEnds(repository)?.has(hash)) return { ...described, boundary: true };
    const base = links.parents[0] ?? emptyTrees[mirror.hashLength];
    const { files, leftOut, isCut } = await changedFiles(base, hash, { ...context(signal), renames: true });
    const counts = withCounts ? await countLines(base, hash, files, context(signal)) : undefined;
    return {
      ...described,
      files: files
        .slice(0, maxFiles)
        .map(({ isFolder: _isFolder, isHalf: _isHalf, ...file }) => ({ ...file, ...counts?.get(file.path) })),
      ...(leftOut > 0 && { leftOut }),
      ...((isCut || files.length > maxFiles) && { truncated: true }),
    };
  }

  async function commitPart(hash: string, as: string | undefined, signal: AbortSignal): Promise<Part> {
    if (as === "summary") return { body: { text: await options.indexed.summary(hash) }, mimeType: "text/plain" };
    if (as === "text") return markdownPart(commitText(await commitFacts(hash, signal, true)));
    return facts(await commitFacts(hash, signal));
  }

  async function readFile(at: Address, request: GitFileRequest, signal: AbortSignal): Promise<Part> {
    const commit = await refs.resolve(request.ref);
    const found = trees.at(commit, request.path);
    const entry = found instanceof Promise ? await found : found;
    if (entry.kind === "folder")
      throw request.kind === "tree" && !request.range ? isDirectoryError(at.path) : notFound(at.path);
    const file = { at, name: request.path.at(-1) ?? "", commit, entry };
    if (request.kind === "blob") return blobs.read({ ...file, range: request.range }, signal);
    const reveals = { path: blobPath(request) };
    if (request.kind === "tree") return { ...(await blobs.read({ ...file, range: request.range }, signal)), reveals };
    if (entry.kind !== "file") throw notFound(at.path);
    const content = masked(await blobs.read({ ...file, range: undefined }, signal));
    const path = request.path.join("/");
    const shown = (await commits.nearest(commit.hash)) ?? commit.hash;
    const part = await readBlame({ ...context(signal), commit: shown, path, content, range: request.range });
    return { ...part, ...freshnessOf(commit), reveals };
  }

  function masked(part: Part): Part {
    return options.redact && "text" in part.body ? { ...part, body: { text: options.redact(part.body.text) } } : part;
  }

  async function folder(at: Address, request: GitFileRequest, { cursor, limit }: ListRequest): Promise<Page<Entry>> {
    if (request.range) throw notFound(at.path);
    const { names, entries } = await trees.folder(await refs.resolve(request.ref), request.path);
    const last = cursor === undefined ? "" : (segmentsOf(cursor).at(-1) ?? "");
    const left = names.filter((name) => name > last);
    const page = left.slice(0, Math.max(1, limit));
    const items = await Promise.all(
      page.map((name) =>
        blobs.describe({ path: pathOf(["tree", request.ref, ...request.path, name]) }, entries.get(name)!, {
          path: blobPath({ ref: request.ref, path: [...request.path, name] }),
        }),
      ),
    );
    return left.length > page.length ? { items, next: items.at(-1)!.path } : { items };
  }

  async function refEntries(signal: AbortSignal): Promise<Entry[]> {
    const names = listedNames(await refs.all(signal));
    const head = await refs.resolve("HEAD").then(
      () => ["HEAD"],
      () => [],
    );
    return [...head, ...names]
      .map((name) => ({ path: pathOf(["tree", name]), name, mimeType: directoryType, meta: view }))
      .sort((a, b) => compareAddresses(a.path, b.path));
  }

  /** The names of branches and tags, at most a second old: many unknown addresses must not each run git. */
  async function recentNames(signal: AbortSignal): Promise<readonly string[]> {
    if (!known || monotonicMs() > known.untilMs)
      known = { names: listedNames(await refs.all(signal)), untilMs: monotonicMs() + namesMs };
    return known.names;
  }

  /** Adds to "not-found" the address that was meant, if the name of a branch or tag was written with plain slashes. */
  async function withMeant<T>(at: Address, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const isMissing = cause instanceof ResourceError && cause.kind === "not-found" && cause.details === undefined;
      if (!isMissing || !mayMeanAnother(at.path)) throw cause;
      const [kind, ref = ""] = segmentsOf(at.path);
      // With a known ref, it is a file that is missing.
      const isFile = kind === "blob" || kind === "tree" || kind === "blame";
      const isKnown = isFile && (await refs.resolve(ref).then(Boolean, () => false));
      const meant = isKnown ? undefined : meantPath(at.path, await recentNames(signal));
      if (meant === undefined) throw cause;
      throw new ResourceError("not-found", notFound(at.path).message, { details: { meant: { ...at, path: meant } } });
    }
  }

  const reader: GitReader = {
    async read(at, signal) {
      const request = parseAddress(at);
      switch (request.kind) {
        case "mount":
        case "refs":
          throw isDirectoryError(at.path);
        case "status":
          return facts(await readCheckoutStatus(context(signal)));
        case "branches":
          return facts(await readBranches(context(signal)));
        case "tags":
          return facts(await readTags(context(signal)));
        case "changes": {
          if (request.as === "patch") return readChangesPatch(request.base, request.path, changesContext(signal));
          const found = await readChanges(request.base, changesContext(signal));
          if (request.as !== "text") return facts(found);
          const note = found.isUnrelated ? `No commit in common with ${found.base}: compared with its files.\n\n` : "";
          return markdownPart(note + changesText(found.files, found));
        }
        case "log": {
          const page = await readLog(request.query, context(signal));
          return request.asText ? markdownPart(logText(page)) : facts(page);
        }
        case "churn": {
          const churn = await readChurn(request.query, context(signal));
          return request.asText ? markdownPart(churnText(churn)) : facts(churn);
        }
        case "commit": {
          const commit = await shownCommit(request.ref);
          return { ...(await commitPart(commit.hash, request.as, signal)), ...freshnessOf(commit) };
        }
        case "range": {
          const [base, head] = await sides(at, request, signal);
          const found = await rangeFiles(base.hash, head.hash, context(signal));
          const part = request.asText
            ? markdownPart(filesText(found.files, found))
            : facts({ base: await shownHash(base), head: await shownHash(head), ...found });
          return { ...part, ...freshnessOf(base, head) };
        }
        case "diff": {
          const [base, head] = await sides(at, request, signal);
          const emptyTree = emptyTrees[mirror.hashLength];
          const isServed = request.path === undefined || (await servesEither(request.path, base, head));
          // Hidden paths count as unchanged.
          const to = isServed ? head : base;
          const paths = request.path === undefined ? [] : [request.path];
          const part = await readDiff(base.hash, to.hash, { ...context(signal), paths, emptyTree });
          return { ...part, ...freshnessOf(base, head) };
        }
        default:
          return readFile(at, request, signal);
      }
    },

    async stat(at, signal) {
      const request = parseAddress(at);
      const { path, query } = at;
      const entryBase = { path, ...(query && Object.keys(query).length > 0 && { query }) };
      switch (request.kind) {
        case "mount":
          return { path, mimeType: directoryType };
        case "refs":
          return refsFolder;
        case "commit": {
          const { hash } = await shownCommit(request.ref);
          const { version, ...entry } = await options.indexed.describe(hash);
          if (request.as !== undefined)
            return {
              ...entryBase,
              title: entry.title,
              mimeType: request.as === "text" ? "text/markdown" : "text/plain",
            };
          return { ...entry, ...(hash === request.ref && { version }), ...entryBase };
        }
        case "range":
        case "diff":
          await sides(at, request, signal);
          return { ...entryBase, mimeType: request.kind === "diff" ? "text/x-diff" : formType(request) };
        case "changes":
          if (repository.isBare) throw notFound(path);
          if (request.base !== undefined) await checkBase(request.base, { side });
          return {
            ...entryBase,
            title: request.path === undefined ? "Changes" : `Changes of ${request.path}`,
            mimeType: request.as === "patch" ? "text/x-diff" : formType({ asText: request.as === "text" }),
          };
        case "log":
        case "churn":
          if ("query" in entryBase || request.kind === "churn") return { ...entryBase, mimeType: formType(request) };
          return listed.find((entry) => entry.path === path) as Entry;
        case "tree":
        case "blob":
        case "blame": {
          const { entry } = await find(request);
          const isFolderRequested = request.kind === "tree" && !request.range;
          if (
            entry.kind === "folder"
              ? !isFolderRequested
              : entry.kind !== "file" && (request.range || request.kind === "blame")
          )
            throw notFound(path);
          const reveals = request.kind === "blob" ? undefined : { path: blobPath(request) };
          if (request.kind === "blame") return { ...entryBase, mimeType: json, reveals };
          const described = await blobs.describe(entryBase, entry, reveals);
          return request.kind === "tree" && request.path.length === 0 ? { ...described, meta: view } : described;
        }
        default:
          return listed.find((entry) => entry.path === path) as Entry;
      }
    },

    async children(at, page, signal) {
      const request = parseAddress(at);
      if (request.kind === "mount") return entriesPage([...listed, refsFolder], page);
      if (request.kind === "refs") return entriesPage(await refEntries(signal), page);
      if (request.kind === "tree") return folder(at, request, page);
      throw notFound(at.path);
    },
  };
  return {
    read: (at, signal) => withMeant(at, signal, () => reader.read(at, signal)),
    stat: (at, signal) => withMeant(at, signal, () => reader.stat(at, signal)),
    children: (at, page, signal) => withMeant(at, signal, () => reader.children(at, page, signal)),
  };
}

function formType({ asText }: { readonly asText: boolean }): string {
  return asText ? "text/markdown" : json;
}

function facts(value: object): Part {
  return { body: { text: JSON.stringify(value) }, mimeType: json };
}

/** Content addressed by full hashes never changes. */
function freshnessOf(...commits: readonly Commit[]): Pick<Part, "freshness"> {
  return commits.every(({ isPinned }) => isPinned) ? { freshness: pinnedFreshness } : {};
}
