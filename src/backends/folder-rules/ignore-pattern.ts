/**
 * Parses one line of an ignore file and matches it as git does: by bytes, segment by segment. Uses neither regular expressions nor
 * backtracking, so that no pattern can be slow.
 */

/** UTF-8 bytes as one character each, because git matches bytes. */
export type Bytes = string;

export interface Rule {
  /** Its position in the file: the last matching rule applies. */
  readonly order: number;
  /** Whether it starts with "!" and cancels earlier rules. */
  readonly isNegated: boolean;
  /** Whether it matches folders only. */
  readonly isFolderOnly: boolean;
  /** Whether it matches a name at any depth, instead of a path relative to the file's folder. */
  readonly isFloating: boolean;
  readonly segments: readonly PatternSegment[];
}

export type PatternSegment =
  | { readonly kind: "literal"; readonly text: Bytes }
  | ({ readonly kind: "glob" } & Glob)
  /** Any number of folders; as the last segment, everything below. */
  | { readonly kind: "deep" };

interface Glob {
  /** The parts between the stars. */
  readonly pieces: readonly Piece[];
  readonly hasStars: boolean;
  /** Whether there is a star before the first piece, and after the last. */
  readonly isOpenBefore: boolean;
  readonly isOpenBehind: boolean;
  /** The length of the shortest matching name. */
  readonly minLength: number;
}

/** A literal text, or a test for each byte. */
type Piece = string | readonly ByteTest[];
/** 256 entries of 0 or 1, one for each byte value. */
type ByteTest = Uint8Array;

/** Longer than any path. */
const maxLength = 4096;
const maxSegments = 128;

/** Undefined if the line is not a rule, or can match nothing. `line` has no line end. */
export function parseRule(line: Bytes, order: number): Rule | undefined {
  let text = withoutTrailingSpaces(line);
  if (text === "" || text.startsWith("#") || text.length > maxLength) return undefined;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isFolderOnly = text.endsWith("/");
  if (isFolderOnly) text = text.slice(0, -1);
  const isFloating = !text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  const segments = parseSegments(text, isFloating);
  if (segments === undefined || segments.length > maxSegments) return undefined;
  const rule = { order, isNegated, isFolderOnly, segments };
  // "**/name" is the same as "name".
  const [first, second, ...rest] = segments;
  if (first?.kind === "deep" && second && second.kind !== "deep" && rest.length === 0)
    return { ...rule, isFloating: true, segments: [second] };
  return { ...rule, isFloating };
}

export function matches(segment: PatternSegment, name: Bytes): boolean {
  switch (segment.kind) {
    case "literal":
      return segment.text === name;
    case "deep":
      return true;
    case "glob":
      return matchesGlob(segment, name);
  }
}

/** The extension, for a segment such as "*.log": a dot, and no second one. */
export function endingOf(segment: PatternSegment): Bytes | undefined {
  if (segment.kind !== "glob" || segment.pieces.length !== 1 || !segment.isOpenBefore || segment.isOpenBehind)
    return undefined;
  const [piece] = segment.pieces;
  return typeof piece === "string" && piece.lastIndexOf(".") === 0 ? piece : undefined;
}

/** Number of bytes in a segment that are tested one by one, instead of by a text search. */
export function slownessOf(segment: PatternSegment): number {
  if (segment.kind !== "glob") return 0;
  return segment.pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? 0 : piece.length), 0);
}

const isPlain = /^[\0-\x7f]*$/;

export function toBytes(text: string): Bytes {
  return isPlain.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** A backslash protects the space after it. */
function withoutTrailingSpaces(line: Bytes): Bytes {
  if (!line.endsWith(" ")) return line;
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "\\") end = (at += 1) + 1;
    else if (line[at] !== " ") end = at + 1;
  }
  return line.slice(0, end);
}

function parseSegments(text: Bytes, isFloating: boolean): PatternSegment[] | undefined {
  const segments: PatternSegment[] = [];
  let begun = createSegment();
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    const isEscaped = char === "\\";
    const current = isEscaped ? text[(at += 1)] : char;
    if (current === undefined) return undefined;
    if (current === "/") {
      if (!close()) return undefined;
    } else if (isEscaped) {
      begun.literal(current);
    } else if (char === "*") {
      begun.star();
    } else if (char === "?") {
      begun.test(anyByte);
    } else if (char === "[") {
      const parsed = parseClass(text, at);
      if (parsed === undefined) return undefined;
      begun.test(parsed.test);
      at = parsed.end;
    } else {
      begun.literal(char);
    }
  }
  return close() ? segments : undefined;

  function close(): boolean {
    const segment = begun.finish(isFloating);
    if (segment === undefined) return false;
    // Two in a row are the same as one.
    if (segment.kind !== "deep" || segments.at(-1)?.kind !== "deep") segments.push(segment);
    begun = createSegment();
    return true;
  }
}

function createSegment() {
  const pieces: (string | ByteTest)[][] = [[]];
  let stars = 0;
  return {
    literal: (char: string) => void pieces.at(-1)?.push(char),
    test: (test: ByteTest) => void pieces.at(-1)?.push(test),
    star() {
      stars += 1;
      if (pieces.at(-1)?.length !== 0 || pieces.length === 1) pieces.push([]);
    },
    /** Undefined for an empty segment, which matches no name. */
    finish(isFloating: boolean): PatternSegment | undefined {
      const isEmpty = pieces.every((piece) => piece.length === 0);
      if (stars === 0 && isEmpty) return undefined;
      if (stars > 1 && isEmpty && !isFloating) return { kind: "deep" };
      const [only] = pieces;
      if (stars === 0 && only?.every((test) => typeof test === "string"))
        return { kind: "literal", text: only.join("") };
      const nonEmpty = pieces.filter((piece) => piece.length > 0);
      return {
        kind: "glob",
        pieces: nonEmpty.map(toPiece),
        hasStars: stars > 0,
        isOpenBefore: stars > 0 && pieces[0]?.length === 0,
        isOpenBehind: stars > 0 && pieces.at(-1)?.length === 0,
        minLength: nonEmpty.reduce((sum, piece) => sum + piece.length, 0),
      };
    },
  };
}

function toPiece(tests: readonly (string | ByteTest)[]): Piece {
  if (tests.every((test) => typeof test === "string")) return tests.join("");
  return tests.map((test) => (typeof test === "string" ? oneByte(test) : test));
}

const anyByte = new Uint8Array(256).fill(1);

function oneByte(char: string): ByteTest {
  const test = new Uint8Array(256);
  test[char.charCodeAt(0)] = 1;
  return test;
}

/** Parses `[a-z]`, starting at the bracket. Undefined if it is not closed, or has an unknown class: then nothing matches. */
function parseClass(text: Bytes, from: number): { readonly test: ByteTest; readonly end: number } | undefined {
  const test = new Uint8Array(256);
  let at = from + 1;
  const isInverted = text[at] === "!" || text[at] === "^";
  if (isInverted) at += 1;
  /** The byte that may start a range. */
  let before: number | undefined;
  // A closing bracket in first position is a literal.
  for (let isFirst = true; isFirst || text[at] !== "]"; isFirst = false, at += 1) {
    const char = text[at];
    if (char === undefined) return undefined;
    if (char === "\\") {
      const current = text[(at += 1)];
      if (current === undefined) return undefined;
      test[(before = current.charCodeAt(0))] = 1;
    } else if (char === "-" && before !== undefined && text[at + 1] !== undefined && text[at + 1] !== "]") {
      if (text[(at += 1)] === "\\") at += 1;
      const last = text[at];
      if (last === undefined) return undefined;
      test.fill(1, before, Math.max(before, last.charCodeAt(0) + 1));
      before = undefined;
    } else if (char === "[" && text[at + 1] === ":") {
      const end = text.indexOf("]", at + 2);
      if (end < 0) return undefined;
      if (end === at + 2 || text[end - 1] !== ":") {
        test[(before = char.charCodeAt(0))] = 1;
        continue;
      }
      const named = namedClasses.get(text.slice(at + 2, end - 1));
      if (named === undefined) return undefined;
      for (let byte = 0; byte < 128; byte += 1) if (named.test(String.fromCharCode(byte))) test[byte] = 1;
      before = undefined;
      at = end;
    } else {
      test[(before = char.charCodeAt(0))] = 1;
    }
  }
  if (isInverted) for (let byte = 0; byte < 256; byte += 1) test[byte] = test[byte] === 0 ? 1 : 0;
  return { test, end: at };
}

const namedClasses: ReadonlyMap<string, RegExp> = new Map([
  ["alnum", /[0-9A-Za-z]/],
  ["alpha", /[A-Za-z]/],
  ["blank", /[ \t]/],
  ["cntrl", /[^ -~]/],
  ["digit", /[0-9]/],
  ["graph", /[!-~]/],
  ["lower", /[a-z]/],
  ["print", /[ -~]/],
  ["punct", /[!-/:-@[-`{-~]/],
  ["space", /[ \t\n\r]/],
  ["upper", /[A-Z]/],
  ["xdigit", /[0-9A-Fa-f]/],
]);

function matchesGlob({ pieces, hasStars, isOpenBefore, isOpenBehind, minLength }: Glob, name: Bytes): boolean {
  if (hasStars ? name.length < minLength : name.length !== minLength) return false;
  let next = 0;
  let count = pieces.length;
  let start = 0;
  let end = name.length;
  if (!isOpenBefore && count > 0) {
    const first = pieces[0] as Piece;
    if (!fits(first, name, 0)) return false;
    start = first.length;
    next = 1;
  }
  if (!isOpenBehind && next < count) {
    const last = pieces[count - 1] as Piece;
    end -= last.length;
    if (end < start || !fits(last, name, end)) return false;
    count -= 1;
  }
  // The earliest occurrence of each middle piece is best: it leaves the most text for the rest.
  for (; next < count; next += 1) {
    const piece = pieces[next] as Piece;
    const found = find(piece, name, start);
    if (found < 0 || found + piece.length > end) return false;
    start = found + piece.length;
  }
  return true;
}

function fits(piece: Piece, name: Bytes, at: number): boolean {
  if (typeof piece === "string") return name.startsWith(piece, at);
  for (let index = 0; index < piece.length; index += 1)
    if ((piece[index] as ByteTest)[name.charCodeAt(at + index)] !== 1) return false;
  return true;
}

function find(piece: Piece, name: Bytes, from: number): number {
  if (typeof piece === "string") return name.indexOf(piece, from);
  for (let at = from; at + piece.length <= name.length; at += 1) if (fits(piece, name, at)) return at;
  return -1;
}
