/** Matches a URI against a template and extracts the values, in one bounded pass without a regular expression. */
import type { TemplateMatch } from "./uri-template.ts";
import {
  anything,
  type Characters,
  characterSet,
  code,
  type Expression,
  firstChars,
  isListValue,
  none,
  operators,
  percentSign,
  readCharacters,
  type Slot,
  unreserved,
} from "./uri-template-syntax.ts";

export const maxUriLength = 1024 * 1024;
interface LiteralPart {
  readonly kind: "literal";
  readonly codes: Int32Array;
  /** For each prefix of the literal, the length of its longest border. */
  readonly borders: Int32Array;
}

interface ValuePart {
  readonly kind: "value";
  /** The character in front, or `none`. */
  readonly lead: number;
  /** The separator between the values of an exploded variable, or `none`. */
  readonly separator: number;
  readonly accepts: Uint8Array;
  readonly maxChars: number;
  readonly slot: number;
  /** Whether another variable of the same expression precedes it. */
  readonly follows: boolean;
  /** The part after the expression: where to continue if the leading character is missing. */
  readonly behind: number;
}

interface NamedPart {
  readonly kind: "named";
  readonly lead: number;
  readonly separator: number;
  readonly accepts: Uint8Array;
  /** By decoded name, the positions among all slots. */
  readonly slots: ReadonlyMap<string, number>;
  readonly longestName: number;
}

type Part = LiteralPart | ValuePart | NamedPart;

const equalsSign = code("=");
const questionMark = code("?");
// Only strings outlive a match, and matches are not nested: short URIs share this memory.
const scratchLength = 1024;
const scratchCodes = new Int32Array(scratchLength);
const scratchMarks = new Int32Array(scratchLength);

/**
 * Backwards over the template, each part marks the positions in the URI where it and all later parts can match; then one forward pass takes
 * the first choice at every part. Each part reads each character a fixed number of times, whatever the URI.
 */
export function createTemplateMatcher(
  pieces: readonly (string | Expression)[],
  slots: readonly Slot[],
  repeats: boolean,
): (uri: string, meter?: { visits: number }) => TemplateMatch | undefined {
  const parts = toParts(pieces);
  const nothing = new Int32Array();
  const first = parts[0];
  const last = parts.length > 1 ? parts.at(-1) : undefined;
  const head = first?.kind === "literal" ? first.codes : nothing;
  const tail = last?.kind === "literal" ? last.codes : nothing;
  const inner = { from: head === nothing ? 0 : 1, to: parts.length - (tail === nothing ? 0 : 1) };

  return (uri, meter) => {
    if (uri.length > maxUriLength || !mayBegin(uri, head)) return undefined;
    const characters = readCharacters(uri, uri.length <= scratchLength ? scratchCodes : undefined);
    if (characters === undefined) return undefined;
    const { codes, text } = characters;
    const end = text.length - tail.length;
    if (end < head.length || !standsAt(codes, 0, head) || !standsAt(codes, end, tail)) return undefined;
    const stride = text.length + 1;
    const size = stride * ((inner.to >>> 5) + 1);
    const walk: Walk = {
      text,
      codes,
      start: head.length,
      end,
      marks: size <= scratchLength ? scratchMarks.fill(0, 0, size) : new Int32Array(size),
      stride,
      visits: uri.length + text.length,
    };
    mark(walk, inner.to, end);
    for (let index = inner.to - 1; index >= inner.from; index--) {
      const part = parts[index]!;
      if (part.kind === "literal") markLiteral(walk, part, index);
      else if (part.kind === "value") markValue(walk, part, index);
      else markNamed(walk, part, index);
    }
    const values = canBegin(walk, inner.from, walk.start) ? takeValues(walk, parts, inner, slots) : undefined;
    if (meter) meter.visits += walk.visits;
    return values && gather(slots, values, repeats);
  };
}

function toParts(pieces: readonly (string | Expression)[]): Part[] {
  const parts: Part[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (typeof piece === "string") {
      const { codes: all, text } = readCharacters(piece)!;
      const codes = all.slice(0, text.length);
      parts.push({ kind: "literal", codes, borders: bordersOf(codes) });
      continue;
    }
    const { lead, separator, holds, named } = operators[piece.operator]!;
    const behind = parts.length + piece.slots.length;
    if (named) {
      const next = pieces[index + 1];
      const stop = typeof next === "string" ? next.charAt(0) : next ? operators[next.operator]!.lead : "";
      const names = piece.slots.map(
        ({ name }, offset) => [readCharacters(name)!.text, piece.firstSlot + offset] as const,
      );
      parts.push({
        kind: "named",
        lead: code(lead),
        separator: code(separator),
        accepts: characterSet(unreserved.includes(stop) || stop === "=" ? holds : holds.replace(stop, "")),
        slots: new Map(names),
        longestName: Math.max(...names.map(([name]) => name.length)),
      });
      continue;
    }
    const held = holds === anything ? withoutNeeded(pieces.slice(index + 1)) : holds;
    for (const [offset, { maxChars, exploded }] of piece.slots.entries())
      parts.push({
        kind: "value",
        lead: code(offset === 0 ? lead : separator),
        separator: exploded ? code(separator) : none,
        accepts: characterSet(exploded ? held + separator : held),
        maxChars,
        slot: piece.firstSlot + offset,
        follows: offset > 0,
        behind,
      });
  }
  return parts;
}

/** What `{+a}` may contain if these pieces follow it. */
function withoutNeeded(later: readonly (string | Expression)[]): string {
  const needed = (character: string) =>
    later.some((piece) => (typeof piece === "string" ? piece.includes(character) : piece.operator === character));
  return [...anything].filter((character) => (character !== "?" && character !== "#") || !needed(character)).join("");
}

/** The state of matching one URI. */
interface Walk extends Characters {
  /** Behind the literal that opens the template. */
  readonly start: number;
  /** Before the literal that closes it. */
  readonly end: number;
  /** For every 32 parts, a row with one word per position in the URI: the parts that can start there. */
  readonly marks: Int32Array;
  /** The length of such a row. */
  readonly stride: number;
  visits: number;
}

function canBegin({ marks, stride }: Walk, part: number, at: number): boolean {
  return (marks[(part >>> 5) * stride + at]! & (1 << (part & 31))) !== 0;
}

function mark({ marks, stride }: Walk, part: number, at: number): void {
  marks[(part >>> 5) * stride + at]! |= 1 << (part & 31);
}

function markLiteral(walk: Walk, { codes: literal, borders }: LiteralPart, index: number): void {
  const { codes, start, end } = walk;
  let same = 0;
  let visits = 0;
  for (let at = start; at < end; at++) {
    visits++;
    for (; same > 0 && codes[at] !== literal[same]; visits++) same = borders[same]!;
    if (codes[at] === literal[same]) same++;
    if (same < literal.length) continue;
    if (canBegin(walk, index + 1, at + 1)) mark(walk, index, at + 1 - same);
    same = borders[same]!;
  }
  walk.visits += visits;
}

function markValue(walk: Walk, { lead, accepts, maxChars, behind }: ValuePart, index: number): void {
  const { codes, start, end } = walk;
  let fits = false;
  let chars = 0;
  let visits = 0;
  for (let at = end; at >= start; at--) {
    visits++;
    const found = codes[at]!;
    const fitsBehind = fits;
    // The nearest end has the fewest characters: if it is too far, so is every other.
    if (canBegin(walk, index + 1, at)) {
      fits = true;
      chars = 0;
    } else if (fits) {
      if (!isLowSurrogate(found)) chars++;
      fits = accepted(accepts, found) && chars <= maxChars;
    }
    if (lead === none ? fits && !isLowSurrogate(found) : (fitsBehind && found === lead) || canBegin(walk, behind, at))
      mark(walk, index, at);
  }
  walk.visits += visits;
}

function markNamed(walk: Walk, part: NamedPart, index: number): void {
  const { codes, start, end } = walk;
  const { lead, separator, accepts } = part;
  let pairEnd = end;
  /** Where the pairs end that start at the nearest separator. */
  let chainEnd = none;
  let visits = 0;
  for (let at = end; at >= start; at--) {
    visits++;
    const found = codes[at]!;
    if (canBegin(walk, index + 1, at)) mark(walk, index, at);
    if (at === end) continue;
    if (found === lead || found === separator) {
      const known = slotAt(walk, part, at, pairEnd) !== undefined;
      const goesOn = chainEnd !== none && pairEnd < end && codes[pairEnd] === separator;
      const pairsEnd = known ? (goesOn ? chainEnd : pairEnd) : none;
      if (found === lead && pairsEnd !== none && canBegin(walk, index + 1, pairsEnd)) mark(walk, index, at);
      if (found === separator) chainEnd = pairsEnd;
    }
    if (!accepted(accepts, found)) pairEnd = at;
  }
  walk.visits += visits;
}

/** The slot whose name follows this separator, and where the name ends. */
function slotAt(
  walk: Walk,
  { slots, longestName }: NamedPart,
  at: number,
  pairEnd: number,
): { slot: number; nameEnd: number } | undefined {
  const limit = Math.min(pairEnd, at + longestName + 2);
  let nameEnd = at + 1;
  // A name also ends before "?", so that no character is read twice.
  while (nameEnd < limit && walk.codes[nameEnd] !== equalsSign && walk.codes[nameEnd] !== questionMark) nameEnd++;
  walk.visits += nameEnd - at;
  if (nameEnd < pairEnd && walk.codes[nameEnd] !== equalsSign) return undefined;
  const slot = slots.get(walk.text.slice(at + 1, nameEnd));
  return slot === undefined ? undefined : { slot, nameEnd };
}

type Taken = string | string[] | undefined;

/** The value of every slot, or undefined if a parameter is repeated or too long. */
function takeValues(
  walk: Walk,
  parts: readonly Part[],
  { from, to }: { readonly from: number; readonly to: number },
  slots: readonly Slot[],
): Taken[] | undefined {
  const { codes, text, start, end } = walk;
  const values: Taken[] = slots.map(() => undefined);
  let at = start;
  for (let index = from; index < to;) {
    const part = parts[index]!;
    if (part.kind === "literal") {
      at += part.codes.length;
      index++;
    } else if (part.kind === "value") {
      const begin = part.lead === none ? at : at + 1;
      const stop =
        part.lead === none || (at < end && codes[at] === part.lead) ? nearestEnd(walk, part, index, begin) : none;
      if (stop === none) {
        index = part.behind;
        continue;
      }
      // A comma after nothing means that the previous variable is present and empty.
      if (part.follows) values[part.slot - 1] ??= slots[part.slot - 1]!.exploded ? [""] : "";
      if (part.lead !== none || stop > begin)
        values[part.slot] =
          part.separator === none ? text.slice(begin, stop) : splitAt(walk, part.separator, begin, stop);
      at = stop;
      index++;
    } else {
      const pairs = takePairs(walk, part, at);
      index++;
      if (!canBegin(walk, index, pairs.end)) continue;
      at = pairs.end;
      for (const { slot, value } of pairs.found) {
        const known = values[slot];
        const { exploded, maxChars } = slots[slot]!;
        if (Array.isArray(known)) known.push(value);
        else if (known !== undefined || firstChars(value, maxChars) !== value) return undefined;
        else values[slot] = exploded ? [value] : value;
      }
    }
  }
  return values;
}

/** The first position from here where the next part can start. */
function nearestEnd(walk: Walk, { accepts, maxChars }: ValuePart, index: number, begin: number): number {
  let chars = 0;
  for (let at = begin; at <= walk.end; at++) {
    walk.visits++;
    if (canBegin(walk, index + 1, at)) return at;
    const found = walk.codes[at]!;
    if (!isLowSurrogate(found)) chars++;
    if (!accepted(accepts, found) || chars > maxChars) return none;
  }
  return none;
}

function splitAt(walk: Walk, separator: number, begin: number, end: number): string[] {
  const { codes, text } = walk;
  const values: string[] = [];
  let from = begin;
  for (let at = begin; at < end; at++) {
    if (codes[at] !== separator) continue;
    values.push(text.slice(from, at));
    from = at + 1;
  }
  values.push(text.slice(from, end));
  walk.visits += end - begin;
  return values;
}

/** All pairs from here with known names, and where they end. */
function takePairs(
  walk: Walk,
  part: NamedPart,
  begin: number,
): { found: { slot: number; value: string }[]; end: number } {
  const { codes, text, end } = walk;
  const found: { slot: number; value: string }[] = [];
  let at = begin;
  while (at < end && codes[at] === (at === begin ? part.lead : part.separator)) {
    let pairEnd = at + 1;
    while (pairEnd < end && accepted(part.accepts, codes[pairEnd]!)) pairEnd++;
    walk.visits += pairEnd - at;
    const named = slotAt(walk, part, at, pairEnd);
    if (named === undefined) break;
    found.push({ slot: named.slot, value: text.slice(named.nameEnd + 1, pairEnd) });
    at = pairEnd;
  }
  return { found, end: at };
}

/** One value for each name, or undefined if a name has two values. */
function gather(slots: readonly Slot[], values: readonly Taken[], repeats: boolean): TemplateMatch | undefined {
  const match = new Map<string, string | readonly string[]>();
  for (let index = 0; index < slots.length; index++) {
    const { name } = slots[index]!;
    const value = values[index];
    const known = match.get(name);
    // A value cut to a length is a prefix of the full value.
    if (
      value !== undefined &&
      (known === undefined || isListValue(value) || (!isListValue(known) && value.length > known.length))
    )
      match.set(name, value);
  }
  if (!repeats) return match;
  const agrees = ({ name, maxChars }: Slot, index: number) => {
    const value = values[index] ?? "";
    const whole = match.get(name) ?? "";
    if (isListValue(value) && isListValue(whole))
      return value.length === whole.length && value.every((text, at) => text === whole[at]);
    return String(value) === firstChars(String(whole), maxChars);
  };
  return slots.every(agrees) ? match : undefined;
}

/** Whether the URI can match at all. */
function mayBegin(uri: string, head: Int32Array): boolean {
  for (let at = 0; at < head.length; at++) {
    const found = uri.charCodeAt(at);
    if (found !== head[at] || found > 127) return found === percentSign || found > 127 || head[at]! > 127;
  }
  return true;
}

function standsAt(codes: Int32Array, begin: number, literal: Int32Array): boolean {
  for (let at = 0; at < literal.length; at++) if (codes[begin + at] !== literal[at]) return false;
  return true;
}

/** For each prefix, the length of its longest border. */
function bordersOf(literal: Int32Array): Int32Array {
  const borders = new Int32Array(literal.length + 1);
  for (let at = 1, same = 0; at < literal.length; at++) {
    while (same > 0 && literal[at] !== literal[same]) same = borders[same]!;
    if (literal[at] === literal[same]) same++;
    borders[at + 1] = same;
  }
  return borders;
}

function accepted(set: Uint8Array, found: number): boolean {
  return found > 127 || set[found] === 1;
}

function isLowSurrogate(found: number): boolean {
  return (found & 0x1fc00) === 0xdc00;
}
