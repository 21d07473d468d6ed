/** Path patterns: `*`, `?`, `[a-z]`, `{a,b}` and `**`. Matching takes time proportional to the path; in the worst case, times the length of the pattern. */
import { compileGlob, type GlobAutomaton, type Transition } from "./glob-automaton.ts";
import { type GlobPart, parseGlob } from "./glob-syntax.ts";

export interface Glob {
  matches(path: string): boolean;
  /**
   * The same for paths directly in a folder, which is read once: `nameAt` is where their name begins. With `isLower`, the pattern is in
   * lower case and case does not matter.
   */
  matchesIn(folder: string, isLower?: boolean): (path: string, nameAt: number) => boolean;
  /** Whether something below this path may match. */
  mayLead(path: string): boolean;
  /** Whether a match may be at any depth. */
  readonly isDeep: boolean;
}

/** The pattern cannot be used; the message says why, and what to do. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

/** Of a pattern. */
export const maxGlobLength = 1024;

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
  if (pattern.length > maxGlobLength)
    throw new GlobError(`a pattern has at most ${maxGlobLength} characters; use a shorter one, or several`);
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
    matchesIn(folder, isLower = false) {
      const inFolder = walk(folder);
      return (path, nameAt) => {
        if (excludes(inFolder, path, nameAt, isLower)) return false;
        const name = path.slice(nameAt);
        return walk(isLower ? name.toLowerCase() : name, inFolder).states.includes(automaton.end);
      };
    },
    mayLead: (path) => walk(path).states.some((state) => state !== automaton.end),
  };
}

/** A set of states of the automaton, with the known transitions from it. */
interface StateSet {
  readonly states: readonly number[];
  readonly next: Map<number, StateSet>;
  /** Whether the pattern can end with the current name. */
  readonly mayEnd: boolean;
}

/** More are dropped and computed again: a hostile pattern must not fill the memory. */
const maxSets = 500;

/** Whether the first characters of a name show that it does not match, as for most names. Decides by known sets and plain characters only. */
function excludes(from: StateSet, path: string, nameAt: number, isLower: boolean): boolean {
  let set: StateSet | undefined = from;
  for (let at = nameAt; at < path.length; at += 1) {
    const code = path.charCodeAt(at);
    // The next character may change this one, as an accent does.
    if (code > 0x7f || path.charCodeAt(at + 1) > 0x7f) return false;
    set = set.next.get(isLower && code > 0x40 && code < 0x5b ? code + 0x20 : code);
    if (set === undefined) return false;
    if (!set.mayEnd) return true;
  }
  return false;
}

/** Follows a path, from the start or from where another path led, and returns the final states. Known sets of states are not computed again. */
function createWalk(automaton: GlobAutomaton): (path: string, from?: StateSet) => StateSet {
  const { start, transitions } = automaton;
  const ending = endingStates(automaton);
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
      set = { states, next: new Map(), mayEnd: states.some((state) => ending.has(state)) };
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
    const text = path.normalize("NFC");
    for (let at = 0; at < text.length; at += 1) {
      const code = text.codePointAt(at)!;
      if (code > 0xffff) at += 1;
      set = set.next.get(code) ?? follow(set, code);
      if (set.states.length === 0) return set;
    }
    // Every segment ends with a slash, the last one too.
    return set.next.get(slashCode) ?? follow(set, slashCode);
  };
}

/** The states from which the end can be reached with the rest of a name and the slash behind it. */
function endingStates({ end, transitions }: GlobAutomaton): ReadonlySet<number> {
  const before = (kind: Transition["kind"]): number[][] => {
    const sources: number[][] = transitions.map(() => []);
    for (const [state, transition] of transitions.entries())
      if (transition.kind === kind && transition.kind !== "end")
        for (const to of [transition.to].flat()) sources[to]!.push(state);
    return sources;
  };
  const [free, character, slash] = [before("free"), before("character"), before("slash")];
  const ends = reach([end], [free]);
  return reach(
    [...ends].flatMap((state) => slash[state]!),
    [free, character],
  );
}

function reach(from: Iterable<number>, edges: readonly number[][][]): Set<number> {
  const found = new Set(from);
  // A set that grows while it is iterated passes the new states too.
  for (const state of found) for (const sources of edges) for (const each of sources[state]!) found.add(each);
  return found;
}

const slashCode = 0x2f;

function accepts(transition: Transition, code: number): transition is Transition & { readonly to: number } {
  if (transition.kind === "slash" || code === slashCode) return transition.kind === "slash" && code === slashCode;
  if (transition.kind !== "character") return false;
  const { ranges, isInverted } = transition;
  return ranges.some(([first, last]) => first <= code && code <= last) !== isInverted;
}
