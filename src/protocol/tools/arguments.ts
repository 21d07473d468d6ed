/** Validates arguments of tools, with errors that a model can act on. */
import { invalid, quote, ResourceError } from "../../errors.ts";
import { nearest } from "../../lib/nearest.ts";
import { member, type RequestParams } from "../message.ts";

/** Refuses unknown arguments, so that a misspelled one does not go unnoticed. */
export function checkNames(args: RequestParams, tool: string, known: readonly string[]): void {
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const suggestion = nearest(unknown, known);
  const hint = suggestion ? `did you mean "${suggestion}"?` : `it takes ${known.map((name) => `"${name}"`).join(", ")}`;
  throw invalid(`${tool} has no argument ${quote(unknown, 40)}; ${hint}`);
}

/** Reads several arguments; an error reports the problems of all of them. */
export function readArguments<Readers extends Readonly<Record<string, () => unknown>>>(
  readers: Readers,
): { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, read] of Object.entries(readers))
    try {
      values[name] = read();
    } catch (cause) {
      if (!(cause instanceof ResourceError && cause.kind === "invalid")) throw cause;
      problems.push(cause.message);
    }
  if (problems.length > 0) throw invalid(problems.join("; "));
  return values as { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> };
}

/** Null counts as absent, because models write it. */
function given(args: RequestParams, name: string): unknown {
  return member(args, name) ?? undefined;
}

export function textArgument(args: RequestParams, name: string, maxLength: number): string | undefined {
  const value = given(args, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(`"${name}" must be a string`);
  if (value.length > maxLength) throw invalid(`"${name}" may have at most ${maxLength} characters`);
  if (value.trim() === "") throw invalid(`"${name}" is empty`);
  return value;
}

export function neededText(args: RequestParams, name: string, maxLength: number): string {
  const value = textArgument(args, name, maxLength);
  if (value === undefined) throw invalid(`"${name}" is missing`);
  return value;
}

export function countArgument(
  args: RequestParams,
  name: string,
  { initial, most }: { readonly initial: number; readonly most: number },
): number {
  const value = given(args, name);
  if (value === undefined) return initial;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most)
    throw invalid(`"${name}" must be a whole number from 1 to ${most}`);
  return value;
}

/** `last` is Infinity for an open range. */
export interface LineRange {
  readonly unit: "lines" | "bytes";
  readonly first: number;
  readonly last: number;
}

export function rangeArgument(args: RequestParams): LineRange | undefined {
  const lines = textArgument(args, "lines", 40);
  const bytes = textArgument(args, "bytes", 40);
  if (lines !== undefined && bytes !== undefined) throw invalid('use "lines" or "bytes", not both');
  if (lines !== undefined) return parseLineRange("lines", lines);
  return bytes === undefined ? undefined : parseLineRange("bytes", bytes);
}

/** Lines are counted from 1, bytes from 0; both ends are included. */
export function parseLineRange(unit: LineRange["unit"], text: string): LineRange {
  const found = /^(\d{1,15})(?:\s{0,4}(-)\s{0,4}(\d{0,15}))?$/.exec(text.trim());
  const [, begin = "", dash = "", end = ""] = found ?? [];
  const first = Number(begin);
  const last = end !== "" ? Number(end) : dash === "" ? first : Infinity;
  const isWrong = !found || first < (unit === "lines" ? 1 : 0) || last < first;
  if (isWrong) {
    const example = unit === "lines" ? '"10-40", counted from 1' : '"0-1023", counted from 0';
    throw invalid(`"${unit}" must be a range, as in ${example}; not ${quote(text, 40)}`);
  }
  return { unit, first, last };
}

export function formatLineRange({ first, last }: LineRange): string {
  return `${first}-${last === Infinity ? "" : last}`;
}

/** Default: false. */
export function flagArgument(args: RequestParams, name: string): boolean {
  const value = member(args, name) ?? false;
  if (typeof value !== "boolean") throw invalid(`"${name}" must be true or false`);
  return value;
}
