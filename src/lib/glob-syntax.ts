/** Parses a path pattern. Braces that do not close or hold no comma, and brackets that do not close, are ordinary characters. */

export type GlobPart =
  | { readonly kind: "slash" }
  | { readonly kind: "star" }
  /** `**`: any number of segments if it is a whole segment, else like `*`. */
  | { readonly kind: "double star" }
  | { readonly kind: "character"; readonly ranges: Ranges; readonly isInverted: boolean }
  | { readonly kind: "choice"; readonly choices: readonly (readonly GlobPart[])[] };

/** Code points, first and last. */
export type Ranges = readonly (readonly [first: number, last: number])[];

/** Far more than people write, and few enough for recursion. */
const maxDepth = 20;

type Token = GlobPart | { readonly kind: "open" } | { readonly kind: "comma" } | { readonly kind: "close" };

/** Undefined if braces are nested too deeply. */
export function parseGlob(pattern: string): readonly GlobPart[] | undefined {
  const tokens = tokenize(Array.from(pattern));
  const braces = findBraces(tokens);
  /** The alternatives so far of each open brace, the whole pattern outermost. */
  const open: GlobPart[][][] = [[[]]];
  for (const [at, token] of tokens.entries()) {
    const innermost = open.at(-1)!;
    const parts = innermost.at(-1)!;
    if (token.kind === "open" && braces.has(at)) {
      if (open.length > maxDepth) return undefined;
      open.push([[]]);
    } else if (token.kind === "comma" && braces.has(at)) innermost.push([]);
    else if (token.kind === "close" && braces.has(at)) {
      open.pop();
      open.at(-1)!.at(-1)!.push({ kind: "choice", choices: innermost });
    } else if (token.kind === "open") parts.push(literal("{"));
    else if (token.kind === "comma") parts.push(literal(","));
    else if (token.kind === "close") parts.push(literal("}"));
    else parts.push(token);
  }
  return open[0]![0]!;
}

/** The positions of braces that close and have alternatives, and of their commas. */
function findBraces(tokens: readonly Token[]): ReadonlySet<number> {
  const found = new Set<number>();
  const open: number[][] = [];
  for (const [at, { kind }] of tokens.entries()) {
    if (kind === "open") open.push([at]);
    else if (kind === "comma") open.at(-1)?.push(at);
    else if (kind === "close") {
      const closed = open.pop();
      if (closed && closed.length > 1) for (const place of [...closed, at]) found.add(place);
    }
  }
  return found;
}

function tokenize(characters: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    switch (character) {
      case "/":
        tokens.push({ kind: "slash" });
        break;
      case "*": {
        const from = at;
        while (characters[at + 1] === "*") at += 1;
        tokens.push({ kind: at - from === 1 ? "double star" : "star" });
        break;
      }
      case "?":
        tokens.push({ kind: "character", ranges: [], isInverted: true });
        break;
      case "{":
        tokens.push({ kind: "open" });
        break;
      case ",":
        tokens.push({ kind: "comma" });
        break;
      case "}":
        tokens.push({ kind: "close" });
        break;
      case "\\":
        // A slash is a separator, escaped or not.
        if (characters[at + 1] !== "/") tokens.push(literal(characters[(at += 1)] ?? character));
        break;
      case "[": {
        const found = parseClass(characters, at);
        tokens.push(found?.part ?? literal(character));
        if (found) at = found.end;
        break;
      }
      default:
        tokens.push(literal(character));
    }
  }
  return tokens;
}

function literal(character: string): GlobPart {
  const code = character.codePointAt(0)!;
  return { kind: "character", ranges: [[code, code]], isInverted: false };
}

/** `[a-z]`, `[!a-z]`, `[^a-z]`, from its bracket on; undefined if it does not close within its segment. */
function parseClass(
  characters: readonly string[],
  from: number,
): { readonly part: GlobPart; readonly end: number } | undefined {
  const ranges: [number, number][] = [];
  let at = from + 1;
  const isInverted = characters[at] === "!" || characters[at] === "^";
  if (isInverted) at += 1;
  /** The code point here, after a backslash if there is one; undefined at the end of the segment. */
  const codeHere = (): number | undefined => {
    if (characters[at] === "\\") at += 1;
    const character = characters[at];
    return character === "/" ? undefined : character?.codePointAt(0);
  };
  // A closing bracket in first position is an ordinary character.
  for (let isFirst = true; isFirst || characters[at] !== "]"; isFirst = false, at += 1) {
    const first = codeHere();
    if (first === undefined) return undefined;
    let last: number | undefined = first;
    if (characters[at + 1] === "-" && characters[at + 2] !== undefined && characters[at + 2] !== "]") {
      at += 2;
      last = codeHere();
      if (last === undefined) return undefined;
    }
    ranges.push([first, last]);
  }
  return { part: { kind: "character", ranges, isInverted }, end: at };
}
