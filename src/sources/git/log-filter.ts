/** The query of a log: which commits it contains. */
import { invalid, quote } from "../../errors.ts";
import type { CommitFacts } from "../../backends/git/commits.ts";
import { checkPath } from "./addresses.ts";

export interface LogFilter {
  readonly max: number;
  readonly sinceSeconds: number | undefined;
  readonly untilSeconds: number | undefined;
  readonly path: string | undefined;
  /** A part of the name or mail address, folded. */
  readonly author: string | undefined;
  /** A part of the message, folded. */
  readonly grep: string | undefined;
  /** A text whose number of occurrences the commit changes in a file. */
  readonly pickaxe: string | undefined;
  /** Whether the log continues with the earlier name of a renamed file. */
  readonly follow: boolean;
}

const maxPerPage = 1000;
const perPage = 50;
const maxTextLength = 1000;

export function parseLogFilter(query: Readonly<Record<string, string>>): LogFilter {
  const { path, author, grep, pickaxe, follow } = query;
  for (const [name, text] of Object.entries({ grep, pickaxe }))
    if (text !== undefined && text.length > maxTextLength)
      throw invalid(`${quote(name)} must have at most ${maxTextLength} characters`);
  if (follow !== undefined && follow !== "true") throw invalid(`"follow" must be "true", not ${quote(follow, 40)}`);
  if (follow !== undefined && path === undefined) throw invalid('"follow" needs "path", the path of a file');
  return {
    ...parseScope(query),
    max: parseMax(query["max"], perPage, maxPerPage),
    author: author === undefined || author === "" ? undefined : fold(author),
    grep: grep === undefined || grep === "" ? undefined : fold(grep),
    pickaxe: pickaxe === "" ? undefined : pickaxe,
    follow: follow !== undefined,
  };
}

export function parseScope({ since, until, path }: Readonly<Record<string, string>>) {
  if (path !== undefined) checkPath(path);
  return {
    sinceSeconds: since === undefined ? undefined : parseDate("since", since, false),
    untilSeconds: until === undefined ? undefined : parseDate("until", until, true),
    path,
  };
}

export function parseMax(max: string | undefined, usual: number, largest: number): number {
  if (max !== undefined && (!/^[1-9]\d{0,5}$/.test(max) || Number(max) > largest))
    throw invalid(`"max" must be a number from 1 to ${largest}, not ${quote(max, 40)}`);
  return max === undefined ? usual : Number(max);
}

/** Whether all commits match, so that git can count them. */
export function isPlain({ author, untilSeconds, grep, pickaxe }: LogFilter): boolean {
  return author === undefined && untilSeconds === undefined && grep === undefined && pickaxe === undefined;
}

/** Whether author, date and the given message match. */
export function isWanted(
  { seconds, author: { name, email } }: CommitFacts,
  message: string,
  { untilSeconds, author, grep }: LogFilter,
): boolean {
  if (untilSeconds !== undefined && seconds > untilSeconds) return false;
  if (grep !== undefined && !fold(message).includes(grep)) return false;
  return author === undefined || fold(`${name} <${email}>`).includes(author);
}

/** Without the differences of case and width. */
function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** A day without a time starts at midnight UTC, and as an end includes the whole day. */
function parseDate(name: string, value: string, isEnd: boolean): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/.test(value);
  const ms = isDay || isMoment ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw invalid(
      `${quote(name)} must be a date or a time, as in "2026-01-31" or "2026-01-31T12:00:00Z", not ${quote(value, 40)}`,
    );
  return Math.max(0, Math.floor(ms / 1000) + (isDay && isEnd ? 86_399 : 0));
}
