/** Finds what looks like a secret in a text: keys with known beginnings, private keys, credentials in URLs, and random values that are called a secret. */
import { isPlaceholder, isRandom, isUnspoken, isVaried } from "./drawn-by-lot.ts";
import { places } from "./secret-places.ts";
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
const maxLooks = 4;

const musts: Readonly<Record<NonNullable<Rule["must"]>, (secret: string) => boolean>> = {
  varied: isVaried,
  random: isRandom,
  unspoken: isUnspoken,
  mixed: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret.slice(3)) && isVaried(secret),
  none: () => true,
  "no placeholder": (secret) => !isPlaceholder(secret),
};
const known: readonly Rule[] = [...rules, ...places];

/** In order and disjoint. */
export function findSecrets(text: string): readonly Secret[] {
  if (text.length < shortest) return [];
  return united([...findPlain(text), ...findEncoded(text)]);
}

function findPlain(text: string): Secret[] {
  const found = [...findPrivateKeys(text), ...findSecretObjects(text)];
  for (const { kind, hint, pattern, must = "varied" } of known) {
    if (!text.includes(hint)) continue;
    pattern.lastIndex = 0;
    let looked = 0;
    let looks = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const secret = match.slice(1).find((group) => group !== undefined) ?? match[0];
      const from = match.index + match[0].lastIndexOf(secret);
      if (musts[must](secret)) {
        found.push({ from, to: from + secret.length, kind });
        continue;
      }
      // What is none may hold one, as in `token: https://host/?password=…`; but no text may have all of it looked at again and again.
      if (match.index >= looked) [looked, looks] = [pattern.lastIndex, 0];
      if (from > match.index) pattern.lastIndex = (looks += 1) < maxLooks ? from : looked;
    }
  }
  return found;
}

/** Texts are wrapped in base64 as they are, and what they say is no better hidden there. */
function findEncoded(text: string): Secret[] {
  const found: Secret[] = [];
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9+/_-]{40,}/g)) {
    // The first bytes tell pictures, hashes and keys from texts.
    if (!/^[\t\n\r\x20-\x7e]{24}$/.test(decoded(run.slice(0, 32)))) continue;
    const [secret] = findPlain(decoded(run));
    if (secret) found.push({ from: index, to: index + run.length, kind: secret.kind });
  }
  return found;
}

function decoded(run: string): string {
  // One character alone is no byte.
  return atob((run.length % 4 === 1 ? run.slice(0, -1) : run).replaceAll("-", "+").replaceAll("_", "/"));
}

/** What a Secret of Kubernetes holds is secret, whatever it is called. */
function findSecretObjects(text: string): Secret[] {
  if (!text.includes("kind: Secret")) return [];
  const found: Secret[] = [];
  let start = 0;
  for (const object of text.split(/^(?=---)/m)) {
    let isHeld = false;
    let at = start;
    for (const line of /^kind: Secret\s*$/m.test(object) ? object.split("\n") : []) {
      if (/^\S/.test(line)) isHeld = /^(?:data|stringData):/.test(line);
      const [, name = "", value = ""] =
        /^([ \t]{1,40}[\w.-]{1,253}:[ \t]{0,8}["']?)([^\s"'|>][^\s"']{7,})/.exec(line) ?? [];
      const from = at + name.length;
      if (isHeld && value !== "" && !isPlaceholder(value))
        found.push({ from, to: from + value.length, kind: "a value of a Secret" });
      at += line.length + 1;
    }
    start += object.length;
  }
  return found;
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
