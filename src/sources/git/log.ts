/** The history of a commit, page by page: a page costs what it holds, not what is before or behind it. */
import { invalid, quote, ResourceError } from "../../errors.ts";
import { checkPath } from "./addresses.ts";
import { type CommitFacts, fieldCount, shallowEnds, subjectFormat, toFacts } from "./commits.ts";
import type { Mirror } from "./mirror.ts";
import { GitFailure, type Program } from "./program.ts";
import type { Refs } from "./refs.ts";
import type { Repository } from "./repository.ts";

export interface LogPage {
  /** The commit that the history begins at; null where there is none yet. */
  readonly from: string | null;
  readonly commits: readonly object[];
  /** Whether the clone holds only the newest part of the history. */
  readonly shallow?: true;
  /** The query of the next page. */
  readonly next?: string;
}

export interface LogWorld {
  readonly program: Program;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly repository: Repository;
  readonly signal: AbortSignal;
}

interface Filter {
  readonly max: number;
  readonly sinceSeconds: number | undefined;
  readonly untilSeconds: number | undefined;
  readonly path: string | undefined;
  readonly author: string | undefined;
}

/**
 * Where a walk has come to. It begins at a commit, which never changes, so that the number of commits passed says it exactly; the
 * commits that were next say the same, and going on from them costs nothing.
 */
interface Position {
  readonly start: string;
  readonly passed: number;
  /** The oldest date that was passed. */
  readonly oldest: number;
  /** Whether the walk came through a merge: only then can a commit be reached twice. */
  readonly merged: boolean;
  /** Undefined where there are too many, or where they do not say it. */
  readonly ahead: readonly string[] | undefined;
}

interface Walked {
  readonly commits: readonly CommitFacts[];
  /** The newest date that was passed. */
  readonly newest: number;
  readonly position: Position | undefined;
}

const maxPerPage = 1000;
const perPage = 50;
/** So many commits are looked at for one page, where most of them are not wanted. */
const maxLookedAt = 20_000;
const maxAhead = 16;
const maxSubject = 1000;
const maxRecordBytes = 8 * 1024 * 1024;

export async function readLog(query: Readonly<Record<string, string>>, world: LogWorld): Promise<LogPage> {
  const filter = parseFilter(query);
  const { mirror, repository } = world;
  await mirror.ready();
  const from =
    query["after"] === undefined ? await beginning(query["ref"], world) : parsePosition(query["after"], mirror);
  if (!from) return { from: null, commits: [] };
  let walked = await walk(from, filter, world).catch((cause: unknown) => {
    // Whoever made the position up named commits that are not there.
    throw cause instanceof GitFailure && query["after"] !== undefined ? noPosition() : cause;
  });
  // Clocks that ran wrong may have led back to what was given before: then the walk is done again, from its beginning.
  if (from.ahead && from.passed > 0 && from.merged && walked.newest >= from.oldest)
    walked = await walk({ ...from, ahead: undefined }, filter, world);
  const ends = shallowEnds(repository);
  const { after: _after, ref: _ref, ...rest } = query;
  return {
    from: from.start,
    commits: walked.commits.map((commit) => toEntry(commit, ends)),
    ...(ends && { shallow: true as const }),
    ...(walked.position && {
      next: spellQuery({ ...rest, after: spellPosition(walked.position) }),
    }),
  };
}

async function beginning(ref: string | undefined, { refs }: LogWorld): Promise<Position | undefined> {
  try {
    const { hash } = await refs.resolve(ref ?? "HEAD");
    return { start: hash, passed: 0, oldest: Number.MAX_SAFE_INTEGER, merged: false, ahead: [hash] };
  } catch (cause) {
    // A repository without a commit has a history without one.
    if (ref === undefined && cause instanceof ResourceError && cause.kind === "not-found") return undefined;
    throw cause;
  }
}

async function walk(from: Position, filter: Filter, { program, mirror, signal }: LogWorld): Promise<Walked> {
  const gitDir = await mirror.ready();
  const { max, sinceSeconds, untilSeconds, path, author } = filter;
  const isPlain = author === undefined && untilSeconds === undefined;
  // With a path git passes over commits of which nothing is heard, so only their number says how far it came.
  const ahead = path === undefined ? from.ahead : undefined;
  const found: CommitFacts[] = [];
  let passed = 0;
  let oldest = from.oldest;
  let newest = Number.NEGATIVE_INFINITY;
  let merged = from.merged;
  let isMore = false;
  const next = new Set(ahead);
  const given = new Set<string>();
  const take = createTaker((commit) => {
    if (found.length === max || passed === maxLookedAt) {
      isMore = true;
      return false;
    }
    passed += 1;
    oldest = Math.min(oldest, commit.seconds);
    newest = Math.max(newest, commit.seconds);
    merged ||= commit.parents.length > 1;
    given.add(commit.hash);
    next.delete(commit.hash);
    for (const parent of commit.parents) if (!given.has(parent)) next.add(parent);
    if (isWanted(commit)) found.push(commit);
    return true;
  });
  function isWanted({ seconds, author: { name, email } }: CommitFacts): boolean {
    if (untilSeconds !== undefined && seconds > untilSeconds) return false;
    return author === undefined || `${name} <${email}>`.toLowerCase().includes(author);
  }
  const args = [
    "log",
    "-z",
    "--no-show-signature",
    "--no-decorate",
    "--no-notes",
    subjectFormat,
    ...(isPlain ? [`--max-count=${max + 1}`] : []),
    ...(sinceSeconds === undefined ? [] : [`--max-age=${sinceSeconds}`]),
    ...(ahead || from.passed === 0 ? [] : [`--skip=${from.passed}`]),
    ...(ahead ?? [from.start]),
    "--",
    ...(path === undefined ? [] : [path]),
  ];
  if (!ahead || ahead.length > 0)
    await program.run(args, { gitDir, signal, take, less: 'less, with "max" or "since"' });
  const isKnown = ahead !== undefined && next.size <= maxAhead;
  const position: Position = {
    start: from.start,
    passed: from.passed + passed,
    oldest,
    merged,
    ahead: isKnown ? [...next] : undefined,
  };
  return { commits: found, newest, position: isMore ? position : undefined };
}

/** Takes pieces of output and gives commits; it wants no more once `use` does not. */
function createTaker(use: (commit: CommitFacts) => boolean): (piece: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (;;) {
      let end = -1;
      let count = 0;
      const values: string[] = [];
      for (; count < fieldCount; count += 1) {
        const from = end + 1;
        end = rest.indexOf(0, from);
        if (end < 0) break;
        values.push(rest.toString("utf8", from, end));
      }
      if (count < fieldCount) break;
      rest = rest.subarray(end + 1);
      if (!use(toFacts(values))) return false;
    }
    if (rest.length > maxRecordBytes)
      throw new ResourceError("too-large", "a commit of this history has a subject that is too long to be read");
    return true;
  };
}

function toEntry(
  { hash, parents, author, committer, text }: CommitFacts,
  ends: ReadonlySet<string> | undefined,
): object {
  return {
    hash,
    parents,
    author,
    ...(committer.date !== author.date && { committed: committer.date }),
    subject: text.length > maxSubject ? `${text.slice(0, maxSubject)}…` : text,
    ...(ends?.has(hash) && { boundary: true }),
  };
}

function parseFilter({ max, since, until, path, author }: Readonly<Record<string, string>>): Filter {
  if (max !== undefined && (!/^[1-9]\d{0,5}$/.test(max) || Number(max) > maxPerPage))
    throw invalid(`"max" takes a number from 1 to ${maxPerPage}, and ${quote(max, 40)} is none`);
  if (path !== undefined) checkPath(path);
  return {
    max: max === undefined ? perPage : Number(max),
    sinceSeconds: since === undefined ? undefined : parseDate("since", since, false),
    untilSeconds: until === undefined ? undefined : parseDate("until", until, true),
    path,
    author: author === undefined || author === "" ? undefined : author.toLowerCase(),
  };
}

/** A day without a time begins at midnight UTC, and as an end goes on until the next. */
function parseDate(name: string, value: string, isEnd: boolean): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/.test(value);
  const ms = isDay || isMoment ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw invalid(
      `${quote(name)} takes a day or a moment, as in "2026-01-31" or "2026-01-31T12:00:00Z"; ${quote(value, 40)} is neither`,
    );
  return Math.max(0, Math.floor(ms / 1000) + (isDay && isEnd ? 86_399 : 0));
}

function spellQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

function spellPosition({ start, passed, oldest, merged, ahead }: Position): string {
  return [start, passed, oldest, merged ? "m" : "l", ahead?.join("_") ?? "-"].join(".");
}

function parsePosition(text: string, { hashLength }: Mirror): Position {
  const hash = `[0-9a-f]{${hashLength}}`;
  const found = new RegExp(
    `^(${hash})\\.(\\d{1,12})\\.(-?\\d{1,16})\\.([lm])\\.(-|(?:${hash}(?:_${hash}){0,${maxAhead - 1}})?)$`,
  ).exec(text);
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
  return invalid('"after" takes what the page before gave as "next", and this is something else');
}
