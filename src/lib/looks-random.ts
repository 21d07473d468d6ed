/** Whether a value is random, as secrets are, or was written by a person. */

/** Placeholders have few different characters, `AKIAXXXXXXXXXXXXXXXX`, or say that they are examples. */
export function isVaried(secret: string): boolean {
  return new Set(secret).size >= 10 && !/example|your[-_]|0{6}|123456789/i.test(secret) && !/x{5}|X{5}/.test(secret);
}

/** Whether it is random: many different characters of several kinds, and no words. */
export function isRandom(secret: string): boolean {
  if (isPlaceholder(secret) || secret.length < 8) return false;
  // Names, paths, calls and versions consist of words.
  if (/^[a-z]+(?:[._/:-][a-z]+)*$/i.test(secret) && entropy(secret) < 3.9 && !hasRareLetterPairs(secret)) return false;
  if (
    /^[\w$]+(?:\.[\w$]+)+$/.test(secret) &&
    secret.split(".").every((each) => each.length < 10 || isMadeOfWords(each))
  )
    return false;
  if (/^[a-z_$][\w$]*$/i.test(secret) && isMadeOfWords(secret)) return false;
  if (isPath(secret) || looksWritten(secret)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(secret)).length;
  if (/^[0-9a-f-]+$/i.test(secret))
    return secret.length >= 16 && /\d/.test(secret) && /[a-f]/i.test(secret) && entropy(secret) >= 2.5;
  const isMixed = entropy(secret) >= Math.min(3.1, Math.log2(secret.length) - 0.6);
  // A random value may have no digit.
  return (
    isMixed &&
    kinds >= 2 &&
    (/\d/.test(secret) || (secret.length >= 12 && hasBothCases(secret) && hasRareLetterPairs(secret)))
  );
}

/** The same, with higher certainty, if only a space separates it from its name. */
export function isNotWordLike(secret: string): boolean {
  if (!isRandom(secret) || /^https?:|[_.]\w{1,80}\(/.test(secret)) return false;
  const digits = secret.match(/\d+/g)?.length ?? 0;
  return hasBothCases(secret) || (/^[a-z\d]{16,}$/.test(secret) && digits > 2);
}

/** Whether a name contains a part that no one would write: mixed case and digits, and hardly any word. */
export function seemsRandom(name: string): boolean {
  return (name.match(/[A-Za-z0-9+/]{24,}/g) ?? []).some(
    (run) => hasBothCases(run) && /\d/.test(run) && !isMadeOfWords(run),
  );
}

function hasBothCases(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text);
}

/** `getUserToken2`, `MAX_KEY_LENGTH`: most letters are in runs of three or more with a vowel, as in words. */
function isMadeOfWords(name: string): boolean {
  const words = name.match(/[a-z]/) ? name.match(/[A-Z]?[a-z]{3,}/g) : name.match(/[A-Z]{3,}/g);
  const letters = name.replaceAll(/[^A-Za-z]/g, "").length;
  const inWords = words?.filter((each) => /[aeiouy]/i.test(each)).join("").length ?? 0;
  return (
    inWords >= 0.7 * letters &&
    !hasRareLetterPairs(name) &&
    (name.match(/\d+/g)?.length ?? 0) < 3 &&
    name.length - letters <= 4 + name.split(/[_$.-]/).length
  );
}

/** Common letter pairs of words; in random text, one pair in three is among them. */
const pairs = new Set(
  (
    "ab ac ad ag ai al am an ap ar as at au av ay ba be bi bl bo br bu ca ce ch ci ck cl co cr ct cu da de di do dr du ea ec ed ee ef eg ei el em en ep eq er es et ev ew ex ey " +
    "fa fe ff fi fl fo fr fu ga ge gh gi gl gn go gr gu ha he hi ho ht ia ib ic id ie if ig il im in io ip ir is it iv iz ke ki ks la ld le li ll lo lt lu ly ma mb me mi mm mo mp mu na nc nd ne nf ng ni nk no ns nt nu nv " +
    "ob oc od of og ok ol om on oo op or os ot ou ov ow pa pe ph pi pl po pp pr ps pt pu qu ra rc rd re ri rk rl rm rn ro rr rs rt ru ry sa sc se sh si sk sl so sp ss st su sw sy ta te th ti tl to tp tr ts tt tu tw ty " +
    "ub uc ud ue ui ul um un up ur us ut va ve vi vo wa we wh wi wo xp xt yp ys"
  ).split(" "),
);

/** Whether its letters rarely form pairs of words, or change case inside words. */
function hasRareLetterPairs(name: string): boolean {
  const runs = name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  let count = 0;
  let known = 0;
  for (const run of runs)
    for (let at = 1; at < run.length; at += 1) {
      count += 1;
      if (pairs.has(run.slice(at - 1, at + 1).toLowerCase())) known += 1;
    }
  return known < 0.6 * count || count + runs.length < 3 * runs.length;
}

/** `cache-postgresql-credentials-v1`, `projects/4711/secrets/db/versions/latest`, `op://team/db/password`, and text in kana or kanji. */
function looksWritten(value: string): boolean {
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(value)) return true;
  const words = value.split(/[-_./:]+/);
  return (
    words.length > (/[-_]\d{1,4}$/.test(value) ? 1 : 2) &&
    words.every(
      (each) =>
        /^(?:v?\d{0,4}|\d{10,14}|[a-z]{1,4})$/.test(each) ||
        (/^[A-Za-z]?[a-z]*\d?$/.test(each) && /[aeiouy]/.test(each)),
    )
  );
}

/** `./vendor/tokenizer-v2.json`, `/run/secrets/db`. */
function isPath(value: string): boolean {
  return (
    /^(?:\.{1,2}|~)?\//.test(value) &&
    value
      .split("/")
      .every((name) => /^[\w.@-]*$/.test(name) && (name.length < 6 || isMadeOfWords(name) || /^[a-z\d.-]*$/.test(name)))
  );
}

export function isPlaceholder(value: string): boolean {
  return (
    new Set(value.toLowerCase()).size < 5 ||
    /example|placeholder|change[-_]?me|your[-_]|x{5}|\.\.\.|…|\*{3}|<|redacted|masked|dummy|sample|process\.env|\$\{|secrets\.|env\[/i.test(
      value,
    ) ||
    /^(?:\$[{(]|\$[A-Z\d_]+$|%\w+%$|\{|#\{)/.test(value) ||
    (/^\$[a-z_]\w*$/i.test(value) && isMadeOfWords(value)) ||
    /^(?:password|passwd|secret|hunter2|letmein|test|user|admin|postgres|root|guest|pass|none|null|true|false|undefined)\d{0,4}$/i.test(
      value,
    )
  );
}

/** Bits per character. */
function entropy(text: string): number {
  const times = new Map<string, number>();
  for (const character of text) times.set(character, (times.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of times.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
