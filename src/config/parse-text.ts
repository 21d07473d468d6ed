/** From the text of a config to plain values, and from a key back to its place in the text. */
import type { Document, Node as YamlNode, YAMLError } from "yaml";
import { type JsonNode, JsonTextError, memberOf, parseJsonText, placeOf, valueOf } from "../lib/json-text.ts";
import type { KeyPath, Place, Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";

export interface ParsedText {
  readonly value: unknown;
  /** Where a key, or its value, stands; that of the nearest thing around it where it is absent. */
  place(path: KeyPath, at: "key" | "value"): Place | undefined;
}

export type TextFormat = "yaml" | "json";

/** What is wrong with the text itself, instead of its values. */
export type ParseAnswer = ParsedText | { readonly problems: readonly Problem[] };

export async function parseText(text: string, format: TextFormat): Promise<ParseAnswer> {
  return format === "json" ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): ParseAnswer {
  let root: JsonNode;
  try {
    root = parseJsonText(text);
  } catch (cause) {
    if (!(cause instanceof JsonTextError)) throw cause;
    return { problems: [{ path: [], message: cause.message, place: placeOf(text, cause.offset) }] };
  }
  const twice = repeatedKeys(root, [], text);
  if (twice.length > 0) return { problems: twice };
  return {
    value: valueOf(root),
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
      return placeOf(text, start);
    },
  };
}

function repeatedKeys(node: JsonNode, path: KeyPath, text: string): Problem[] {
  if (node.kind === "array") return node.items.flatMap((item, index) => repeatedKeys(item, [...path, index], text));
  if (node.kind !== "object") return [];
  const seen = new Set<string>();
  return node.members.flatMap(({ key, name, value }): Problem[] => {
    const here = [...path, key];
    const deeper = repeatedKeys(value, here, text);
    if (!seen.has(key)) {
      seen.add(key);
      return deeper;
    }
    return [{ path: here, message: "this key is there twice; keep one", place: placeOf(text, name.start) }, ...deeper];
  });
}

/** What the parser says of its own accord may repeat the text, which may hold secrets. */
const yamlSentences: Readonly<Record<string, string>> = {
  BAD_ALIAS: "an alias names no anchor before it",
  BAD_DQ_ESCAPE: 'a text in " holds an escape that YAML does not know',
  BAD_INDENT: "the indentation does not fit what is around it, or a bracket is not closed",
  BAD_SCALAR_START: "a text must not begin with this character; put it in quotes",
  BLOCK_AS_IMPLICIT_KEY: "a second key stands on this line; put it on one of its own, or the value in quotes",
  DUPLICATE_KEY: "this key is there twice; keep one",
  KEY_OVER_1024_CHARS: "a key is too long",
  MISSING_CHAR: "a character is missing here, perhaps a closing quote or bracket, or the colon of a key",
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line; perhaps a colon is missing",
  MULTIPLE_DOCS: "one file holds one document; remove the second",
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  TAG_RESOLVE_FAILED: "this tag is not known; remove it",
};

/** The key of a value that JSON does not know (dates, sets, bytes, infinity): what is trusted is compared as JSON. */
function strangeValue(value: unknown, path: KeyPath): KeyPath | undefined {
  if (Array.isArray(value)) return first(value.entries(), path);
  if (isPlainObject(value)) return first(Object.entries(value), path);
  const isKnown = value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  return isKnown ? undefined : path;
}

function first(entries: Iterable<readonly [string | number, unknown]>, path: KeyPath): KeyPath | undefined {
  for (const [key, value] of entries) {
    const strange = strangeValue(value, [...path, key]);
    if (strange) return strange;
  }
  return undefined;
}

async function parseYaml(text: string): Promise<ParseAnswer> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (document.errors.length > 0)
    return {
      problems: document.errors.map(({ code, pos }: YAMLError) => ({
        path: [],
        message: yamlSentences[code] ?? "this is no valid YAML",
        place: placeAt(pos[0]),
      })),
    };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    return { problems: [{ path: [], message: "its aliases unfold into too much; write it out", place: placeAt(0) }] };
  }

  const strange = strangeValue(value, []);
  if (strange)
    return {
      problems: [
        { path: strange, message: "is no text, number, true or false, list or group of keys; write it in quotes" },
      ],
    };

  return {
    value,
    place(path, at) {
      let node = resolved(document.contents, document);
      let start = node?.range?.[0] ?? 0;
      for (const key of path) {
        let next: YamlNode | null | undefined;
        let nextStart: number | undefined;
        if (yaml.isMap(node)) {
          const pair = node.items.find((each) => yaml.isScalar(each.key) && String(each.key.value) === String(key));
          next = pair?.value as YamlNode | null | undefined;
          const keyStart = yaml.isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
          nextStart = at === "key" ? keyStart : (next?.range?.[0] ?? keyStart);
        } else if (yaml.isSeq(node)) {
          next = node.items[Number(key)] as YamlNode | undefined;
          nextStart = next?.range?.[0];
        }
        if (nextStart === undefined) break;
        start = nextStart;
        node = resolved(next ?? null, document);
      }
      return placeAt(start);
    },
  };

  function resolved(node: YamlNode | null, within: Document): YamlNode | null {
    return yaml.isAlias(node) ? ((node.resolve(within) as YamlNode | undefined) ?? null) : node;
  }
}
