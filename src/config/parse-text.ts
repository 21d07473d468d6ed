/** Parses the text of a config, and finds the position of a key in it. */
import type { Document, Node as YamlNode, YAMLError } from "yaml";
import { type JsonNode, JsonTextError, memberOf, parseJsonText, nodeValue } from "../lib/json-text.ts";
import { createPlaceFinder } from "../lib/text-position.ts";
import { callInThread, ThreadOverrun } from "../lib/threads.ts";
import type { KeyPath, TextPosition, Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";

export interface ParsedText {
  readonly value: unknown;
  /** Position of a key or its value, or of the nearest parent if it is absent. */
  place(path: KeyPath, at: "key" | "value"): TextPosition | undefined;
}

export type ConfigTextFormat = "yaml" | "json";

/** The parsed text, or its syntax errors. */
type ParseAnswer = ParsedText | { readonly problems: readonly Problem[] };

export async function parseText(text: string, format: ConfigTextFormat): Promise<ParseAnswer> {
  return format === "json" ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): ParseAnswer {
  const placeAt = createPlaceFinder(text);
  let root: JsonNode;
  try {
    root = parseJsonText(text);
  } catch (cause) {
    if (!(cause instanceof JsonTextError)) throw cause;
    return { problems: [{ path: [], message: cause.message, place: placeAt(cause.offset) }] };
  }
  const twice = repeatedKeys(root, [], placeAt);
  if (twice.length > 0) return { problems: twice };
  return {
    value: nodeValue(root),
    place(path, at) {
      let node = root;
      let start = root.start;
      for (const key of path) {
        const member = typeof key === "string" ? memberOf(node, key) : undefined;
        const item = node.kind === "array" && typeof key === "number" ? node.items[key] : undefined;
        const next = member?.value ?? item;
        if (next === undefined) break;
        start = at === "key" && member ? member.name.start : next.start;
        node = next;
      }
      return placeAt(start);
    },
  };
}

function repeatedKeys(node: JsonNode, path: KeyPath, placeAt: (offset: number) => TextPosition): Problem[] {
  if (node.kind === "array") return node.items.flatMap((item, index) => repeatedKeys(item, [...path, index], placeAt));
  if (node.kind !== "object") return [];
  const seen = new Set<string>();
  return node.members.flatMap(({ key, name, value }): Problem[] => {
    const here = [...path, key];
    const deeper = repeatedKeys(value, here, placeAt);
    if (!seen.has(key)) {
      seen.add(key);
      return deeper;
    }
    return [{ path: here, message: keyTwice, place: placeAt(name.start) }, ...deeper];
  });
}

const keyTwice = "this key is a duplicate; remove one";
const keyNoText = "a key must be a string; put it in quotes";

/** Replaces the parser's messages, which may repeat the text and so a secret. */
const yamlSentences: Readonly<Record<string, string>> = {
  BAD_ALIAS: "an alias has no anchor before it",
  BAD_DQ_ESCAPE: 'a string in " contains an escape that YAML does not know',
  BAD_INDENT: "the indentation does not match its surroundings, or a bracket is not closed",
  BAD_SCALAR_START: "a string must not begin with this character; put it in quotes",
  BLOCK_AS_IMPLICIT_KEY: "there is a second key on this line; put it on its own line, or the value in quotes",
  KEY_OVER_1024_CHARS: "a key is too long",
  MISSING_CHAR: "a character is missing here, perhaps a closing quote or bracket, or the colon of a key",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line; perhaps a colon is missing",
  MULTIPLE_DOCS: "a config must be one YAML document; remove the second",
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  TAG_RESOLVE_FAILED: "unknown tag; remove it",
};

/** Positions of a value, of its key, and of everything in it. Plain data, so that it can be passed between threads. */
interface YamlPlace {
  readonly start: number;
  readonly keyStart?: number;
  /** By key, or by index in a list. */
  readonly inside?: ReadonlyMap<string, YamlPlace>;
}

interface YamlProblem {
  readonly message: string;
  readonly start: number;
}

type YamlAnswer = { readonly problems: readonly YamlProblem[] } | { readonly value: unknown; readonly root: YamlPlace };

/** The positions are computed only for a config that has problems. */
type LazyYamlAnswer = { readonly problems: readonly YamlProblem[] } | { readonly value: unknown; root(): YamlPlace };

/** Further problems are not reported. */
const maxProblems = 100;
/** A hostile text of this length takes less than 200 ms to parse; longer texts are parsed in a thread. */
const maxCharactersHere = 8 * 1024;
/** The key of a value that JSON does not have (date, set, bytes, infinity): grants are compared as JSON. */
function unknownValue(value: unknown, path: KeyPath): KeyPath | undefined {
  if (Array.isArray(value)) return first(value.entries(), path);
  if (isPlainObject(value)) return first(Object.entries(value), path);
  const isKnown = value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  return isKnown ? undefined : path;
}

function first(entries: Iterable<readonly [string | number, unknown]>, path: KeyPath): KeyPath | undefined {
  for (const [key, value] of entries) {
    const unknown = unknownValue(value, [...path, key]);
    if (unknown) return unknown;
  }
  return undefined;
}

async function parseYaml(text: string): Promise<ParseAnswer> {
  const placeAt = createPlaceFinder(text);
  const answer = await (text.length <= maxCharactersHere ? parseYamlHere(text) : readYamlInThread(text));
  if ("problems" in answer)
    return {
      problems: answer.problems.map(({ message, start }) => ({ path: [], message, place: placeAt(start) })),
    };
  const { value, root: computeRoot } = answer;
  let root: YamlPlace | undefined;
  function place(path: KeyPath, at: "key" | "value"): TextPosition {
    root ??= computeRoot();
    let here = root;
    for (const key of path) {
      const next = here.inside?.get(String(key));
      if (next === undefined) break;
      here = next;
    }
    return placeAt(at === "key" ? (here.keyStart ?? here.start) : here.start);
  }
  const unknown = unknownValue(value, []);
  if (unknown) {
    const message = "is not a string, number, boolean, list or object; write it in quotes";
    return { problems: [{ path: unknown, message, place: place(unknown, "value") }] };
  }
  return { value, place };
}

async function readYamlInThread(text: string): Promise<LazyYamlAnswer> {
  try {
    const url = new URL("./parse-text.ts", import.meta.url);
    const answer = await callInThread<YamlAnswer>(url, "readYaml", text);
    return "problems" in answer ? answer : { value: answer.value, root: () => answer.root };
  } catch (cause) {
    if (!(cause instanceof ThreadOverrun)) throw cause;
    return { problems: [{ message: `reading it takes ${cause.message}; make it smaller`, start: 0 }] };
  }
}

/** Called in the thread: a result that can be cloned. */
export async function readYaml(text: string): Promise<YamlAnswer> {
  const answer = await parseYamlHere(text);
  return "problems" in answer ? answer : { value: answer.value, root: answer.root() };
}

async function parseYamlHere(text: string): Promise<LazyYamlAnswer> {
  const yaml = await import("yaml");
  // The library compares each key with every other, and stringifies a key that is a collection in time cubic in its depth.
  const document = yaml.parseDocument(text, { prettyErrors: false, uniqueKeys: false });
  if (document.errors.length > 0)
    return {
      problems: document.errors.slice(0, maxProblems).map(({ code, pos }: YAMLError) => ({
        message: yamlSentences[code] ?? "this is not valid YAML",
        start: pos[0],
      })),
    };
  const problems = keyProblems(document, yaml);
  if (problems.length > 0) return { problems: problems.slice(0, maxProblems) };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    return { problems: [{ message: "its aliases expand to too much data; write them out", start: 0 }] };
  }
  return { value, root: () => placesOf(document, yaml) };
}

/** Keys that are lists or maps, and duplicate keys. */
function keyProblems(document: Document, yaml: typeof import("yaml")): YamlProblem[] {
  const problems: YamlProblem[] = [];
  yaml.visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const start = (key as YamlNode | null)?.range?.[0] ?? 0;
        if (key !== null && !yaml.isScalar(key)) problems.push({ message: keyNoText, start });
        const name = String(yaml.isScalar(key) ? key.value : key === null);
        if (seen.has(name)) problems.push({ message: keyTwice, start });
        seen.add(name);
      }
      // Skips what is inside a refused key.
      return problems.length > 0 ? yaml.visit.BREAK : undefined;
    },
  });
  return problems;
}

function placesOf(document: Document, yaml: typeof import("yaml")): YamlPlace {
  /** An alias shares the positions of its anchor. */
  const known = new Map<YamlNode, ReadonlyMap<string, YamlPlace>>();

  function insideOf(given: YamlNode | null | undefined): ReadonlyMap<string, YamlPlace> | undefined {
    const node = yaml.isAlias(given) ? (given.resolve(document) as YamlNode | undefined) : given;
    if (!yaml.isMap(node) && !yaml.isSeq(node)) return undefined;
    const before = known.get(node);
    if (before) return before;
    const inside = new Map<string, YamlPlace>();
    known.set(node, inside);
    if (yaml.isSeq(node)) node.items.forEach((item, at) => add(inside, String(at), item as YamlNode | null));
    else
      for (const { key, value } of node.items)
        if (yaml.isScalar(key) && !inside.has(String(key.value)))
          add(inside, String(key.value), value as YamlNode | null, key.range?.[0]);
    return inside;
  }

  function add(to: Map<string, YamlPlace>, name: string, node: YamlNode | null, keyStart?: number): void {
    const start = node?.range?.[0] ?? keyStart;
    if (start === undefined) return;
    const inside = insideOf(node);
    to.set(name, { start, keyStart, inside });
  }

  const inside = insideOf(document.contents);
  return { start: document.contents?.range?.[0] ?? 0, inside };
}
