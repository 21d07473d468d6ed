/** Turns the filters of a query into an SQL condition; values are always passed as parameters. */
import { createGlob, GlobError, isGlob } from "../lib/glob.ts";
import { invalid, quote } from "../errors.ts";
import { keysBelow, toKey } from "./address-key.ts";
import { foldText } from "./fold.ts";
import { toHiragana } from "./kana-words.ts";
import type { Filter, ParsedQuery } from "./query.ts";
import type { StoreQuery } from "./store.ts";

export interface SqlCondition {
  /** "" if every document matches. */
  readonly sql: string;
  readonly values: readonly (string | number | Uint8Array)[];
  /** Implements `keeps(key, mime)` in the SQL. */
  keeps(path: string, mimeType: string): boolean;
}

/** The condition on documents, named `d`, and their mounts, named `m`. */
export function conditionOf(
  { filters, after, priority }: Pick<ParsedQuery, "filters" | "after" | "priority">,
  { mounts, within }: Pick<StoreQuery, "mounts" | "within">,
): SqlCondition {
  const parts: string[] = [];
  const values: (string | number | Uint8Array)[] = [];
  const add = (sql: string, ...parameters: (string | number | Uint8Array)[]): void => {
    parts.push(sql);
    values.push(...parameters);
  };
  const ofKind = (name: Filter["name"]): Filter[] => filters.filter((filter) => filter.name === name);
  if (mounts) add("m.name in (select value from json_each(?))", JSON.stringify(mounts));
  if (within !== undefined && within !== "")
    add("(d.key = ? or (d.key >= ? and d.key < ?))", toKey(within), ...keysBelow(within));
  if (after !== undefined) add("d.modified >= ?", after);
  if (priority !== undefined) add("d.priority >= ?", priority);
  for (const [name, column] of [
    ["source", "m.name"],
    ["lang", "d.lang"],
  ] as const)
    for (const isNot of [false, true]) {
      const named = ofKind(name).filter((filter) => filter.isNot === isNot);
      if (named.length > 0)
        add(
          `${column} ${isNot ? "not in" : "in"} (select value from json_each(?))`,
          JSON.stringify(named.map(({ value }) => (name === "lang" ? value.toLowerCase() : value))),
        );
    }
  const paths = ofKind("path").map(({ value, isNot }) => ({ isNot, matches: pathTest(value) }));
  const types = ofKind("mime").map(({ value, isNot }) => ({ isNot, matches: typeTest(value) }));
  if (paths.length + types.length > 0) add("keeps(d.key, d.mime)");
  return {
    sql: parts.join(" and "),
    values,
    keeps: (path, mimeType) => passes(paths, path) && passes(types, mimeType),
  };
}

/** At least one of the wanted tests must match, if there are any, and none of the excluded ones. */
function passes(tests: readonly { isNot: boolean; matches(value: string): boolean }[], value: string): boolean {
  const wanted = tests.filter(({ isNot }) => !isNot);
  return (
    (wanted.length === 0 || wanted.some(({ matches }) => matches(value))) &&
    !tests.some(({ isNot, matches }) => isNot && matches(value))
  );
}

/** A pattern must match the whole path or its end; plain text may occur anywhere in it. */
function pathTest(value: string): (path: string) => boolean {
  const wanted = format(value.replace(/^\//, ""));
  if (!isGlob(value)) return (path) => format(path).includes(wanted);
  try {
    const globs = [createGlob(wanted), createGlob(`**/${wanted}`)];
    return (path) => globs.some((glob) => glob.matches(format(path)));
  } catch (cause) {
    if (cause instanceof GlobError) throw invalid(`${quote(`path:${value}`)} is not a valid pattern: ${cause.message}`);
    throw cause;
  }
}

function format(text: string): string {
  return toHiragana(foldText(text)).toLowerCase();
}

/** Accepts "text/markdown", "text/*", or a word of the type: "pdf". */
function typeTest(value: string): (mimeType: string) => boolean {
  const wanted = value.toLowerCase().replace(/\/?\*$/, "");
  return (mimeType) => {
    const type = mimeType.split(";", 1)[0]!.trim().toLowerCase();
    return type === wanted || (wanted.includes("/") ? false : type.split(/[/+.-]/).includes(wanted));
  };
}
