/** A path pattern as a nondeterministic automaton: each part becomes a few states, and braces never multiply them. */
import type { GlobPart, Ranges } from "./glob-syntax.ts";

/** A transition from a state. */
export type Transition =
  | { readonly kind: "free"; readonly to: readonly number[] }
  | { readonly kind: "slash"; readonly to: number }
  /** Any one character but a slash, inside or outside the ranges. */
  | { readonly kind: "character"; readonly ranges: Ranges; readonly isInverted: boolean; readonly to: number }
  | { readonly kind: "end" };

export interface GlobAutomaton {
  /** By state. */
  readonly transitions: readonly Transition[];
  readonly start: number;
  readonly end: number;
  /** Whether a match may be at any depth. */
  readonly isDeep: boolean;
}

/**
 * States with open transitions, one for each situation: at the start of a segment, within one, or behind a `**` that was a whole segment so
 * far.
 */
interface Ways {
  readonly start?: number;
  readonly within?: number;
  readonly behindDoubleStar?: number;
}

const anyCharacter = { ranges: [], isInverted: true } as const;

/** A path is read with a slash after each of its segments. */
export function compileGlob(pattern: readonly GlobPart[]): GlobAutomaton {
  const transitions: Transition[] = [];
  const freeEdges: number[][] = [];
  /** States that repeat segments. */
  const repeats: number[] = [];

  function add(transition: Transition): number {
    transitions.push(transition);
    return transitions.length - 1;
  }

  function addFree(): number {
    const to: number[] = [];
    const state = add({ kind: "free", to });
    freeEdges[state] = to;
    return state;
  }

  function connect(from: number | undefined, to: number): void {
    if (from !== undefined) freeEdges[from]!.push(to);
  }

  function join(from: readonly (number | undefined)[]): number | undefined {
    if (from.every((state) => state === undefined)) return undefined;
    const joined = addFree();
    for (const state of new Set(from)) connect(state, joined);
    return joined;
  }

  /** Any number of characters, and back to the start. */
  function addLoop(): number {
    const loop = addFree();
    connect(loop, add({ kind: "character", ...anyCharacter, to: loop }));
    return loop;
  }

  function addSlash({ start, within, behindDoubleStar }: Ways): Ways {
    const next = addFree();
    const passed = add({ kind: "slash", to: next });
    connect(start, passed);
    connect(within, passed);
    // The slashes of the segments that it matches were consumed with them.
    connect(behindDoubleStar, next);
    return { start: next };
  }

  function addStar({ start, within }: Ways): Ways {
    const loop = addLoop();
    connect(start, loop);
    connect(within, loop);
    return { within: loop };
  }

  function addDoubleStar(ways: Ways): Ways {
    if (ways.start === undefined) return addStar(ways);
    const segments = addFree();
    const segment = addLoop();
    connect(segments, segment);
    connect(segment, add({ kind: "slash", to: segments }));
    connect(ways.start, segments);
    repeats.push(segments);
    return { ...addStar(ways), behindDoubleStar: segments };
  }

  function addCharacter(
    { start, within }: Ways,
    { ranges, isInverted }: GlobPart & { readonly kind: "character" },
  ): Ways {
    const next = addFree();
    const read = add({ kind: "character", ranges, isInverted, to: next });
    connect(start, read);
    connect(within, read);
    return { within: next };
  }

  function addChoice(ways: Ways, choices: readonly (readonly GlobPart[])[]): Ways {
    const ends = choices.map((choice) => addAll(ways, choice));
    const start = join(ends.map((end) => end.start));
    const within = join(ends.map((end) => end.within));
    const behindDoubleStar = join(ends.map((end) => end.behindDoubleStar));
    return { start, within, behindDoubleStar };
  }

  function addAll(ways: Ways, parts: readonly GlobPart[]): Ways {
    let here = ways;
    for (const part of parts) {
      if (part.kind === "slash") here = addSlash(here);
      else if (part.kind === "star") here = addStar(here);
      else if (part.kind === "double star") here = addDoubleStar(here);
      else if (part.kind === "character") here = addCharacter(here, part);
      else here = addChoice(here, part.choices);
    }
    return here;
  }

  const start = addFree();
  const { start: last } = addSlash(addAll({ start }, pattern));
  const end = add({ kind: "end" });
  connect(last, end);
  const useful = leadingTo(end, transitions);
  return {
    // States that cannot lead to a match are removed, so that every state stands for a possible match.
    transitions: transitions.map((transition) =>
      transition.kind === "free"
        ? { kind: "free", to: transition.to.filter((state) => useful.has(state)) }
        : transition,
    ),
    start,
    end,
    isDeep: repeats.some((state) => useful.has(state)),
  };
}

function leadingTo(end: number, transitions: readonly Transition[]): ReadonlySet<number> {
  const before: number[][] = transitions.map(() => []);
  transitions.forEach((transition, state) => {
    if (transition.kind === "free") for (const to of transition.to) before[to]!.push(state);
    else if (transition.kind !== "end") before[transition.to]!.push(state);
  });
  const found = new Set([end]);
  // The set grows during the iteration.
  for (const state of found) for (const earlier of before[state]!) found.add(earlier);
  return found;
}
