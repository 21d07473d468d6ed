/** JSON with the position of every value, so that errors can point to it and edits leave the rest unchanged. */

interface Span {
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
}

interface JsonMember {
  readonly key: string;
  readonly name: Span;
  readonly value: JsonNode;
}

export type JsonNode =
  | (Span & { readonly kind: "object"; readonly members: readonly JsonMember[] })
  | (Span & { readonly kind: "array"; readonly items: readonly JsonNode[] })
  | (Span & { readonly kind: "scalar"; readonly value: string | number | boolean | null });

/** The message describes the error at this position, and repeats nothing of the text. */
export class JsonTextError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface JsonTextOptions {
  /** Whether comments and trailing commas are allowed, as in editor settings. */
  readonly comments?: boolean;
}

const maxDepth = 200;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = { true: true, false: false, null: null } as const;

/** Throws a JsonTextError at the first error. */
export function parseJsonText(text: string, { comments = false }: JsonTextOptions = {}): JsonNode {
  let at = text.startsWith("\ufeff") ? 1 : 0;

  function fail(message: string, offset = at): never {
    throw new JsonTextError(offset, message);
  }

  function skip(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) at += 1;
      else if (comments && text.startsWith("//", at)) {
        const end = text.indexOf("\n", at);
        at = end < 0 ? text.length : end;
      } else if (comments && text.startsWith("/*", at)) {
        const end = text.indexOf("*/", at + 2);
        if (end < 0) fail("unclosed comment");
        at = end + 2;
      } else return;
    }
  }

  function readString(): Span & { readonly text: string } {
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) {
      if (at >= text.length || text.charCodeAt(at) < 0x20) fail('unclosed text; expected "', start);
      if (text[at] === "\\") at += 1;
    }
    at += 1;
    try {
      return { start, end: at, text: JSON.parse(text.slice(start, at)) as string };
    } catch {
      return fail("unknown escape in a text", start);
    }
  }

  function readValue(depth: number): JsonNode {
    if (depth > maxDepth) fail("values are nested too deeply");
    const start = at;
    const character = text[at];
    if (character === "{") return readObject(depth);
    if (character === "[") return readArray(depth);
    if (character === '"') {
      const { end, text: value } = readString();
      return { kind: "scalar", start, end, value };
    }
    number.lastIndex = at;
    const digits = number.exec(text)?.[0];
    if (digits) {
      at += digits.length;
      return { kind: "scalar", start, end: at, value: Number(digits) };
    }
    for (const [word, value] of Object.entries(words))
      if (text.startsWith(word, at)) {
        at += word.length;
        return { kind: "scalar", start, end: at, value };
      }
    return fail(at >= text.length ? "unexpected end of the text" : "expected a value");
  }

  /** Calls `each` for every element; afterwards `at` is behind the closing bracket. */
  function readElements(close: string, each: () => void): void {
    at += 1;
    skip();
    for (let first = true; text[at] !== close; first = false) {
      if (!first) {
        if (text[at] !== ",") fail(at >= text.length ? "unexpected end of the text" : `expected "," or "${close}"`);
        at += 1;
        skip();
        if (text[at] === close) {
          if (!comments) fail(`unexpected comma before "${close}"`);
          break;
        }
      }
      each();
      skip();
    }
    at += 1;
  }

  function readObject(depth: number): JsonNode {
    const start = at;
    const members: JsonMember[] = [];
    readElements("}", () => {
      if (text[at] !== '"') fail(at >= text.length ? "unexpected end of the text" : 'expected a key in "');
      const { text: key, ...name } = readString();
      skip();
      if (text[at] !== ":") fail('expected ":"');
      at += 1;
      skip();
      members.push({ key, name, value: readValue(depth + 1) });
    });
    return { kind: "object", start, end: at, members };
  }

  function readArray(depth: number): JsonNode {
    const start = at;
    const items: JsonNode[] = [];
    readElements("]", () => void items.push(readValue(depth + 1)));
    return { kind: "array", start, end: at, items };
  }

  skip();
  const node = readValue(0);
  skip();
  if (at < text.length) fail("unexpected text after the value");
  return node;
}

/** The value, as JSON.parse would return it. */
export function nodeValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "array":
      return node.items.map(nodeValue);
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, nodeValue(value)]));
  }
}

/** If a key occurs twice, the last one counts. */
export function memberOf(node: JsonNode, key: string): JsonMember | undefined {
  return node.kind === "object" ? node.members.findLast((member) => member.key === key) : undefined;
}
