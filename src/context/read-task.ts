/** Parses a task in a person's words: its terms, the names in it, and the queries to search for. */
import { folderInBrackets, locationsIn, phrasesIn, type TaskLocation } from "./exact-names.ts";
import { endOfFirstLine, termsOf, type TaskTerm } from "./task-terms.ts";

interface TaskNames {
  readonly uris: readonly string[];
  /** File names and paths, with slashes as written. */
  readonly paths: readonly string[];
  /** Possible commit hashes. */
  readonly hashes: readonly string[];
  /** Names in program style. */
  readonly symbols: readonly string[];
  readonly locations: readonly TaskLocation[];
  /** Quoted texts, and texts of errors. */
  readonly phrases: readonly string[];
}

export interface Task {
  readonly text: string;
  /** Each term once. */
  readonly terms: ReadonlyMap<string, TaskTerm>;
  readonly names: TaskNames;
  /** True if the task speaks of tests. */
  readonly isAboutTests: boolean;
  /**
   * Search queries: the whole task first, then its most important terms. Without query syntax, except that
   * phrases are quoted.
   */
  readonly queries: readonly string[];
}

/** Longer tasks are rejected. */
export const maxTaskLength = 20_000;
const maxQueryLength = 2000;
const maxWords = 12;
const maxNamed = 16;

export function readTask(text: string): Task {
  const terms = termsOf(text);
  const names = namesOf(text);
  return { text, terms, names, isAboutTests: tests.test(text), queries: queriesOf(text, terms, names) };
}

/** A word for tests, not `latest` or `test_` within a name. */
const tests = /(?<![\p{L}\p{N}_])(?:unit)?(?:tests?|testing|specs?)(?![\p{L}\p{N}_])|テスト|試験/iu;

function namesOf(text: string): TaskNames {
  const uris = found(text, /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s<>"'`\u3000-\u3002（）「」]+/giu, (uri) =>
    uri.replace(/(?<![.,;:!?)\]}'"])[.,;:!?)\]}'"]+$/, ""),
  );
  const rest = uris.reduce((left, uri) => left.replaceAll(uri, " "), text);
  return {
    uris,
    paths: take(pathsIn(rest), trimDots).filter(isPath),
    hashes: found(rest, /\b[0-9a-f]{7,40}\b/g).filter((hash) => /\d/.test(hash) && /[a-f]/.test(hash)),
    symbols: found(rest, /[\p{L}_$][\p{L}\p{N}_$]*/gu).filter(isSymbol),
    locations: locationsIn(text),
    phrases: phrasesIn(text),
  };
}

const pathSegment = String.raw`(?:[\p{L}\p{N}_@.~+-]|${folderInBrackets})+`;
const pathRun = new RegExp(String.raw`${pathSegment}(?:/${pathSegment})*`, "gu");

/** Names with slashes between them, whose last does not begin with a dot; trailing dots are removed. */
function* pathsIn(text: string): Generator<string> {
  for (const [run] of text.matchAll(pathRun)) {
    const names = run.split("/");
    const last = names.findLastIndex((name) => !name.startsWith("."));
    if (last >= 0) yield names.slice(0, last + 1).join("/");
    for (const name of names.slice(last + 1)) yield name.replace(/^\.+/, "");
  }
}

function found(text: string, what: RegExp, trim?: (name: string) => string): readonly string[] {
  return take(
    Array.from(text.matchAll(what), ([name]) => name),
    trim,
  );
}

function take(names: Iterable<string>, trim: (name: string) => string = (name) => name): readonly string[] {
  const all = new Set<string>();
  for (const name of names) {
    if (name.length > 300) continue;
    all.add(trim(name));
    if (all.size === maxNamed * 4) break;
  }
  all.delete("");
  return [...all].slice(0, maxNamed);
}

function trimDots(path: string): string {
  return path.replace(/^(?:\.\/)+/, "").replace(/(?<!\.)\.+$/, "");
}

/** True with a slash between names, or with an extension: `notes.md`, not `e.g` or `3.5`. */
function isPath(name: string): boolean {
  if (/^[\d.]+$/.test(name)) return false;
  const ending = /\.([\p{L}][\p{L}\p{N}]{0,7})$/u.exec(name);
  if (ending) return name.length > ending[0].length + 1;
  return /^[^/]+\/[^/]+/.test(name) && /[\p{L}]{2}/u.test(name);
}

function isSymbol(name: string): boolean {
  return name.length > 2 && (/[\p{Ll}\p{N}]\p{Lu}/u.test(name) || /[^_]_+[^_]/.test(name) || /^_+\p{L}/u.test(name));
}

function queriesOf(
  text: string,
  terms: Task["terms"],
  { paths, symbols, locations, phrases }: TaskNames,
): readonly string[] {
  const first = text.slice(0, endOfFirstLine(text));
  const words = [...terms.values()]
    .filter(({ weight, term }) => weight >= 0.7 && term.length > 1)
    .sort((left, right) => right.weight - left.weight || right.surface.length - left.surface.length)
    .map(({ surface }) => surface);
  const runs = text.match(/[\p{Script=Han}々]{2,12}|[\p{Script=Katakana}ー]{2,20}/gu) ?? [];
  const isDense = /[\u3041-\u9fff]/u;
  const files = locations.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  const single = [...files, ...paths, ...symbols, ...runs, ...words.filter((word) => !isDense.test(word))];
  const exact = phrases.map((phrase) => `"${asWords(phrase)}"`);
  const queries = new Set([asWords(text), asWords(first), ...exact, ...single.map(asWords).slice(0, maxWords)]);
  queries.delete("");
  return [...queries];
}

/** Removes the syntax of phrases, exclusions and filters. */
function asWords(text: string): string {
  return text
    .slice(0, maxQueryLength)
    .replaceAll(/["“”„＂:]/gu, " ")
    .replaceAll(/(^|\s)[-－]+/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
}
