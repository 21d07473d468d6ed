/** Finds what looks like a secret in a text: keys with known beginnings, private keys, credentials in URLs, and random values that are called a secret. */

export interface Secret {
  /** [from, to) in the text: the secret alone, not its name. */
  readonly from: number;
  readonly to: number;
  /** What it seems to be, as it may stand in a sentence. */
  readonly kind: string;
}

interface Rule {
  readonly kind: string;
  /** What must be in a text for the pattern to be tried: a search for a string is much cheaper. */
  readonly hint: string;
  /** With the flag `g`. Its first group is the secret, or else all of it. */
  readonly pattern: RegExp;
  readonly isOne?: (secret: string) => boolean;
}

/** A pattern never looks further than a bounded number of characters, so that no text makes it slow. */
const rules: readonly Rule[] = [
  { kind: "an AWS access key", hint: "A", pattern: /\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b/g, isOne: isVaried },
  { kind: "a GitHub token", hint: "gh", pattern: /\b(gh[pousr]_[A-Za-z0-9]{36,251})\b/g, isOne: isVaried },
  { kind: "a GitHub token", hint: "github_pat_", pattern: /\b(github_pat_[A-Za-z0-9_]{60,255})\b/g, isOne: isVaried },
  { kind: "a GitLab token", hint: "glpat-", pattern: /\b(glpat-[A-Za-z0-9_-]{20,64})/g, isOne: isVaried },
  { kind: "a Slack token", hint: "xox", pattern: /\b(xox[abeoprs]-[A-Za-z0-9-]{10,250})/g, isOne: isVaried },
  {
    kind: "a Slack webhook",
    hint: "hooks.slack.com",
    pattern: /hooks\.slack\.com\/services\/(T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,32})/g,
    isOne: isVaried,
  },
  { kind: "a Google API key", hint: "AIza", pattern: /\b(AIza[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])/g, isOne: isVaried },
  { kind: "a Google token", hint: "ya29.", pattern: /\b(ya29\.[A-Za-z0-9_-]{30,400})/g, isOne: isVaried },
  { kind: "a Google client secret", hint: "GOCSPX-", pattern: /\b(GOCSPX-[A-Za-z0-9_-]{28})/g, isOne: isVaried },
  {
    kind: "a Stripe key",
    hint: "k_",
    pattern: /\b((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,247})\b/g,
    isOne: isVaried,
  },
  { kind: "an API key", hint: "sk-", pattern: /\b(sk-(?:[a-z]+-)?[A-Za-z0-9_-]{32,250})/g, isOne: isRandom },
  { kind: "an npm token", hint: "npm_", pattern: /\b(npm_[A-Za-z0-9]{36})\b/g, isOne: isVaried },
  { kind: "a PyPI token", hint: "pypi-", pattern: /\b(pypi-AgE[A-Za-z0-9_-]{50,300})/g },
  {
    kind: "a SendGrid key",
    hint: "SG.",
    pattern: /\b(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})(?![A-Za-z0-9_-])/g,
    isOne: isVaried,
  },
  {
    kind: "a Hugging Face token",
    hint: "hf_",
    pattern: /\b(hf_[A-Za-z]{30,60})\b/g,
    isOne: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret.slice(3)),
  },
  {
    kind: "a JSON web token",
    hint: "eyJ",
    pattern: /\b(eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{16,2000})/g,
  },
  {
    kind: "a password in a URL",
    hint: "://",
    pattern: /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"'`<>{}$]{0,200}:([^\s/:@"'`<>{}$]{3,200})@[\w[]/gi,
    isOne: (secret) => !isPlaceholder(secret),
  },
  {
    kind: "a token in a header",
    hint: "earer ",
    pattern: /\bBearer ([A-Za-z0-9._~+/-]{20,2000}=*)/g,
    isOne: isRandom,
  },
  {
    kind: "a token in a header",
    hint: "asic ",
    pattern: /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?Basic ([A-Za-z0-9+/]{12,500}={0,2})/gi,
    isOne: isRandom,
  },
  {
    kind: "a value that is called a secret",
    hint: "",
    // A name that ends in such a word, an equals sign or a colon, and a value, quoted or up to the end of a word.
    pattern:
      /(?:secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|token|credential)s?["'\])]{0,2}[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}(?:"([^"\s]{8,500})"|'([^'\s]{8,500})'|([^\s"'`,;(){}[\]<>]{12,500}))/gi,
    isOne: isRandom,
  },
];

const privateKey = /-----BEGIN ((?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?)-----/g;
/** A key that does not end within so many characters is masked no further. */
const maxKeyLength = 32_768;

/** In order and disjoint. */
export function findSecrets(text: string): readonly Secret[] {
  const found: Secret[] = [];
  const endless = new Set<string>();
  for (const match of text.matchAll(privateKey)) {
    const name = match[1]!;
    const from = match.index + match[0].length;
    const end = endless.has(name) ? -1 : text.indexOf(`-----END ${name}-----`, from);
    if (end === -1) endless.add(name);
    // The name of the block in a program or a manual has nothing behind it.
    const to = end >= 0 && end - from <= maxKeyLength ? end : from + lengthOfKey(text.slice(from, from + maxKeyLength));
    if (/[A-Za-z0-9+/=]{16}/.test(text.slice(from, to))) found.push({ from, to, kind: "a private key" });
  }
  for (const { kind, hint, pattern, isOne } of rules) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.slice(1).find((group) => group !== undefined) ?? match[0];
      if (isOne && !isOne(secret)) continue;
      const from = match.index + match[0].lastIndexOf(secret);
      found.push({ from, to: from + secret.length, kind });
    }
  }
  found.sort((left, right) => left.from - right.from || right.to - left.to);
  let end = 0;
  return found.filter(({ from, to }) => {
    if (from < end) return false;
    end = to;
    return true;
  });
}

/** The text with every secret masked, its lines where they were, and what was masked, in the order of the text. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: readonly Secret[] } {
  const masked = findSecrets(text);
  if (masked.length === 0) return { text, masked };
  let clean = "";
  let at = 0;
  for (const { from, to } of masked) {
    clean += text.slice(at, from) + text.slice(from, to).replaceAll(/[^\s]+(?:[^\S\r\n]+[^\s]+)*/g, mask);
    at = to;
  }
  return { text: clean + text.slice(at), masked };
}

/** What stands in a secret's place, once in each of its lines. */
export const mask = "[masked]";

/** As far as it goes on as a key does: encoded lines, headers, empty lines. */
function lengthOfKey(text: string): number {
  return (
    /^(?:[^\S\n]*(?:[A-Za-z0-9+/=]{4,128}|[A-Za-z-]{1,40}: [^\n]{0,200})?\r?(?:\n|$|\\n))*/.exec(text)?.[0].length ?? 0
  );
}

/** Examples are made of few characters: `AKIAXXXXXXXXXXXXXXXX`, or say that they are some. */
function isVaried(secret: string): boolean {
  return new Set(secret).size >= 10 && !/example|xxxx|0{6}|123456789/i.test(secret);
}

/** Whether someone drew it by lot: many different characters of several kinds, and nothing that a person wrote. */
function isRandom(secret: string): boolean {
  if (isPlaceholder(secret) || secret.length < 8) return false;
  // What people call things is made of words; so are paths, calls and versions.
  if (/^[a-z]+(?:[._/:-][a-z]+)*$/i.test(secret) && entropy(secret) < 3.9) return false;
  if (/^[\w$]+(?:\.[\w$]+)+$/.test(secret) && !/\d{3}/.test(secret)) return false;
  if (/^[a-z_$][\w$]*$/i.test(secret) && isMadeOfWords(secret)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(secret)).length;
  if (/^[0-9a-f-]+$/i.test(secret))
    return secret.length >= 16 && /\d/.test(secret) && /[a-f]/i.test(secret) && entropy(secret) >= 2.8;
  return kinds >= 2 && /\d/.test(secret) && entropy(secret) >= Math.min(3.3, Math.log2(secret.length) - 0.4);
}

/** `getUserToken2`, `MAX_KEY_LENGTH`: parts of three letters and more. */
function isMadeOfWords(name: string): boolean {
  const parts = name.split(/[_$\d]+|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== "");
  const letters = parts.reduce((sum, part) => sum + part.length, 0);
  return letters / Math.max(1, parts.length) >= 3.5 && name.replaceAll(/\D/g, "").length <= 4;
}

function isPlaceholder(value: string): boolean {
  return (
    new Set(value.toLowerCase()).size < 5 ||
    /example|placeholder|change[-_]?me|your[-_]|xxxx|\.\.\.|…|\*{3}|<|redacted|masked|dummy|sample|process\.env|secrets\.|env\[/i.test(
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
