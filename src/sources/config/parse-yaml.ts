/** Parses YAML: one document, with aliases and merge keys (`<<`) resolved. */
import type { CST, Node, Pair, YAMLMap } from "yaml";
import { createPlaceFinder } from "../../lib/text-position.ts";
import { createLeaves, FormatError, type ConfigValue, maxConfigDepth } from "./leaf.ts";

type Path = readonly (string | number)[];

/** The parser's own messages may contain parts of the text. */
const sentences: Readonly<Record<string, string>> = {
  BAD_INDENT: "the indentation does not match its surroundings, or a bracket is not closed",
  TAB_AS_INDENT: "indent with spaces, not with tabs",
};

/** Limit of tokens. */
const maxLexemes = 150_000;

export async function parseYaml(text: string): Promise<readonly ConfigValue[]> {
  const yaml = await import("yaml");
  const placeAt = createPlaceFinder(text);
  const lineAt = (offset: number) => placeAt(offset).line;
  const tokens = readTokens(yaml, text, lineAt);
  // The parser's own check for duplicate keys is quadratic.
  const composer = new yaml.Composer({ prettyErrors: false, logLevel: "silent", uniqueKeys: false });
  const { document, another } = withoutTraces(() => {
    const [first, second] = composer.compose(tokens, true, text.length);
    return { document: first, another: second };
  });
  const [error] = document?.errors ?? [];
  if (error) throw new FormatError(lineAt(error.pos[0]), sentences[error.code] ?? "it is not valid YAML");
  if (!document || another)
    throw new FormatError(lineAt(another?.range[0] ?? 0), "a file may contain only one document; remove the others");
  const leaves = createLeaves();
  /** Resolved in one pass: a separate lookup for each alias would be quadratic. */
  const targets = new Map<unknown, Node | undefined>();
  const anchors = new Map<string, Node>();
  yaml.visit(document, (_, node) => {
    if (yaml.isAlias(node)) targets.set(node, anchors.get(node.source));
    else if (yaml.isNode(node) && "anchor" in node && typeof node.anchor === "string") anchors.set(node.anchor, node);
  });
  let steps = 0;

  function resolve(node: unknown, line: number, within: readonly Node[]): Node | undefined {
    const found = yaml.isAlias(node) ? targets.get(node) : (node as Node | null | undefined);
    if (found && within.includes(found)) throw new FormatError(line, "an alias refers to itself");
    return found ?? undefined;
  }

  /** Its own keys, then those of the maps it merges; the first of each name applies. */
  function pairsOf(map: YAMLMap, line: number, within: readonly Node[]): ReadonlyMap<string, Pair> {
    const pairs = new Map<string, Pair>();
    const merged: YAMLMap[] = [];
    for (const pair of map.items) {
      const key = keyOf(pair.key);
      if (key !== "<<") {
        if (pairs.has(key)) throw new FormatError(lineOf(pair.key, line), "a key occurs twice; remove one");
        pairs.set(key, pair);
      } else {
        const value = resolve(pair.value, line, within);
        const maps = yaml.isSeq(value) ? value.items.map((item) => resolve(item, line, within)) : [value];
        merged.push(...maps.filter((each) => yaml.isMap(each)));
      }
    }
    for (const each of merged)
      for (const [key, pair] of pairsOf(each, line, deeper(within, each, line)))
        if (!pairs.has(key)) pairs.set(key, pair);
    return pairs;
  }

  function deeper(within: readonly Node[], node: Node, line: number): readonly Node[] {
    steps += 1;
    // Aliases of empty aliases produce no values, but still take time.
    if (steps > 50_000) throw new FormatError(line, "its aliases expand too much; write out the values");
    if (within.length > maxConfigDepth) throw new FormatError(line, "values are nested too deeply");
    return [...within, node];
  }

  function lineOf(node: unknown, otherwise: number): number {
    const at = (node as Node | null)?.range?.[0];
    return at === undefined ? otherwise : lineAt(at);
  }

  function keyOf(key: unknown): string {
    const node = yaml.isAlias(key) ? targets.get(key) : key;
    return yaml.isScalar(node) ? String(node.value) : "?";
  }

  function visit(given: unknown, path: Path, line: number, within: readonly Node[]): void {
    const node = resolve(given, line, within);
    if (yaml.isMap(node)) {
      const inside = deeper(within, node, line);
      for (const [key, pair] of pairsOf(node, line, inside)) {
        visit(pair.value, [...path, key], lineOf(pair.key, line), inside);
      }
    } else if (yaml.isSeq(node)) {
      const inside = deeper(within, node, line);
      node.items.forEach((item, index) => visit(item, [...path, index], lineOf(item, line), inside));
    } else leaves.add(path, yaml.isScalar(node) ? toScalar(node.value) : null, line);
  }

  const start = document.contents?.range?.[0] ?? 0;
  if (document.contents !== null) visit(document.contents, [], lineAt(start), []);
  return leaves.all;
}

/** A text may cause thousands of errors, and their stack traces would take longer than everything else. */
function withoutTraces<T>(work: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** The syntax tokens of the text. */
function readTokens(
  yaml: typeof import("yaml"),
  text: string,
  lineAt: (offset: number) => number,
): readonly CST.Token[] {
  const parser = new yaml.Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  let at = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") throw new FormatError(lineAt(token.offset), "it is not valid YAML");
      tokens.push(token);
    }
    count += 1;
    at += lexeme.length;
    if (count > maxLexemes) throw new FormatError(lineAt(at), "it contains too many tokens");
  }
  return [...tokens, ...parser.end()];
}

function toScalar(value: unknown): ConfigValue["value"] {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return value instanceof Date ? value.toISOString() : String(value);
}
