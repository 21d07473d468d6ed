/** Parses URI templates (RFC 6570), and classifies the characters of a URI. */

export const maxTemplateLength = 8 * 1024;
export const maxVariables = 64;
/** One occurrence of a variable. */
export interface Slot {
  readonly name: string;
  readonly maxChars: number;
  readonly exploded: boolean;
}

export interface Expression {
  readonly operator: string;
  readonly slots: readonly Slot[];
  /** The position of its first slot among all slots of the template. */
  readonly firstSlot: number;
}

/** Characters as the matcher sees them, with their text. An escaped reserved character differs from the character. */
export interface Characters {
  readonly text: string;
  /** At least one for each unit of the text. */
  readonly codes: Int32Array;
}

export const none = -1;
const escaped = 0x10000;
export const percentSign = code("%");
export const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const segment = `${unreserved}!$&'()*+,;=:@`;
export const anything = `${segment}/?#[]`;
const isUnreserved = characterSet(unreserved);
const isLegal = characterSet(anything);
export const operators: Readonly<Record<string, { lead: string; separator: string; holds: string; named?: boolean }>> =
  {
    "": { lead: "", separator: ",", holds: unreserved },
    "+": { lead: "", separator: ",", holds: anything },
    "#": { lead: "#", separator: ",", holds: anything },
    ".": { lead: ".", separator: ".", holds: unreserved },
    "/": { lead: "/", separator: "/", holds: segment },
    ";": { lead: ";", separator: ";", holds: segment.replace(";", ""), named: true },
    "?": { lead: "?", separator: "&", holds: `${segment}/?`.replace("&", ""), named: true },
    "&": { lead: "&", separator: "&", holds: `${segment}/?`.replace("&", ""), named: true },
  };

/** Literals and expressions in turn. */
export function splitTemplate(template: string): (string | Expression)[] {
  if (template.length > maxTemplateLength)
    throw new Error(
      `the template ${quoteCharacter(template)} is too long; the limit is ${maxTemplateLength} characters`,
    );
  const pieces: (string | Expression)[] = [];
  let firstSlot = 0;
  for (let at = 0; at < template.length;) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal !== "") pieces.push(checkLiteral(literal));
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0)
      throw new Error(`the expression ${quoteCharacter(template.slice(open))} is not closed; end it with "}"`);
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
    throw new Error(`the text ${quoteCharacter(literal)} in a template is not valid in a URI; escape it, as in "%20"`);
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
          `${quoteCharacter(text)} in the expression ${quoteCharacter(`{${inner}}`)} is not a variable; write a name of letters, digits, "_" and ".", then optionally "*" or ":" and a length up to 9999`,
        );
      return { name, maxChars: length === undefined ? Infinity : Number(length), exploded: star !== undefined };
    });
  return { operator, slots, firstSlot };
}

/** Undefined if the text is not part of any URI, even with characters beyond ASCII. Unnecessary escapes are decoded. */
export function readCharacters(uri: string, codes = new Int32Array(uri.length)): Characters | undefined {
  let text = "";
  let length = 0;
  let plainFrom = 0;
  for (let at = 0; at < uri.length;) {
    const found = uri.charCodeAt(at);
    if (found !== percentSign) {
      if (found < 128 && isLegal[found] === 0) return undefined;
      codes[length++] = found;
      at++;
      continue;
    }
    let end = at;
    while (uri.charCodeAt(end) === percentSign) end += 3;
    const decoded = decode(uri.slice(at, end));
    if (decoded === undefined) return undefined;
    for (let index = 0; index < decoded.length; index++) {
      const intended = decoded.charCodeAt(index);
      codes[length++] = intended > 127 || isUnreserved[intended] === 1 ? intended : intended | escaped;
    }
    text += uri.slice(plainFrom, at) + decoded;
    plainFrom = at = end;
  }
  // Reused memory must not look like a continuation.
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

export function characterSet(characters: string): Uint8Array {
  const set = new Uint8Array(128);
  for (const character of characters) set[code(character)] = 1;
  return set;
}

export function code(character: string): number {
  return character === "" ? none : character.charCodeAt(0);
}

/** A value for use in a sentence. */
export function quoteCharacter(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}

/** The text cut to this many characters, never inside one. */
export function firstChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = 0;
  for (let chars = 0; chars < maxChars && end < text.length; chars++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** A type guard for lists. */
export function isListValue<T>(value: T | readonly string[]): value is readonly string[] & T {
  return Array.isArray(value);
}
