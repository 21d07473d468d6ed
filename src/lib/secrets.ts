/** Finds likely secrets in a text: keys with known prefixes, private keys, credentials in URLs, and random values named as secrets. */
import { isPlaceholder, isRandom, isNotWordLike, isVaried } from "./looks-random.ts";
import { findPrivateKeys } from "./private-keys.ts";
import { secretContexts } from "./secret-contexts.ts";
import { type SecretRule, secretRules } from "./secret-rules.ts";

interface Secret {
  /** [from, to) in the text: the secret alone, not its name. */
  readonly from: number;
  readonly to: number;
  /** What it seems to be, for use in a sentence. */
  readonly kind: string;
}

/** Replaces a secret, once in each of its lines. */
export const mask = "[masked]";

/** No rule matches less. */
const shortest = 10;
const maxLooks = 4;

const musts: Readonly<Record<NonNullable<SecretRule["must"]>, (secret: string) => boolean>> = {
  varied: isVaried,
  random: isRandom,
  unspoken: isNotWordLike,
  mixed: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret.slice(3)) && isVaried(secret),
  none: () => true,
  "no placeholder": (secret) => !isPlaceholder(secret),
};
const known: readonly SecretRule[] = [...secretRules, ...secretContexts];

/** In order and disjoint. */
export function findSecrets(text: string): readonly Secret[] {
  if (text.length < shortest) return [];
  return united([...findPlain(text), ...findEncoded(text)]);
}

function findPlain(text: string): Secret[] {
  const found: Secret[] = [
    ...findPrivateKeys(text).map((key) => ({ ...key, kind: "a private key" })),
    ...findSecretObjects(text),
  ];
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
      // A rejected match may contain a secret, as in `token: https://host/?password=…`; but no text may be scanned again and again.
      if (match.index >= looked) [looked, looks] = [pattern.lastIndex, 0];
      if (from > match.index) pattern.lastIndex = (looks += 1) < maxLooks ? from : looked;
    }
  }
  return found;
}

/** Decodes base64, which hides texts no better. */
function findEncoded(text: string): Secret[] {
  const found: Secret[] = [];
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9+/_-]{40,}/g)) {
    // The first bytes distinguish texts from pictures, hashes and keys.
    if (!/^[\t\n\r\x20-\x7e]{24}$/.test(decoded(run.slice(0, 32)))) continue;
    const [secret] = findPlain(decoded(run));
    if (secret) found.push({ from: index, to: index + run.length, kind: secret.kind });
  }
  return found;
}

function decoded(run: string): string {
  // A single character is no byte.
  return atob((run.length % 4 === 1 ? run.slice(0, -1) : run).replaceAll("-", "+").replaceAll("_", "/"));
}

/** All values of a Kubernetes Secret are secret, whatever their names. */
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

/** Merges overlapping secrets, under the kind of the first. */
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

/** The text with every secret masked and its lines unchanged, and the masked kinds in text order. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: readonly Secret[] } {
  const masked = findSecrets(text);
  return { text: withMasks(text, masked), masked };
}

/** The same for a patch, which may show lines from the middle of a key: lines that could be such are masked too. */
export function maskPatch(patch: string): ReturnType<typeof maskSecrets> {
  let isPublic = false;
  const lines = patch.split("\n").map((line) => {
    if (/-----BEGIN (?:CERTIFICATE|[A-Z ]*PUBLIC KEY)/.test(line)) isPublic = true;
    else if (/-----(?:BEGIN|END) |^(?:@@|diff )/.test(line)) isPublic = false;
    return isPublic ? line : line.replace(/^([-+ ][-+> \t]{0,8})[A-Za-z0-9+/]{60,76}={0,2}(?=\s*$)/, `$1${mask}`);
  });
  return maskSecrets(lines.join("\n"));
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
