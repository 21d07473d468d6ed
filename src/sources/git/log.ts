/** The history of a commit, page by page. The cost of a page does not depend on its position. */
import { invalid, notFound, ResourceError } from "../../errors.ts";
import { cutText } from "../../lib/cut-text.ts";
import type { TextSeal } from "../../lib/sealed-text.ts";
import {
  changedFiles,
  type CommitFacts,
  fieldCount,
  hiddenMessage,
  messageFormat,
  shallowEnds,
  subjectFormat,
  subjectOf,
  toFacts,
} from "../../backends/git/commits.ts";
import type { HistoryRules } from "../../backends/git/history-rules.ts";
import type { Mirror } from "../../backends/git/mirror.ts";
import type { Objects } from "../../backends/git/objects.ts";
import { GitFailure, type GitProgram } from "../../backends/git/program.ts";
import type { Refs } from "../../backends/git/refs.ts";
import type { GitRepository } from "../../backends/git/repository.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";
import type { Runtime } from "../../source.ts";
import { isPlain, isWanted, type LogFilter, parseLogFilter } from "./log-filter.ts";
import { createPickaxe, type Pickaxe } from "./pickaxe.ts";

interface LogPage {
  /** The commit at which the history starts; null if there is none yet. */
  readonly from: string | null;
  readonly commits: readonly LogEntry[];
  /** The earlier name of the file, with which the next page begins. */
  readonly renamed?: Renamed;
  /** What the page does not tell, and why. */
  readonly notes?: readonly string[];
  /** Whether the clone contains only the newest part of the history. */
  readonly shallow?: true;
  /** The query of the next page. */
  readonly next?: string;
}

interface LogEntry {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly author: CommitFacts["author"];
  readonly subject: string;
}

interface Renamed {
  readonly from: string;
  /** The commit that renamed it. */
  readonly commit: string;
}

export interface LogContext {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly rules: HistoryRules;
  readonly contents: Objects;
  readonly redact: Runtime["redact"] | undefined;
  readonly repository: GitRepository;
  readonly commits: ShownCommits;
  /** Whether a path, which may be a file or a folder, is served at a commit. */
  servesPath(path: string, commit: string): Promise<boolean>;
  readonly signal: AbortSignal;
  readonly isPartial: boolean;
  /** Encrypts positions for a caller who may not see every commit: they hold hashes and numbers of hidden ones. */
  readonly seal: TextSeal;
}

/**
 * The position of a walk. The start commit is immutable, so the number of passed commits identifies the position exactly; the next commits
 * identify it too, and continuing from them is cheap.
 */
interface Position {
  readonly start: string;
  readonly passed: number;
  /** The oldest date passed. */
  readonly oldest: number;
  /** Whether the walk passed a merge: only then can a commit be reached twice. */
  readonly merged: boolean;
  /** Undefined if there are too many, or if they do not identify the position. */
  readonly ahead: readonly string[] | undefined;
}

/** A batch of commits from git. */
interface Stretch {
  readonly commits: readonly CommitFacts[];
  /** Whether there may be more after it. */
  readonly isMore: boolean;
}

interface Walked {
  /** With their subjects instead of their messages. */
  readonly commits: readonly CommitFacts[];
  /** Start of the next page; undefined at the end. */
  readonly position: Position | undefined;
  readonly notes?: readonly string[];
}

/** Limit of commits examined for one page if few of them match. */
const maxExamined = 20_000;
const maxAhead = 16;
/** Commits that added a file and that are examined for its earlier name. */
const maxAdditions = 20;
const maxSubject = 1000;
const maxRecordBytes = 8 * 1024 * 1024;
/** Limits of the messages in one batch, and of those examined for one page, in characters. */
const maxBatchChars = 16 * 1024 * 1024;
const maxExaminedChars = 256 * 1024 * 1024;
/** Commits whose contents are searched at once. */
const searchedAtOnce = 32;

export async function readLog(query: Readonly<Record<string, string>>, context: LogContext): Promise<LogPage> {
  const filter = parseLogFilter(query);
  const { mirror, repository, commits } = context;
  await mirror.ready();
  const from =
    query["after"] === undefined ? await beginning(query["ref"], context) : parsePosition(query["after"], context);
  if (!from) return { from: null, commits: [] };
  const renamed = filter.follow ? await findRename(from.start, filter.path!, context) : undefined;
  const walked = await walk(from, filter, context, renamed?.commit).catch((cause: unknown) => {
    // A forged position names commits that do not exist.
    throw cause instanceof GitFailure && query["after"] !== undefined ? noPosition() : cause;
  });
  const ends = shallowEnds(repository);
  const parents = await Promise.all(walked.commits.map((commit) => commits.nearestOf(commit.parents)));
  const messages = await Promise.all(walked.commits.map(({ hash }) => commits.showsMessage(hash)));
  const { after: _after, ref: _ref, ...rest } = query;
  return {
    from: (await commits.nearest(from.start)) ?? null,
    commits: walked.commits.map((commit, index) =>
      toEntry(messages[index] ? commit : { ...commit, text: hiddenMessage }, parents[index] ?? [], ends),
    ),
    ...(ends && { shallow: true as const }),
    ...(walked.notes && { notes: walked.notes }),
    ...(walked.position && {
      next: formatQuery({ ...rest, after: formatPosition(walked.position, context) }),
    }),
    ...(renamed &&
      !walked.position && {
        renamed: { from: renamed.from, commit: renamed.commit },
        next: formatQuery({ ...rest, path: renamed.from, ref: renamed.before }),
      }),
  };
}

async function beginning(ref: string | undefined, context: LogContext): Promise<Position | undefined> {
  const start = await startOf(ref, context);
  return start === undefined
    ? undefined
    : { start, passed: 0, oldest: Number.MAX_SAFE_INTEGER, merged: false, ahead: [start] };
}

/** The commit at which a history starts; undefined if there is none yet. */
export async function startOf(ref: string | undefined, { refs, commits }: LogContext): Promise<string | undefined> {
  try {
    const { hash, byHash, tip = hash } = await refs.resolve(ref ?? "HEAD");
    if (byHash !== undefined && !(await commits.isShown(byHash))) throw notFound(ref ?? "HEAD");
    return tip;
  } catch (cause) {
    // A repository without commits has an empty history.
    if (ref === undefined && cause instanceof ResourceError && cause.kind === "not-found") return undefined;
    throw cause;
  }
}

/** The earlier name of a file, in the newest commit that renamed another file to `path`, and the shown commit before that one. */
async function findRename(
  start: string,
  path: string,
  context: LogContext,
): Promise<(Renamed & { readonly before: string }) | undefined> {
  const { program, mirror, commits, signal } = context;
  const gitDir = await mirror.ready();
  const args = [
    "log",
    "--format=%H",
    "--no-renames",
    "--diff-filter=A",
    `--max-count=${maxAdditions}`,
    start,
    "--",
    path,
  ];
  const { bytes } = await program.run(args, { gitDir, signal, less: 'less, without "follow"' });
  for (const commit of bytes.toString("latin1").split("\n").filter(Boolean)) {
    const [parent] = (await commits.linksOf(commit))?.parents ?? [];
    const before = parent === undefined ? undefined : await commits.nearest(parent);
    if (parent === undefined || before === undefined || !(await commits.isShown(commit))) continue;
    const { files } = await changedFiles(parent, commit, { ...context, renames: true });
    const from = files.find((file) => file.path === path)?.from;
    if (from !== undefined) return { from, commit, before };
  }
  return undefined;
}

/** One page of matching, shown commits up to `last`, read in batches that grow while few commits match. */
async function walk(start: Position, filter: LogFilter, context: LogContext, last?: string): Promise<Walked> {
  const { max, path, pickaxe: text } = filter;
  const { commits: shown, isPartial, redact } = context;
  const page: CommitFacts[] = [];
  if (path !== undefined && !(await context.servesPath(path, start.start)))
    return { commits: page, position: undefined };
  const pickaxe = text === undefined ? undefined : createPickaxe({ ...context, text, path });

  /** Undefined if the commit must be left to the next page. */
  async function isGiven(commit: CommitFacts, isFirst: boolean): Promise<boolean | undefined> {
    const message = filter.grep === undefined || (await shown.showsMessage(commit.hash)) ? commit.text : hiddenMessage;
    if (!isWanted(commit, message, filter)) return false;
    // A message must not be found by a secret that is masked in it.
    if (filter.grep !== undefined && redact && !isWanted(commit, redact(message), filter)) return false;
    const isThere = path === undefined ? shown.isShown(commit.hash) : shown.touches(commit.hash, path);
    return (await isThere) && (!pickaxe || pickaxe.matches(commit, isFirst));
  }

  let position = start;
  let looked = 0;
  let chars = 0;
  for (let length = max + 1; ; length = Math.min(4 * length, maxExamined - looked)) {
    const batch = await stretch(position, filter, length, context);
    const end = last === undefined ? -1 : batch.commits.findIndex(({ hash }) => hash === last);
    const { commits, isMore } = end < 0 ? batch : { commits: batch.commits.slice(0, end + 1), isMore: false };
    for (const { hash, tree, parents } of commits) shown.note(hash, { tree, parents });
    const step = pickaxe ? searchedAtOnce : commits.length;
    for (let from = 0; from < commits.length; from += step) {
      const given = await Promise.all(
        commits.slice(from, from + step).map((commit, offset) => isGiven(commit, looked + from + offset === 0)),
      );
      for (const [offset, is] of given.entries()) {
        const next = () => advance(position, commits.slice(0, from + offset), filter);
        // A caller who may not see every commit must not learn from a next page that there is one.
        if (is === undefined || (page.length === max && (is || !(isPlain(filter) || isPartial))))
          return { commits: page, position: next(), ...notesOf(pickaxe) };
        const commit = commits[from + offset]!;
        if (is) page.push({ ...commit, text: cutText(subjectOf(commit.text), maxSubject) });
      }
      const isLast = !isMore && from + step >= commits.length;
      if (pickaxe?.isSpent && !isLast)
        return {
          commits: page,
          position: advance(position, commits.slice(0, from + step), filter),
          ...notesOf(pickaxe),
        };
    }
    position = advance(position, commits, filter);
    looked += commits.length;
    chars += charsOf(commits);
    if (!isMore) return { commits: page, position: undefined, ...notesOf(pickaxe) };
    if (looked >= maxExamined || chars >= maxExaminedChars) return { commits: page, position, ...notesOf(pickaxe) };
  }
}

function charsOf(commits: readonly CommitFacts[]): number {
  return commits.reduce((sum, { text }) => sum + text.length, 0);
}

function notesOf(pickaxe: Pickaxe | undefined): Pick<Walked, "notes"> {
  const notes = pickaxe?.notes() ?? [];
  return notes.length > 0 ? { notes } : {};
}

/** The next commits from a position on, until this many match. */
async function stretch(from: Position, filter: LogFilter, length: number, context: LogContext): Promise<Stretch> {
  const found = await runLog(from, filter, length, context);
  // Wrong clocks may have led back to commits that were already returned: then restart from the beginning of the walk.
  const isDoubtful = from.ahead !== undefined && from.passed > 0 && from.merged;
  if (isDoubtful && found.commits.some(({ seconds }) => seconds >= from.oldest))
    return runLog({ ...from, ahead: undefined }, filter, length, context);
  return found;
}

async function runLog(
  from: Position,
  filter: LogFilter,
  length: number,
  { program, mirror, signal, isPartial }: LogContext,
): Promise<Stretch> {
  const gitDir = await mirror.ready();
  const { sinceSeconds, path } = filter;
  // With a path, git skips commits silently, so only the count identifies the position.
  const ahead = path === undefined ? from.ahead : undefined;
  if (ahead?.length === 0) return { commits: [], isMore: false };
  const commits: CommitFacts[] = [];
  let wanted = 0;
  let chars = 0;
  let isMore = false;
  // The length of a batch must not tell a caller whether a hidden commit matches.
  const isCounted = isPlain(filter) || isPartial;
  const take = createTaker((commit) => {
    // If not all match, the last one only shows that there are more.
    isMore = isCounted ? commits.length + 1 === length : wanted + 1 === length;
    commits.push(commit);
    if (isWanted(commit, commit.text, filter)) wanted += 1;
    chars += commit.text.length;
    isMore ||= commits.length === maxExamined || chars >= maxBatchChars;
    return !isMore;
  });
  const args = [
    "log",
    "-z",
    "--no-show-signature",
    "--no-decorate",
    "--no-notes",
    filter.grep === undefined ? subjectFormat : messageFormat,
    ...(isCounted ? [`--max-count=${length}`] : []),
    ...(sinceSeconds === undefined ? [] : [`--max-age=${sinceSeconds}`]),
    ...(ahead || from.passed === 0 ? [] : [`--skip=${from.passed}`]),
    ...(ahead ?? [from.start]),
    "--",
    ...(path === undefined ? [] : [path]),
  ];
  await program.run(args, { gitDir, signal, take, less: 'less, with "max" or "since"' });
  return { commits, isMore };
}

/** The position after these commits. */
function advance(from: Position, commits: readonly CommitFacts[], { path }: LogFilter): Position {
  let { oldest, merged } = from;
  const next = new Set(from.ahead);
  const given = new Set<string>();
  for (const { hash, parents, seconds } of commits) {
    oldest = Math.min(oldest, seconds);
    merged ||= parents.length > 1;
    given.add(hash);
    next.delete(hash);
    for (const parent of parents) if (!given.has(parent)) next.add(parent);
  }
  const isKnown = path === undefined && from.ahead !== undefined && next.size <= maxAhead;
  return {
    start: from.start,
    passed: from.passed + commits.length,
    oldest,
    merged,
    ahead: isKnown ? [...next] : undefined,
  };
}

/** Parses chunks of output into commits; returns false once `use` does. */
function createTaker(use: (commit: CommitFacts) => boolean): (piece: Buffer) => boolean {
  /** The output since the last complete commit, and the number of fields that end in it. */
  let pieces: Buffer[] = [];
  let length = 0;
  let ends = 0;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    for (let at = piece.indexOf(0); at >= 0; at = piece.indexOf(0, at + 1)) ends += 1;
    if (ends >= fieldCount) {
      let rest = Buffer.concat(pieces, length);
      for (; ends >= fieldCount; ends -= fieldCount) {
        let from = 0;
        const values = Array.from({ length: fieldCount }, () => {
          const end = rest.indexOf(0, from);
          const value = rest.toString("utf8", from, end);
          from = end + 1;
          return value;
        });
        rest = rest.subarray(from);
        if (!use(toFacts(values))) return false;
      }
      pieces = [rest];
      length = rest.length;
    }
    if (length > maxRecordBytes)
      throw new ResourceError("too-large", "a commit of this history has a message that is too long");
    return true;
  };
}

function toEntry(
  { hash, author, committer, text: subject }: CommitFacts,
  parents: readonly string[],
  ends: ReadonlySet<string> | undefined,
): LogEntry {
  return {
    hash,
    parents,
    author,
    ...(committer.date !== author.date && { committed: committer.date }),
    subject,
    ...(ends?.has(hash) && { boundary: true }),
  };
}

function formatQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

function formatPosition(position: Position, { isPartial, seal }: LogContext): string {
  const { start, passed, oldest, merged, ahead } = position;
  const text = [start, passed, oldest, merged ? "m" : "l", ahead?.join("_") ?? "-"].join(".");
  return isPartial ? (seal.seal(text, "log") ?? "") : text;
}

function parsePosition(given: string, { mirror: { hashLength }, isPartial, seal }: LogContext): Position {
  const text = isPartial ? seal.open(given, "log") : given;
  const hash = `[0-9a-f]{${hashLength}}`;
  const found = new RegExp(
    `^(${hash})\\.(\\d{1,12})\\.(-?\\d{1,16})\\.([lm])\\.(-|(?:${hash}(?:_${hash}){0,${maxAhead - 1}})?)$`,
  ).exec(text ?? "");
  if (!found) throw noPosition();
  const [, start = "", passed = "", oldest = "", walked = "", ahead = ""] = found;
  return {
    start,
    passed: Number(passed),
    oldest: Number(oldest),
    merged: walked === "m",
    ahead: ahead === "-" ? undefined : ahead === "" ? [] : ahead.split("_"),
  };
}

function noPosition(): ResourceError {
  return invalid('"after" must be the value of "next" from the previous page');
}
