/** Parses a task in a person's words: its terms, the names in it, and the queries to search for. */
import { isFunctionWord } from "../search/function-words.ts";
import { tokenize, type Token } from "../search/tokens.ts";

/** An index term of the task, and its weight. */
interface TaskTerm {
  readonly term: string;
  /** As written in the task. */
  readonly surface: string;
  readonly weight: number;
  /** True for a whole identifier: `getUserName`, `max_bytes`. */
  readonly isName: boolean;
  /** True before the first colon, where many tasks name a location: `router: respond sooner`. */
  readonly isPlace: boolean;
}

interface TaskNames {
  readonly uris: readonly string[];
  /** File names and paths, with slashes as written. */
  readonly paths: readonly string[];
  /** Possible commit hashes. */
  readonly hashes: readonly string[];
  /** Names in program style. */
  readonly symbols: readonly string[];
}

export interface Task {
  readonly text: string;
  /** Each term once. */
  readonly terms: ReadonlyMap<string, TaskTerm>;
  readonly names: TaskNames;
  /** Search queries: the whole task first, then its most important terms. Without query syntax. */
  readonly queries: readonly string[];
}

/** Longer tasks are rejected. */
export const maxTaskLength = 20_000;
const maxTerms = 200;
const maxQueryLength = 2000;
const maxWords = 12;
const maxNamed = 16;
const maxPlaceLength = 60;

export function readTask(text: string): Task {
  const terms = termsOf(text);
  const names = namesOf(text);
  return { text, terms, names, queries: queriesOf(text, terms, names) };
}

function termsOf(text: string): ReadonlyMap<string, TaskTerm> {
  const terms = new Map<string, TaskTerm>();
  const firstLine = endOfFirstLine(text);
  const place = endOfPlace(text);
  const tokens = tokenize(text);
  tokens.forEach((token, at) => {
    if (token.kind === "single" && tokens[at - 1]?.kind === "pair") return;
    const surface = text.slice(token.from, token.to);
    const weight = weigh(token, surface) * (token.from < firstLine ? 1.5 : 1);
    const known = terms.get(token.term);
    if (known ? known.weight >= weight : terms.size >= maxTerms) return;
    terms.set(token.term, {
      term: token.term,
      surface,
      weight,
      isName: token.kind === "whole",
      isPlace: token.to <= place,
    });
  });
  return terms;
}

function weigh({ kind, term }: Token, surface: string): number {
  switch (kind) {
    case "whole":
      return 1.6;
    case "part":
      return isFunctionWord(term) ? 0.15 : 0.7;
    case "pair":
      return kana.test(surface) ? 0.3 : 1;
    case "single":
      return kana.test(surface) ? 0.1 : 0.5;
    case "word":
      return isFunctionWord(surface.toLowerCase()) ? 0.1 : routine.has(surface.toLowerCase()) ? 0.5 : 1;
  }
}

const kana = /^[\u3041-\u309f\u30fc]+$/u;

/** Words of nearly every task: they do not help to find a location. */
const routine = new Set(
  "fix fixes fixed add adds added remove removes removed change changes changed update updates make implement support handle allow avoid ensure improve move rename refactor bug issue code file function method class line patch problem case new".split(
    " ",
  ),
);

function endOfFirstLine(text: string): number {
  const start = text.search(/\S/);
  const end = text.indexOf("\n", start);
  return end === -1 ? 0 : end;
}

/** Position of the colon of `web, s3: …` and `fix(router): …`; 0 if a whole clause stands before it. */
function endOfPlace(text: string): number {
  const start = text.search(/\S/);
  const before = text.slice(start, start + maxPlaceLength);
  const colon = before.search(/:\s|：/u);
  const words = before
    .slice(0, Math.max(0, colon))
    .split(/[ ,()/+&、]+/u)
    .filter((word) => word !== "");
  const isPlace = words.length > 0 && words.length <= 4 && words.every((word) => /^[\p{L}\p{N}_$.-]+$/u.test(word));
  return isPlace ? start + colon : 0;
}

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
  };
}

/** Names with slashes between them, whose last does not begin with a dot; trailing dots are removed. */
function* pathsIn(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[\p{L}\p{N}_@.~+-]+(?:\/[\p{L}\p{N}_@.~+-]+)*/gu)) {
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

function queriesOf(text: string, terms: Task["terms"], { paths, symbols }: TaskNames): readonly string[] {
  const first = text.slice(0, endOfFirstLine(text));
  const words = [...terms.values()]
    .filter(({ weight, term }) => weight >= 0.7 && term.length > 1)
    .sort((left, right) => right.weight - left.weight || right.surface.length - left.surface.length)
    .map(({ surface }) => surface);
  const runs = text.match(/[\p{Script=Han}々]{2,12}|[\p{Script=Katakana}ー]{2,20}/gu) ?? [];
  const isDense = /[\u3041-\u9fff]/u;
  const single = [...paths, ...symbols, ...runs, ...words.filter((word) => !isDense.test(word))];
  const queries = new Set([asWords(text), asWords(first), ...single.map(asWords).slice(0, maxWords)]);
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
