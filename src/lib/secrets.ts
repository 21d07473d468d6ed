/** Finds what looks like a secret in a text: keys with known beginnings, private keys, credentials in URLs, and random values that are called a secret. */
import { type Rule, rules } from "./secret-rules.ts";

export interface Secret {
  /** [from, to) in the text: the secret alone, not its name. */
  readonly from: number;
  readonly to: number;
  /** What it seems to be, as it may stand in a sentence. */
  readonly kind: string;
}

const privateKey = /-{4,5} ?BEGIN ((?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?) ?-{4,5}/g;
const privateKeyEnd = /-{4,5} ?END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
/** A key that does not end within so many characters is masked no further. */
const maxKeyLength = 32_768;
/** No rule fits less. */
const shortest = 10;

const musts: Readonly<Record<NonNullable<Rule["must"]>, (secret: string) => boolean>> = {
  varied: isVaried,
  random: isRandom,
  mixed: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret.slice(3)) && isVaried(secret),
  none: () => true,
  "no placeholder": (secret) => !isPlaceholder(secret),
};

/** In order and disjoint. */
export function findSecrets(text: string): readonly Secret[] {
  if (text.length < shortest) return [];
  const found = findPrivateKeys(text);
  for (const { kind, hint, pattern, must = "varied" } of rules) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.slice(1).find((group) => group !== undefined) ?? match[0];
      if (!musts[must](secret)) continue;
      const from = match.index + match[0].lastIndexOf(secret);
      found.push({ from, to: from + secret.length, kind });
    }
  }
  return united(found);
}

function findPrivateKeys(text: string): Secret[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: Secret[] = [];
  const add = (from: number, to: number): void => {
    // The name of the block in a program or a manual has nothing behind it.
    if (/[A-Za-z0-9+/=]{16}/.test(text.slice(from, to))) found.push({ from, to, kind: "a private key" });
  };
  const ends = [...text.matchAll(privateKeyEnd)].map(({ index }) => index);
  const whole = new Set<number>();
  let next = 0;
  for (const match of text.matchAll(privateKey)) {
    const from = match.index + match[0].length;
    while (next < ends.length && (ends[next] as number) < from) next += 1;
    const end = ends[next] ?? Infinity;
    const isWhole = end - from <= maxKeyLength;
    if (isWhole) whole.add(end);
    add(from, isWhole ? end : from + lengthOfKey(text.slice(from, from + maxKeyLength)));
  }
  // The rest of a key whose beginning was cut off.
  let last = 0;
  for (const end of ends) {
    if (!whole.has(end)) add(end - lengthOfTail(text.slice(Math.max(last, end - maxKeyLength), end)), end);
    last = end;
  }
  return found;
}

/** Where two overlap, they are one, called by what begins first. */
function united(found: Secret[]): readonly Secret[] {
  found.sort((left, right) => left.from - right.from || right.to - left.to);
  const all: Secret[] = [];
  for (const secret of found) {
    const last = all.at(-1);
    if (!last || secret.from >= last.to) all.push(secret);
    else if (secret.to > last.to) all[all.length - 1] = { ...last, to: secret.to };
  }
  return all;
}

/** The text with every secret masked, its lines where they were, and what was masked, in the order of the text. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: readonly Secret[] } {
  const masked = findSecrets(text);
  return { text: withMasks(text, masked), masked };
}

const sliceLength = 256 * 1024;
/** Nothing that is found, with all that it is known by, is longer. */
const longest = 2 * maxKeyLength;

/** The same, with others taking their turn now and then where the text is long. */
export async function maskLongText(text: string, turn: () => Promise<void>): Promise<string> {
  if (text.length <= 2 * sliceLength) return maskSecrets(text).text;
  const found: Secret[] = [];
  for (let at = 0; at < text.length; at += sliceLength) {
    const start = Math.max(0, at - longest);
    for (const { from, to, kind } of findSecrets(text.slice(start, at + sliceLength + longest)))
      found.push({ from: start + from, to: start + to, kind });
    await turn();
  }
  return withMasks(text, united(found));
}

function withMasks(text: string, secrets: readonly Secret[]): string {
  let clean = "";
  let at = 0;
  for (const { from, to } of secrets) {
    clean += text.slice(at, from) + text.slice(from, to).replaceAll(/[^\s]+(?:[^\S\r\n]+[^\s]+)*/g, mask);
    at = to;
  }
  return at === 0 ? text : clean + text.slice(at);
}

/** What stands in a secret's place, once in each of its lines. */
export const mask = "[masked]";

const keyLine = /^[-+ >|*#/\t]{0,8}(?:[A-Za-z0-9+/=]{4,128}|[A-Za-z0-9-]{1,40}: [^\n]{0,200})?[ \t]*\r?$/;

/** As far as it goes on as a key does: encoded lines, headers, empty lines; also in a patch, a quotation or a comment. */
function lengthOfKey(text: string): number {
  const spelled = /^(?:\\n[A-Za-z0-9+/=]{0,128})*/.exec(text)?.[0].length ?? 0;
  if (spelled > 0) return spelled;
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (!keyLine.test(text.slice(at, end))) return at;
    at = end + 1;
  }
  return text.length;
}

/** The same from its end. */
function lengthOfTail(text: string): number {
  const spelled = /(?:[A-Za-z0-9+/=]{0,128}\\n)+$/.exec(text.slice(-4096))?.[0].length ?? 0;
  if (spelled > 0) return spelled;
  for (let end = text.length; end > 0;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    if (!keyLine.test(text.slice(start, end))) return text.length - end;
    end = start - 1;
  }
  return text.length;
}

/** Examples are made of few characters: `AKIAXXXXXXXXXXXXXXXX`, or say that they are some. */
function isVaried(secret: string): boolean {
  return new Set(secret).size >= 10 && !/example|your[-_]|0{6}|123456789/i.test(secret) && !/x{5}|X{5}/.test(secret);
}

/** Whether someone drew it by lot: many different characters of several kinds, and nothing that a person wrote. */
function isRandom(secret: string): boolean {
  if (isPlaceholder(secret) || secret.length < 8) return false;
  // What people call things is made of words; so are paths, calls and versions.
  if (/^[a-z]+(?:[._/:-][a-z]+)*$/i.test(secret) && entropy(secret) < 3.9) return false;
  if (/^[\w$]+(?:\.[\w$]+)+$/.test(secret) && !/\d{3}/.test(secret)) return false;
  if (/^[a-z_$][\w$]*$/i.test(secret) && isMadeOfWords(secret)) return false;
  if (isPath(secret)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(secret)).length;
  if (/^[0-9a-f-]+$/i.test(secret))
    return secret.length >= 16 && /\d/.test(secret) && /[a-f]/i.test(secret) && entropy(secret) >= 2.8;
  const isMixed = entropy(secret) >= Math.min(3.1, Math.log2(secret.length) - 0.6);
  // By lot a long one may have no digit.
  return (
    isMixed &&
    kinds >= 2 &&
    (/\d/.test(secret) || (secret.length >= 24 && hasBothCases(secret) && !isMadeOfWords(secret)))
  );
}

/** Whether a name holds a stretch that no one would call a thing: letters of both cases and digits, and hardly a word in it. */
export function seemsRandom(name: string): boolean {
  return (name.match(/[A-Za-z0-9+/]{24,}/g) ?? []).some(
    (run) => hasBothCases(run) && /\d/.test(run) && !isMadeOfWords(run),
  );
}

function hasBothCases(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text);
}

/** `getUserToken2`, `MAX_KEY_LENGTH`: most of its letters stand in stretches of three and more with a vowel, as those of words do. */
function isMadeOfWords(name: string): boolean {
  const words = name.match(/[a-z]/) ? name.match(/[A-Z]?[a-z]{3,}/g) : name.match(/[A-Z]{3,}/g);
  const letters = name.replaceAll(/[^A-Za-z]/g, "").length;
  const inWords = words?.filter((each) => /[aeiouy]/i.test(each)).join("").length ?? 0;
  return inWords >= 0.7 * letters && name.length - letters <= 4 + name.split(/[_$.-]/).length;
}

/** `./vendor/tokenizer-v2.json`, `/run/secrets/db`. */
function isPath(value: string): boolean {
  return (
    /^(?:\.{1,2}|~)?\//.test(value) &&
    value.split("/").every((name) => /^[\w.@-]*$/.test(name) && (name.length < 12 || isMadeOfWords(name)))
  );
}

function isPlaceholder(value: string): boolean {
  return (
    new Set(value.toLowerCase()).size < 5 ||
    /example|placeholder|change[-_]?me|your[-_]|x{5}|\.\.\.|…|\*{3}|<|redacted|masked|dummy|sample|process\.env|secrets\.|env\[/i.test(
      value,
    ) ||
    /^(?:\$|%|\{|#|&|@)/.test(value) ||
    /^(?:password|passwd|secret|hunter2|letmein|test|user|admin|postgres|root|guest|pass|none|null|true|false|undefined)\d{0,4}$/i.test(
      value,
    )
  );
}

/** Bits a character. */
function entropy(text: string): number {
  const times = new Map<string, number>();
  for (const character of text) times.set(character, (times.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of times.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
