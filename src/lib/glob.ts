/** Path patterns: `*`, `?`, `[a-z]`, `{a,b}` and `**`. Matching takes time proportional to the path, whatever the pattern. */
import { compileGlob, type GlobAutomaton, type Transition } from "./glob-automaton.ts";
import { type GlobPart, parseGlob } from "./glob-syntax.ts";

export interface Glob {
  matches(path: string): boolean;
  /** The same for names directly in a folder: the folder is read once. */
  matchesIn(folder: string): (name: string) => boolean;
  /** Whether something below this path may match. */
  mayLead(path: string): boolean;
  /** Whether a match may be at any depth. */
  readonly isDeep: boolean;
}

/** The pattern cannot be used; the message says why, and what to do. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

const maxLength = 1024;

/** Whether a text is a pattern. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/**
 * Composed and decomposed accents compare equal. `*` and `?` stay within a segment; `**` as a whole segment is any number of segments;
 * `{a,b}` is either, and may contain slashes and further braces; a backslash makes the next character literal.
 */
export function createGlob(pattern: string): Glob {
  return toGlob(parse(pattern));
}

/** Matches what any of the patterns matches, in the time of one. */
export function createGlobUnion(patterns: readonly string[]): Glob {
  return toGlob([{ kind: "choice", choices: patterns.map(parse) }]);
}

function parse(pattern: string): readonly GlobPart[] {
  if (pattern.length > maxLength)
    throw new GlobError(`a pattern has at most ${maxLength} characters; use a shorter one, or several`);
  const parsed = parseGlob(pattern.normalize("NFC"));
  if (parsed === undefined)
    throw new GlobError("its braces are nested too deeply; write the alternatives side by side");
  return parsed;
}

function toGlob(parsed: readonly GlobPart[]): Glob {
  const automaton = compileGlob(parsed);
  const walk = createWalk(automaton);
  return {
    isDeep: automaton.isDeep,
    matches: (path) => walk(path).states.includes(automaton.end),
    matchesIn(folder) {
      const at = walk(folder);
      return (name) => walk(name, at).states.includes(automaton.end);
    },
    mayLead: (path) => walk(path).states.some((state) => state !== automaton.end),
  };
}

/** A set of states of the automaton, with the known transitions from it. */
interface StateSet {
  readonly states: readonly number[];
  readonly next: Map<number, StateSet>;
}

/** More are dropped and computed again: a hostile pattern must not fill the memory. */
const maxSets = 500;

/** Follows a path, from the start or from where another path led, and returns the final states. Known sets of states are not computed again. */
function createWalk({ start, transitions }: GlobAutomaton): (path: string, from?: StateSet) => StateSet {
  const known = new Map<string, StateSet>();
  let first: StateSet | undefined;
  /** The step in which each state was last added, so that none is added twice. */
  const added = new Int32Array(transitions.length).fill(-1);
  let steps = 0;

  /** The states and all that can be reached from them without a character. */
  function setOf(from: readonly number[]): StateSet {
    steps += 1;
    const open = [...from];
    const states: number[] = [];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (added[state] === steps) continue;
      added[state] = steps;
      const transition = transitions[state]!;
      if (transition.kind === "free") open.push(...transition.to);
      else states.push(state);
    }
    const key = states.sort((left, right) => left - right).join();
    let set = known.get(key);
    if (set === undefined) {
      if (known.size >= maxSets) {
        known.clear();
        first = undefined;
      }
      set = { states, next: new Map() };
      known.set(key, set);
    }
    return set;
  }

  function follow(set: StateSet, code: number): StateSet {
    const reached: number[] = [];
    for (const state of set.states) {
      const transition = transitions[state]!;
      if (accepts(transition, code)) reached.push(transition.to);
    }
    const next = setOf(reached);
    if (set.next.size >= maxSets) set.next.clear();
    set.next.set(code, next);
    return next;
  }

  return (path, from) => {
    let set = from ?? (first ??= setOf([start]));
    if (path === "") return set;
    // Every segment ends with a slash, the last one too.
    for (const character of `${path.normalize("NFC")}/`) {
      const code = character.codePointAt(0)!;
      set = set.next.get(code) ?? follow(set, code);
      if (set.states.length === 0) break;
    }
    return set;
  };
}

const slashCode = 0x2f;

function accepts(transition: Transition, code: number): transition is Transition & { readonly to: number } {
  if (transition.kind === "slash" || code === slashCode) return transition.kind === "slash" && code === slashCode;
  if (transition.kind !== "character") return false;
  const { ranges, isInverted } = transition;
  return ranges.some(([first, last]) => first <= code && code <= last) !== isInverted;
}
