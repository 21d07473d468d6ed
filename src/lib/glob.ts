/** Patterns of paths: `*`, `?`, `[a-z]`, `{a,b}` and `**`. Matched step by step, so that no pattern takes long. */

export interface Glob {
  matches(path: string): boolean;
  /** Whether something below this path may match. */
  mayLead(path: string): boolean;
  /** Whether a match may stand at any depth. */
  readonly isDeep: boolean;
}

/** The pattern cannot be meant; the message says why. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

/** What is said of one character. */
type CharacterTest = { readonly literal: string } | { readonly isInverted: boolean; readonly ranges: readonly Range[] };
type Range = readonly [first: number, last: number];
/** Any number of things, or one of which something is said. */
type Step<Test> = { readonly kind: "many" } | { readonly kind: "one"; readonly test: Test };
type Segment = readonly Step<CharacterTest>[];

const maxLength = 4096;
const maxAlternatives = 1000;

/** Whether a text is written as a pattern. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/**
 * Accents compare equal however they are put together. `*` and `?` stay within a segment; `**` as a segment is any number of them; a
 * backslash takes the meaning from what follows.
 */
export function createGlob(pattern: string): Glob {
  if (pattern.length > maxLength) throw new GlobError(`a pattern has at most ${maxLength} characters`);
  const ways = expand(pattern.normalize("NFC")).map((way) => splitSegments(way).map(parseSegment));
  return {
    isDeep: ways.some((way) => way.some((step) => step.kind === "many")),
    matches(path) {
      const names = namesOf(path);
      return ways.some((way) => fits(way, names, matchesName));
    },
    mayLead(path) {
      const names = namesOf(path);
      return ways.some((way) => leads(way, names));
    },
  };
}

function namesOf(path: string): string[] {
  return path === "" ? [] : path.normalize("NFC").split("/");
}

/** `a{b,c}d` as `abd` and `acd`. A brace that does not close, or holds no comma, is a brace. */
function expand(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const brace = findBrace(next);
    if (brace) for (const choice of brace.choices.toReversed()) open.push(brace.before + choice + brace.behind);
    else done.push(next);
    if (open.length + done.length > maxAlternatives)
      throw new GlobError(`a pattern may stand for at most ${maxAlternatives} others; this one has too many braces`);
  }
  return done;
}

interface Brace {
  readonly before: string;
  readonly choices: readonly string[];
  readonly behind: string;
}

/** The first outermost brace that closes and has a choice. */
function findBrace(text: string): Brace | undefined {
  /** Where each brace that is still open begins, and each of its commas. */
  const open: number[][] = [];
  let cuts: readonly number[] | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "{") open.push([at]);
    else if (char === ",") open.at(-1)?.push(at);
    else if (char === "}") {
      const closed = open.pop();
      if (closed && closed.length > 1 && (!cuts || closed[0]! < cuts[0]!)) cuts = [...closed, at];
      if (cuts && open.length === 0) break;
    }
  }
  if (!cuts) return undefined;
  const choices = cuts.slice(1).map((cut, index) => text.slice(cuts[index]! + 1, cut));
  return { before: text.slice(0, cuts[0]), choices, behind: text.slice(cuts.at(-1)! + 1) };
}

function splitSegments(way: string): string[] {
  const segments = [""];
  for (let at = 0; at < way.length; at += 1) {
    const char = way[at]!;
    if (char === "/") segments.push("");
    else segments[segments.length - 1] += char === "\\" ? char + (way[(at += 1)] ?? "") : char;
  }
  return segments;
}

function parseSegment(text: string): Step<Segment> {
  if (text === "**") return { kind: "many" };
  const steps: Step<CharacterTest>[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    const char = characters[at]!;
    if (char === "*") {
      if (steps.at(-1)?.kind !== "many") steps.push({ kind: "many" });
    } else if (char === "?") steps.push({ kind: "one", test: anyCharacter });
    else if (char === "[") {
      const parsed = parseClass(characters, at);
      steps.push({ kind: "one", test: parsed?.test ?? { literal: char } });
      if (parsed) at = parsed.end;
    } else steps.push({ kind: "one", test: { literal: char === "\\" ? (characters[(at += 1)] ?? char) : char } });
  }
  return { kind: "one", test: steps };
}

const anyCharacter: CharacterTest = { isInverted: true, ranges: [] };

/** From its bracket on; undefined if it does not end, and the bracket is one of the name. */
function parseClass(
  characters: readonly string[],
  from: number,
): { readonly test: CharacterTest; readonly end: number } | undefined {
  const ranges: Range[] = [];
  let at = from + 1;
  const isInverted = characters[at] === "!" || characters[at] === "^";
  if (isInverted) at += 1;
  // A bracket that stands first is one of the characters.
  for (let isFirst = true; isFirst || characters[at] !== "]"; isFirst = false, at += 1) {
    if (characters[at] === "\\") at += 1;
    const first = characters[at]?.codePointAt(0);
    if (first === undefined) return undefined;
    let last = first;
    if (characters[at + 1] === "-" && characters[at + 2] !== undefined && characters[at + 2] !== "]") {
      at += characters[at + 2] === "\\" ? 3 : 2;
      const end = characters[at]?.codePointAt(0);
      if (end === undefined) return undefined;
      last = end;
    }
    ranges.push([first, last]);
  }
  return { test: { isInverted, ranges }, end: at };
}

function matchesName(segment: Segment, name: string): boolean {
  return fits(segment, Array.from(name), matchesCharacter);
}

function matchesCharacter(test: CharacterTest, character: string): boolean {
  if ("literal" in test) return test.literal === character;
  const code = character.codePointAt(0)!;
  return test.ranges.some(([first, last]) => first <= code && code <= last) !== test.isInverted;
}

/**
 * Whatever follows a "many" is taken where it first fits: if that leads nowhere, only the last "many" needs to take more. So the time
 * is at most the product of both lengths.
 */
function fits<Test, Thing>(
  steps: readonly Step<Test>[],
  things: readonly Thing[],
  test: (test: Test, thing: Thing) => boolean,
): boolean {
  let step = 0;
  let thing = 0;
  let lastMany = -1;
  let resume = 0;
  while (thing < things.length) {
    const current = steps[step];
    if (current?.kind === "many") {
      lastMany = step;
      resume = thing;
      step += 1;
    } else if (current && test(current.test, things[thing]!)) {
      step += 1;
      thing += 1;
    } else if (lastMany >= 0) {
      resume += 1;
      thing = resume;
      step = lastMany + 1;
    } else return false;
  }
  while (steps[step]?.kind === "many") step += 1;
  return step === steps.length;
}

function leads(way: readonly Step<Segment>[], names: readonly string[]): boolean {
  for (const [index, name] of names.entries()) {
    const step = way[index];
    if (step === undefined) return false;
    if (step.kind === "many") return true;
    if (!matchesName(step.test, name)) return false;
  }
  return names.length < way.length;
}
