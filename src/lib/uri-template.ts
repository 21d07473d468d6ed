/** URI templates (RFC 6570, level 4) both ways: values into a URI, and a URI back into values in one bounded walk. */
import { StdUriTemplate } from "@std-uritemplate/std-uritemplate";

export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

/**
 * What a URI says of a template's variables, decoded: an array for an exploded variable, a string for any other. What the URI
 * leaves out is absent, and so is a `{a}` or `{+a}` that stands for nothing. A Map, so that `__proto__` is a name like any other.
 */
export type Match = ReadonlyMap<string, string | readonly string[]>;

/**
 * What may stand for a variable, apart from escapes and characters beyond ASCII, which always may:
 * - `{a}` `{.a}`: letters, digits, `-._~`;
 * - `{/a}` `{;a}`: what a path's segment may hold, in `{;a}` without ";";
 * - `{?a}` `{&a}`: what a query may hold without "&";
 * - `{+a}` `{#a}`: all that a URI may hold, but "?" and "#" only where nothing later in the template holds them.
 *
 * Where several readings fit, from left to right: a variable takes as little as lets the rest fit; one with a mark of its own
 * in front (`{/a}`, `{.a}`, `{#a}`, and `b` in `{a,b}`) is there whenever it can be; `{?a,b}`, `{&a,b}` and `{;a,b}` take all the
 * parameters they know, in any order. A variable that stands twice must say the same in both places of that reading.
 */
export interface UriTemplate {
  readonly template: string;
  /** Every name once, in the order of the template. */
  readonly variables: readonly string[];
  /** Throws where a value cannot be written: half of a surrogate pair, or a list for a variable with a length. */
  expand(values: Readonly<Record<string, TemplateValue | undefined>>): string;
  /** A URI that is malformed or longer than `maxUriLength` matches nothing. `meter` learns how many characters were looked at. */
  match(uri: string, meter?: { visits: number }): Match | undefined;
}

export const maxTemplateLength = 8 * 1024;
export const maxVariables = 64;
export const maxUriLength = 1024 * 1024;

/** One place where a variable stands. */
interface Slot {
  readonly name: string;
  readonly maxChars: number;
  readonly exploded: boolean;
}

interface Expression {
  readonly operator: string;
  readonly slots: readonly Slot[];
  /** The place of its first slot among all slots of the template. */
  readonly firstSlot: number;
}

/** Characters as the matcher sees them, with the text that they stand for. An escaped reserved character is not the character. */
interface Characters {
  readonly text: string;
  /** At least one for each unit of the text. */
  readonly codes: Int32Array;
}

interface LiteralPart {
  readonly kind: "literal";
  readonly codes: Int32Array;
  /** For each length, how much of the literal's beginning is also the end of its first so many characters. */
  readonly borders: Int32Array;
}

interface ValuePart {
  readonly kind: "value";
  /** The mark in front, or `none`. */
  readonly lead: number;
  /** What stands between the values of an exploded variable, or `none`. */
  readonly separator: number;
  readonly accepts: Uint8Array;
  readonly maxChars: number;
  readonly slot: number;
  /** Whether another variable of the same expression stands before it. */
  readonly follows: boolean;
  /** The part behind the expression: where to go on when there is no mark. */
  readonly behind: number;
}

interface NamedPart {
  readonly kind: "named";
  readonly lead: number;
  readonly separator: number;
  readonly accepts: Uint8Array;
  /** By decoded name, the places among all slots. */
  readonly slots: ReadonlyMap<string, number>;
  readonly longestName: number;
}

type Part = LiteralPart | ValuePart | NamedPart;

const none = -1;
const escaped = 0x10000;
const percent = code("%");
const equalsSign = code("=");
const questionMark = code("?");

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const segment = `${unreserved}!$&'()*+,;=:@`;
const anything = `${segment}/?#[]`;
const isUnreserved = characterSet(unreserved);
const isLegal = characterSet(anything);

const operators: Readonly<Record<string, { lead: string; separator: string; holds: string; named?: boolean }>> = {
  "": { lead: "", separator: ",", holds: unreserved },
  "+": { lead: "", separator: ",", holds: anything },
  "#": { lead: "#", separator: ",", holds: anything },
  ".": { lead: ".", separator: ".", holds: unreserved },
  "/": { lead: "/", separator: "/", holds: segment },
  ";": { lead: ";", separator: ";", holds: segment.replace(";", ""), named: true },
  "?": { lead: "?", separator: "&", holds: `${segment}/?`.replace("&", ""), named: true },
  "&": { lead: "&", separator: "&", holds: `${segment}/?`.replace("&", ""), named: true },
};

export function parseTemplate(template: string): UriTemplate {
  const pieces = splitTemplate(template);
  const written = pieces.map((piece) => (typeof piece === "string" ? escapeBeyondAscii(piece) : piece));
  const slots = pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.slots));
  const variables = [...new Set(slots.map(({ name }) => name))];
  return {
    template,
    variables,
    expand: (values) =>
      written.map((piece) => (typeof piece === "string" ? piece : expandExpression(piece, values))).join(""),
    match: createMatcher(pieces, slots, variables.length < slots.length),
  };
}

/** Literals and expressions in turn. */
function splitTemplate(template: string): (string | Expression)[] {
  if (template.length > maxTemplateLength)
    throw new Error(`the template ${quoted(template)} is too long; it may have ${maxTemplateLength} characters`);
  const pieces: (string | Expression)[] = [];
  let firstSlot = 0;
  for (let at = 0; at < template.length;) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal !== "") pieces.push(checkLiteral(literal));
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw new Error(`the expression ${quoted(template.slice(open))} never ends; close it with "}"`);
    const expression = parseExpression(template.slice(open + 1, close), firstSlot);
    firstSlot += expression.slots.length;
    if (firstSlot > maxVariables) throw new Error(`the template has more than ${maxVariables} variables; use fewer`);
    pieces.push(expression);
    at = close + 1;
  }
  return pieces;
}

function checkLiteral(literal: string): string {
  if (readCharacters(literal) === undefined)
    throw new Error(
      `the text ${quoted(literal)} in a template is no part of a URI; escape what a URI cannot hold, as in "%20"`,
    );
  return literal;
}

const variable = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::([1-9]\d{0,3})|(\*))?$/;

function parseExpression(inner: string, firstSlot: number): Expression {
  const operator = inner !== "" && Object.hasOwn(operators, inner.charAt(0)) ? inner.charAt(0) : "";
  const slots = inner
    .slice(operator.length)
    .split(",", maxVariables + 1)
    .map((text): Slot => {
      const [, name, length, star] = variable.exec(text) ?? [];
      if (name === undefined || readCharacters(name) === undefined)
        throw new Error(
          `${quoted(text)} in the expression ${quoted(`{${inner}}`)} is no variable; write a name of letters, digits, "_" and ".", then perhaps "*" or ":" and a length up to 9999`,
        );
      return { name, maxChars: length === undefined ? Infinity : Number(length), exploded: star !== undefined };
    });
  return { operator, slots, firstSlot };
}

// ── Values into a URI ──

function expandExpression(
  { operator, slots }: Expression,
  values: Readonly<Record<string, TemplateValue | undefined>>,
): string {
  const keepsReserved = operator === "+" || operator === "#";
  const given: Record<string, TemplateValue> = Object.create(null);
  const specs = slots.map(({ name, maxChars, exploded }, index) => {
    // Where names are not written, each place gets its own: the same variable may stand there cut to two lengths.
    const key = keepsReserved ? `v${index}` : name;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) {
      if (maxChars !== Infinity && typeof value !== "string")
        throw new Error(`the variable ${quoted(name)} is cut to ${maxChars} characters, so its value must be one text`);
      given[key] = mapTexts(value, (text) => {
        if (!text.isWellFormed())
          throw new Error(`the value of ${quoted(name)} holds half of a surrogate pair; no URI can`);
        return keepsReserved ? keepReserved(firstChars(text, maxChars)) : text;
      });
    }
    return `${key}${exploded ? "*" : maxChars === Infinity || keepsReserved ? "" : `:${maxChars}`}`;
  });
  const expanded = StdUriTemplate.expand(
    `{${operator}${specs.join(",")}}`,
    given as Parameters<typeof StdUriTemplate.expand>[1],
  );
  if (keepsReserved) return expanded.replaceAll('"', "%");
  // The library leaves these four reserved characters as they are, and "=" behind a name of `{;a*}` without a value.
  const escapedFully = expanded.replace(/['()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
  return operator === ";" ? escapedFully.replace(/=(?=;|$)/g, "") : escapedFully;
}

/**
 * Escapes what may not stand in `{+a}`, with `"` for "%": the library would escape the escapes of characters beyond ASCII once
 * more and lose the first of two "%", but passes `"` on.
 */
function keepReserved(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^\w\-.~!$&'()*+,;=:@/?#[\]]/gu, (found) =>
    (found.length === 3 ? found : encodeURIComponent(found)).replaceAll("%", '"'),
  );
}

function mapTexts(value: TemplateValue, change: (text: string) => string): TemplateValue {
  if (typeof value === "string") return change(value);
  if (isList(value)) return value.map(change);
  const changed: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(value)) changed[change(key)] = change(text);
  return changed;
}

// ── A URI into values ──

// Nothing of a match outlives it but strings, and none runs inside another: short URIs need no memory of their own.
const scratchLength = 1024;
const scratchCodes = new Int32Array(scratchLength);
const scratchMarks = new Int32Array(scratchLength);

/**
 * Backwards over the template, each part marks where in the URI it can begin so that it and all behind it fit; then one walk
 * forwards takes the first choice at every part. A part looks at each character a fixed number of times, whatever the URI says.
 */
function createMatcher(
  pieces: readonly (string | Expression)[],
  slots: readonly Slot[],
  repeats: boolean,
): UriTemplate["match"] {
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

/** What `{+a}` may hold when these pieces stand behind it. */
function withoutNeeded(later: readonly (string | Expression)[]): string {
  const needed = (character: string) =>
    later.some((piece) => (typeof piece === "string" ? piece.includes(character) : piece.operator === character));
  return [...anything].filter((character) => (character !== "?" && character !== "#") || !needed(character)).join("");
}

/** One URI on its way through the parts. */
interface Walk extends Characters {
  /** Behind the literal that opens the template. */
  readonly start: number;
  /** Before the literal that closes it. */
  readonly end: number;
  /** For every 32 parts, a row of one word per place in the URI: the parts that can begin there. */
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
    // The nearest end is the one with the fewest characters: if that is too far, every other is.
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
  /** Where the pairs end that begin at the nearest separator. */
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

/** The slot whose name stands behind this mark, and where the name ends. */
function slotAt(
  walk: Walk,
  { slots, longestName }: NamedPart,
  at: number,
  pairEnd: number,
): { slot: number; nameEnd: number } | undefined {
  const limit = Math.min(pairEnd, at + longestName + 2);
  let nameEnd = at + 1;
  // A name ends before "?" too, so that no character is looked at from two marks.
  while (nameEnd < limit && walk.codes[nameEnd] !== equalsSign && walk.codes[nameEnd] !== questionMark) nameEnd++;
  walk.visits += nameEnd - at;
  if (nameEnd < pairEnd && walk.codes[nameEnd] !== equalsSign) return undefined;
  const slot = slots.get(walk.text.slice(at + 1, nameEnd));
  return slot === undefined ? undefined : { slot, nameEnd };
}

type Taken = string | string[] | undefined;

/** The value of every slot, or nothing if a parameter stands twice or is too long. */
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
      // A comma behind nothing says that the variable before it is there, and empty.
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

/** The first place from here where the next part can begin. */
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

/** All pairs from here whose names are known, and where they end. */
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

/** One value for each name, or nothing where the same name says two things. */
function gather(slots: readonly Slot[], values: readonly Taken[], repeats: boolean): Match | undefined {
  const match = new Map<string, string | readonly string[]>();
  for (let index = 0; index < slots.length; index++) {
    const { name } = slots[index]!;
    const value = values[index];
    const known = match.get(name);
    // What stands there cut to a length is the beginning of what stands there in full.
    if (
      value !== undefined &&
      (known === undefined || isList(value) || (!isList(known) && value.length > known.length))
    )
      match.set(name, value);
  }
  if (!repeats) return match;
  const agrees = ({ name, maxChars }: Slot, index: number) => {
    const value = values[index] ?? "";
    const whole = match.get(name) ?? "";
    if (isList(value) && isList(whole))
      return value.length === whole.length && value.every((text, at) => text === whole[at]);
    return String(value) === firstChars(String(whole), maxChars);
  };
  return slots.every(agrees) ? match : undefined;
}

// ── Characters ──

/** Undefined where no URI, not even one with characters beyond ASCII, could say this. An escape that need not be one is none. */
function readCharacters(uri: string, codes = new Int32Array(uri.length)): Characters | undefined {
  let text = "";
  let length = 0;
  let plainFrom = 0;
  for (let at = 0; at < uri.length;) {
    const found = uri.charCodeAt(at);
    if (found !== percent) {
      if (found < 128 && isLegal[found] === 0) return undefined;
      codes[length++] = found;
      at++;
      continue;
    }
    let end = at;
    while (uri.charCodeAt(end) === percent) end += 3;
    const decoded = decode(uri.slice(at, end));
    if (decoded === undefined) return undefined;
    for (let index = 0; index < decoded.length; index++) {
      const meant = decoded.charCodeAt(index);
      codes[length++] = meant > 127 || isUnreserved[meant] === 1 ? meant : meant | escaped;
    }
    text += uri.slice(plainFrom, at) + decoded;
    plainFrom = at = end;
  }
  // Memory that was used before must not seem to go on.
  codes[length] = 0;
  text = plainFrom === 0 ? uri : text + uri.slice(plainFrom);
  return text.isWellFormed() ? { text, codes } : undefined;
}

function decode(escapes: string): string | undefined {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return undefined;
  }
}

/** Whether reading the URI is worth the while. */
function mayBegin(uri: string, head: Int32Array): boolean {
  for (let at = 0; at < head.length; at++) {
    const found = uri.charCodeAt(at);
    if (found !== head[at] || found > 127) return found === percent || found > 127 || head[at]! > 127;
  }
  return true;
}

function standsAt(codes: Int32Array, begin: number, literal: Int32Array): boolean {
  for (let at = 0; at < literal.length; at++) if (codes[begin + at] !== literal[at]) return false;
  return true;
}

/** For each length, how much of the beginning is also the end of the first so many characters. */
function bordersOf(literal: Int32Array): Int32Array {
  const borders = new Int32Array(literal.length + 1);
  for (let at = 1, same = 0; at < literal.length; at++) {
    while (same > 0 && literal[at] !== literal[same]) same = borders[same]!;
    if (literal[at] === literal[same]) same++;
    borders[at + 1] = same;
  }
  return borders;
}

function firstChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = 0;
  for (let chars = 0; chars < maxChars && end < text.length; chars++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function accepted(set: Uint8Array, found: number): boolean {
  return found > 127 || set[found] === 1;
}

function isLowSurrogate(found: number): boolean {
  return (found & 0x1fc00) === 0xdc00;
}

function characterSet(characters: string): Uint8Array {
  const set = new Uint8Array(128);
  for (const character of characters) set[code(character)] = 1;
  return set;
}

function code(character: string): number {
  return character === "" ? none : character.charCodeAt(0);
}

function escapeBeyondAscii(literal: string): string {
  return literal.replace(/[^\0-\x7f]+/g, encodeURIComponent);
}

function isList(value: TemplateValue): value is readonly string[] {
  return Array.isArray(value);
}

/** A value as it may stand in a sentence. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}
