/** A task as a person writes it, read once: which terms it speaks of, which things it names, and what to search for. */
import { isFunctionWord } from "../search/function-words.ts";
import { tokenize, type Token } from "../search/tokens.ts";

/** A term of the index, and how much it says of the task that it stands somewhere. */
export interface TaskTerm {
  readonly term: string;
  /** As it stands in the task. */
  readonly surface: string;
  readonly weight: number;
  /** Whether it is the whole of a name that someone has made up: `getUserName`, `max_bytes`. */
  readonly isName: boolean;
  /** Whether it stands before the colon with which many say first where something is to be done: `router: answer sooner`. */
  readonly isPlace: boolean;
}

export interface TaskNames {
  readonly uris: readonly string[];
  /** File names and paths, with slashes as written. */
  readonly paths: readonly string[];
  /** Hashes of commits, perhaps. */
  readonly hashes: readonly string[];
  /** Names as programs have them. */
  readonly symbols: readonly string[];
}

export interface Task {
  readonly text: string;
  /** Each once. */
  readonly terms: ReadonlyMap<string, TaskTerm>;
  readonly names: TaskNames;
  /** What to search for: the whole first, then what says most of it. None has signs that a search would take for its own. */
  readonly queries: readonly string[];
}

/** More is not read. */
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
      return isFunctionWord(surface.toLowerCase()) ? 0.1 : isRoutine(surface.toLowerCase()) ? 0.5 : 1;
  }
}

const kana = /^[\u3041-\u309f\u30fc]+$/u;

/** What nearly every task asks for: it says little of where. */
function isRoutine(word: string): boolean {
  return routine.has(word);
}
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

/** Up to the colon of `web, s3: …` and `fix(router): …`; 0 where a whole clause stands before it. */
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

/** Names with slashes between them, of which the last does not begin with a dot; what is left behind it, without its dots. */
function* pathsIn(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[\p{L}\p{N}_@.~+-]+(?:\/[\p{L}\p{N}_@.~+-]+)*/gu)) {
    const names = run.split("/");
    const last = names.findLastIndex((name) => !name.startsWith("."));
    if (last >= 0) yield names.slice(0, last + 1).join("/");
    for (const name of names.slice(last + 1)) yield name.replace(/^\.+/, "");
  }
}

function found(text: string, what: RegExp, trim?: (name: string) => string): readonly string[] {
  return take(namesIn(text, what), trim);
}

function* namesIn(text: string, what: RegExp): Generator<string> {
  for (const [name] of text.matchAll(what)) yield name;
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

/** With a slash between names, or an ending that is no sentence's: `notes.md`, not `e.g` or `3.5`. */
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

/** Without what a search would read as a phrase, an exclusion or a filter. */
function asWords(text: string): string {
  return text
    .slice(0, maxQueryLength)
    .replaceAll(/["“”„＂:]/gu, " ")
    .replaceAll(/(^|\s)[-－]+/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
}
