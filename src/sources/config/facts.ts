/** Decides what may be shown of a value: all of it if its name is known to be harmless, else only that it is set, and a fingerprint. */
import { createGlob, isGlob } from "../../lib/glob.ts";
import { seemsRandom } from "../../lib/looks-random.ts";
import { findSecrets, mask } from "../../lib/secrets.ts";
import type { Scalar } from "./leaf.ts";

/** Where a value is set. */
type Origin = { readonly variable: string } | { readonly file: string; readonly line: number };

export interface SettingFact {
  readonly name: string;
  /** Whether the value is not empty. */
  readonly set: boolean;
  readonly source: Origin;
  /** Equal for equal values while this process runs. */
  readonly fingerprint?: string;
  /** Only if the value may be shown. */
  readonly value?: Scalar;
}

export interface SettingFacts {
  of(name: string, value: Scalar, source: Origin): SettingFact;
}

/** Common settings that are not secret. */
const harmless = new Set(
  (
    "NODE_ENV APP_ENV RAILS_ENV RACK_ENV FLASK_ENV DJANGO_ENV ENV ENVIRONMENT STAGE CI TZ LANG LANGUAGE TERM COLORTERM " +
    "NO_COLOR FORCE_COLOR LOG_LEVEL LOGLEVEL RUST_LOG PORT HOST"
  ).split(" "),
);

const secretWords =
  /secret|passw|passphrase|passcode|pwd|token|credential|(?:api|access|private|signing|encryption|master|license|service|account|shared|storage)[_.-]?key|(?:^|[_.-])key(?:$|[_.-])|key$|auth(?!or)|cookie|session|salt|signature|(?:^|[_.-])(?:pat|sig|pin|otp|mfa|jwt|pem|pfx|dsn|sas)(?:$|[_.-])|bearer|webhook|connection[_.-]?string|private/i;

const maxShown = 4096;
/** Shorter values are never treated as secrets, whatever their name. */
const shortest = 8;

/** `show` are names, or patterns of names, whose values are shown. */
export function createFacts(show: readonly string[], key: Uint8Array): SettingFacts {
  const exact = new Set(show);
  const patterns = show.filter(isGlob).map(createGlob);

  function mayShow(name: string, value: Exclude<Scalar, null>): boolean {
    if (exact.has(name)) return true;
    if (secretWords.test(name) || isDrawnByLot(String(value))) return false;
    return harmless.has(name) || /^LC_[A-Z]+$/.test(name) || patterns.some((pattern) => pattern.matches(name));
  }

  return {
    of(name, value, source) {
      const isSet = value !== null && value !== "";
      const safe = "variable" in source ? { variable: withoutSecret(source.variable) } : source;
      const base = { name: withoutSecret(name), set: isSet, source: safe };
      if (!isSet) return base;
      const isLong = typeof value === "string" && value.length > maxShown;
      const shown = !isLong && mayShow(name, value) ? shownAs(name, value) : undefined;
      return shown === undefined ? { ...base, fingerprint: fingerprintOf(value, key) } : { ...base, value: shown };
    },
  };
}

/** Whether a part of it looks like a random secret. */
function isDrawnByLot(value: string): boolean {
  const parts = value.split(/[\s"'`,;&]+/).filter((part) => part.length >= shortest);
  return parts.some((part) => findSecrets(`secret="${part}"`).length > 0);
}

/** A name as it may be shown: a token may be used as a name, and a broken file may turn a piece of a key into one. */
export function withoutSecret(name: string): string {
  return findSecrets(name).length > 0 || seemsRandom(name) ? mask : name;
}

function fingerprintOf(value: Scalar, key: Uint8Array): string {
  const { createHmac } = process.getBuiltinModule("node:crypto");
  return createHmac("sha256", key).update(String(value)).digest("hex").slice(0, 16);
}

/** The value without credentials; undefined if they cannot be separated. */
function shownAs(name: string, value: Exclude<Scalar, null>): Scalar | undefined {
  if (typeof value !== "string") return value;
  const plain = withoutCredentials(value);
  if (plain === undefined || holdsNamedSecret(plain)) return undefined;
  if (findSecrets(plain).length > 0 || findSecrets(`${name}=${plain}`).length > 0) return undefined;
  return plain;
}

/** Detects `Password=…` in a connection string, or `"token": "…"` in an embedded text. */
function holdsNamedSecret(text: string): boolean {
  return /(?:secret|passw(?:or)?d|pwd|passphrase|token|api_?key|access_?key|account_?key|sig|signature|credential)["']?\s{0,4}[=:]\s{0,4}["']?[^\s"'&;,]/i.test(
    text,
  );
}

/** Removes credentials from URLs. Undefined if password and path cannot be separated. */
function withoutCredentials(text: string): string | undefined {
  let plain = "";
  let at = 0;
  for (let mark = text.indexOf("://"); mark >= 0; mark = text.indexOf("://", at)) {
    const from = mark + 3;
    const space = text.slice(from).search(/[\s"'<>]/);
    const end = space < 0 ? text.length : from + space;
    const next = text.indexOf("://", from);
    const isFollowed = next >= 0 && next < end;
    const url = text.slice(from, isFollowed ? next : end);
    const authority = /^[^/?#]*/.exec(url)?.[0] ?? "";
    const rest = url.slice(authority.length);
    // A password that contains a slash would leave its end in the path, or look like two URLs.
    if (/[^/]@/.test(rest) || (isFollowed && !/[,;|&=]/.test(url))) return undefined;
    plain += text.slice(at, from);
    at = from + authority.lastIndexOf("@") + 1;
  }
  return plain + text.slice(at);
}
