/** Reads, describes and lists the addresses of a repository. */
import { notFound, quote, ResourceError } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { directoryType, type Page } from "../../resources.ts";
import { type Address, type Entry, type ListRequest, type Part, pathOf, segmentsOf } from "../../source.ts";
import { type GitRequest, blobPath, type GitFileRequest, parseAddress } from "./addresses.ts";
import { readBlame } from "./blame.ts";
import { type Blobs, pinnedFreshness } from "./blobs.ts";
import { changedFiles, type CommitFacts, readCommits, shallowEnds } from "./commits.ts";
import { readDiff } from "./diff.ts";
import { readBranches, readTags } from "./listings.ts";
import { readLog } from "./log.ts";
import type { HistoryRules } from "./history-rules.ts";
import type { Mirror } from "./mirror.ts";
import { entriesPage } from "./page.ts";
import type { GitProgram } from "./program.ts";
import { type Commit, listedNames, type Refs } from "./refs.ts";
import type { GitRepository } from "./repository.ts";
import type { ServedTrees } from "./served-trees.ts";
import type { ShownCommits } from "./shown-commits.ts";
import { readCheckoutStatus } from "./status.ts";
import { listed } from "./templates.ts";
import type { RepositoryWatcher } from "./watch.ts";

export interface GitReader {
  read(at: Address, signal: AbortSignal): Promise<Part>;
  stat(at: Address): Promise<Entry>;
  children(at: Address, ask: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
}

export interface GitReaderOptions {
  readonly repository: GitRepository;
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly rules: HistoryRules;
  readonly commits: ShownCommits;
  readonly trees: ServedTrees;
  readonly blobs: Blobs;
  readonly watching: RepositoryWatcher;
  readonly maxBytes: number;
  readonly redact?: ((text: string) => string) | undefined;
}

const json = "application/json";

const refsFolder: Entry = { path: "tree", mimeType: directoryType };

/** The empty tree, which every repository has. */
const emptyTrees = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;
const maxFiles = 1000;
const maxMessage = 100_000;

export function createGitReader(options: GitReaderOptions): GitReader {
  const { repository, mirror, refs, commits, trees, blobs, watching } = options;
  const world = (signal: AbortSignal) => ({ ...options, servesPath: trees.serves, signal });

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

  /** A commit, or the empty tree. */
  async function side(spelled: string): Promise<Commit> {
    await mirror.ready();
    if (spelled === emptyTrees[mirror.hashLength]) return { hash: spelled, isPinned: true };
    const commit = await refs.resolve(spelled);
    if (commit.byHash !== undefined && !(await commits.isShown(commit.byHash))) throw notFound(spelled);
    return commit;
  }

  async function sides(
    { path }: Address,
    { base, head }: GitRequest & { readonly kind: "diff" },
  ): Promise<[Commit, Commit]> {
    const found = await Promise.all([side(base), side(head)]);
    watching.noteDiff(path, base, head);
    return found;
  }

  async function servesEither(path: string, ...both: readonly Commit[]): Promise<boolean> {
    for (const { hash } of both)
      if (hash !== emptyTrees[mirror.hashLength] && (await trees.serves(path, hash))) return true;
    return false;
  }

  async function commitFacts(hash: string, signal: AbortSignal): Promise<object> {
    const [commit] = await readCommits([hash], world(signal));
    const { text, seconds: _seconds, tree: _tree, ...told } = commit as CommitFacts;
    const message = text.trimEnd();
    const parents = await commits.nearestOf(told.parents);
    const said = {
      ...told,
      parents,
      message: message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message,
    };
    if (shallowEnds(repository)?.has(hash)) return { ...said, boundary: true };
    const base = told.parents[0] ?? emptyTrees[mirror.hashLength];
    const { files, leftOut, isCut } = await changedFiles(base, hash, { ...world(signal), renames: true });
    return {
      ...said,
      files: files.slice(0, maxFiles).map(({ isFolder: _isFolder, isHalf: _isHalf, ...file }) => file),
      ...(leftOut > 0 && { leftOut }),
      ...((isCut || files.length > maxFiles) && { truncated: true }),
    };
  }

  async function readFile(at: Address, ask: GitFileRequest, signal: AbortSignal): Promise<Part> {
    const commit = await refs.resolve(ask.ref);
    const found = trees.at(commit, ask.path);
    const entry = found instanceof Promise ? await found : found;
    if (entry.kind === "folder") throw ask.kind === "tree" && !ask.range ? directory(at.path) : notFound(at.path);
    const file = { at, name: ask.path.at(-1) ?? "", commit, entry };
    if (ask.kind === "blob") return blobs.read({ ...file, range: ask.range }, signal);
    const reveals = { path: blobPath(ask) };
    if (ask.kind === "tree") return { ...(await blobs.read({ ...file, range: ask.range }, signal)), reveals };
    if (entry.kind !== "file") throw notFound(at.path);
    const content = masked(await blobs.read({ ...file, range: undefined }, signal));
    const path = ask.path.join("/");
    const shown = (await commits.nearest(commit.hash)) ?? commit.hash;
    const part = await readBlame({ ...world(signal), commit: shown, path, content, range: ask.range });
    return { ...part, ...freshnessOf(commit), reveals };
  }

  function masked(part: Part): Part {
    return options.redact && "text" in part.body ? { ...part, body: { text: options.redact(part.body.text) } } : part;
  }

  async function folder(at: Address, ask: GitFileRequest, { cursor, limit }: ListRequest): Promise<Page<Entry>> {
    if (ask.range) throw notFound(at.path);
    const { names, entries } = await trees.folder(await refs.resolve(ask.ref), ask.path);
    const last = cursor === undefined ? "" : (segmentsOf(cursor).at(-1) ?? "");
    const left = names.filter((name) => name > last);
    const page = left.slice(0, Math.max(1, limit));
    const items = await Promise.all(
      page.map((name) =>
        blobs.describe({ path: pathOf(["tree", ask.ref, ...ask.path, name]) }, entries.get(name)!, {
          path: blobPath({ ref: ask.ref, path: [...ask.path, name] }),
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
      .map((name) => ({ path: pathOf(["tree", name]), name, mimeType: directoryType }))
      .sort((a, b) => compareAddresses(a.path, b.path));
  }

  return {
    async read(at, signal) {
      const ask = parseAddress(at);
      switch (ask.kind) {
        case "mount":
        case "refs":
          throw directory(at.path);
        case "status":
          return facts(await readCheckoutStatus(world(signal)));
        case "branches":
          return facts(await readBranches(world(signal)));
        case "tags":
          return facts(await readTags(world(signal)));
        case "log":
          return facts(await readLog(ask.query, world(signal)));
        case "commit": {
          const commit = await shownCommit(ask.ref);
          return { ...facts(await commitFacts(commit.hash, signal)), ...freshnessOf(commit) };
        }
        case "diff": {
          const [base, head] = await sides(at, ask);
          const emptyTree = emptyTrees[mirror.hashLength];
          const isServed = ask.path === undefined || (await servesEither(ask.path, base, head));
          // Hidden paths count as unchanged.
          const to = isServed ? head : base;
          const part = await readDiff(base.hash, to.hash, { ...world(signal), path: ask.path, emptyTree });
          return { ...part, ...freshnessOf(base, head) };
        }
        default:
          return readFile(at, ask, signal);
      }
    },

    async stat(at) {
      const ask = parseAddress(at);
      const { path, query } = at;
      const asked = { path, ...(query && Object.keys(query).length > 0 && { query }) };
      switch (ask.kind) {
        case "mount":
          return { path, mimeType: directoryType };
        case "refs":
          return refsFolder;
        case "commit":
          await shownCommit(ask.ref);
          // Without a version: the content also depends on the folder rules.
          return { ...asked, mimeType: json };
        case "diff":
          await sides(at, ask);
          return { ...asked, mimeType: "text/x-diff" };
        case "tree":
        case "blob":
        case "blame": {
          const { entry } = await find(ask);
          const isFolderAsked = ask.kind === "tree" && !ask.range;
          if (entry.kind === "folder" ? !isFolderAsked : entry.kind !== "file" && (ask.range || ask.kind === "blame"))
            throw notFound(path);
          const reveals = ask.kind === "blob" ? undefined : { path: blobPath(ask) };
          if (ask.kind === "blame") return { ...asked, mimeType: json, ...(reveals && { reveals }) };
          return blobs.describe(asked, entry, reveals);
        }
        default:
          return "query" in asked
            ? { ...asked, mimeType: json }
            : (listed.find((entry) => entry.path === path) as Entry);
      }
    },

    async children(at, page, signal) {
      const ask = parseAddress(at);
      if (ask.kind === "mount") return entriesPage([...listed, refsFolder], page);
      if (ask.kind === "refs") return entriesPage(await refEntries(signal), page);
      if (ask.kind === "tree") return folder(at, ask, page);
      throw notFound(at.path);
    },
  };
}

function facts(value: object): Part {
  return { body: { text: JSON.stringify(value) }, mimeType: json };
}

/** Content addressed by full hashes never changes. */
function freshnessOf(...commits: readonly Commit[]): Pick<Part, "freshness"> {
  return commits.every(({ isPinned }) => isPinned) ? { freshness: pinnedFreshness } : {};
}

function directory(path: string): ResourceError {
  return new ResourceError("directory", `${quote(path)} is a directory; list its children instead`);
}
