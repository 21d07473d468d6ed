/** Resolves a URI to a mount and an address, without loss, and formats addresses as URIs. */
import { invalid, quote } from "../errors.ts";
import type { Freshness } from "../resources.ts";
import { encodeSegment } from "../lib/encode-path.ts";
import { innerSlash } from "../source.ts";
import type { Address, Source } from "../source.ts";

/** A source and the URIs that belong to it. */
export interface Mount {
  readonly name: string;
  /** Shown instead of the name. */
  readonly title?: string;
  readonly description?: string;
  /** A URI prefix that ends in "/" (`file:///home/me/project/`, `test://`), or a scheme alone (`calendar:`). */
  readonly base: string;
  readonly source: Source;
  /** Other bases for the same resources. */
  readonly aliases?: readonly string[];
  /** True if the path is everything after the base, unchanged. Only for a base that is a scheme alone. */
  readonly verbatim?: boolean;
  /** True if its entries come before those of other mounts in lists. */
  readonly isFirst?: boolean;
  /** Default freshness of reads, used where the source gives none. */
  readonly freshness?: Partial<Freshness>;
  /** Why it is missing from lists and searches, which say so. Its source then lists nothing. */
  readonly leftOut?: string;
}

/** A mount whose base is in the canonical form with which all its URIs begin. */
export interface RoutedMount extends Mount {
  /** The URI of the mount itself. */
  readonly root: string;
}

/** The mount and address that a URI leads to. */
export interface Location {
  readonly mount: RoutedMount;
  readonly at: Address;
}

export interface Routes {
  /** In the order of lists: those that come first, then by base. */
  readonly mounts: readonly RoutedMount[];
  /** Every form of a URI gives the same location; undefined if no mount can hold it. Throws "invalid" if the URI is too long. */
  find(uri: string): Location | undefined;
  /** Returns the URI that leads to this address; undefined if no URI can. */
  format(mount: RoutedMount, at: Address): string | undefined;
}

interface RouteOptions {
  /** In UTF-16 code units. */
  readonly maxUriLength?: number;
}

/** A node in the tree of base segments; the last segment of a base holds the mount. */
interface Step {
  mount: RoutedMount | undefined;
  /** The base that ends here, if it is not the mount's own. */
  alias?: string;
  readonly below: Map<string, Step>;
}

interface Base {
  readonly scheme: string;
  /** The separator after the scheme. */
  readonly mark: ":" | "://";
  readonly segments: readonly string[];
}

/** Rejects two mounts that would share a URI, and two with the same name. */
export function createRoutes(mounts: readonly Mount[], { maxUriLength = 65_536 }: RouteOptions = {}): Routes {
  const starts = new Map<string, Step>();
  const names = new Set<string>();
  const mounted = mounts.map((mount) => {
    if (names.has(mount.name)) throw invalid(`two mounts are named ${quote(mount.name)}; rename one of them`);
    names.add(mount.name);
    const base = parseBase(mount);
    const formatted = `${base.scheme}${base.mark}${base.segments.map((segment, at) => formatBase(segment, at, base)).join("")}`;
    const bare = base.segments.every((segment) => segment === "");
    const held: RoutedMount = { ...mount, base: formatted, root: bare ? formatted : formatted.slice(0, -1) };
    addBase(held, base, starts);
    for (const alias of mount.aliases ?? []) addBase(held, parseBase({ ...mount, base: alias }), starts, alias);
    return held;
  });
  mounted.sort(
    (left, right) =>
      Number(right.isFirst ?? false) - Number(left.isFirst ?? false) || (left.base < right.base ? -1 : 1),
  );

  return {
    mounts: mounted,
    find(uri) {
      if (uri.length > maxUriLength) {
        throw invalid(
          `the URI has ${uri.length} characters, but at most ${maxUriLength} are allowed; use a shorter one`,
        );
      }
      return find(uri, starts);
    },
    format,
  };
}

function parseBase({ name, base: given, verbatim }: Mount): Base {
  const refuse = (why: string) => invalid(`the base ${quote(given)} of the mount ${quote(name)} ${why}`);
  const colon = schemeEnd(given);
  if (colon < 0) throw refuse('must begin with a scheme, as in "docs://"');
  const scheme = given.slice(0, colon).toLowerCase();
  const mark = given.startsWith("//", colon + 1) ? "://" : ":";
  const rest = given.slice(colon + mark.length);
  if (rest !== "" && !rest.endsWith("/")) throw refuse('must end in "/"');
  if (scheme === "file" && mark === "://" && rest === "") throw refuse('must name a folder, such as "file:///home/"');
  if (verbatim && rest !== "") throw refuse("must be a scheme alone, because its addresses are verbatim");
  if (rest.includes("?") || !isClean(rest)) throw refuse("must be a URI without query, fragment or control characters");
  const raw = rest === "" ? [] : rest.slice(0, -1).split("/");
  const segments = raw.map((segment, at) => {
    const decoded = decodeSegment(segment);
    if (decoded === undefined) throw refuse(`contains ${quote(segment)}, which is not allowed in a path`);
    if (decoded === "" && (at > 0 || mark === ":")) throw refuse("contains an empty segment");
    return at === 0 && isLocal(scheme, mark, decoded) ? "" : decoded;
  });
  return { scheme, mark, segments };
}

function formatBase(segment: string, at: number, { mark }: Base): string {
  const formatted = encodePathSegment(segment);
  // An IPv6 host may stand in brackets, in this position only.
  return `${at === 0 && mark === "://" ? formatted.replaceAll("%5B", "[").replaceAll("%5D", "]") : formatted}/`;
}

/** Adds the mount to the tree of bases; a base that is a prefix of another would own the other's URIs. */
function addBase(
  mount: RoutedMount,
  { scheme, mark, segments }: Base,
  starts: Map<string, Step>,
  alias?: string,
): void {
  const start = scheme + mark;
  let step = starts.get(start);
  if (step === undefined) starts.set(start, (step = { mount: undefined, below: new Map() }));
  for (const segment of segments) {
    if (step.mount) throw overlap(step.mount, step.alias, mount, alias);
    let next = step.below.get(segment);
    if (next === undefined) step.below.set(segment, (next = { mount: undefined, below: new Map() }));
    step = next;
  }
  const other = anyMount(step);
  if (other?.mount) throw overlap(other.mount, other.alias, mount, alias);
  step.mount = mount;
  step.alias = alias;
}

function anyMount(step: Step): Step | undefined {
  if (step.mount) return step;
  for (const next of step.below.values()) {
    const found = anyMount(next);
    if (found) return found;
  }
  return undefined;
}

function overlap(one: RoutedMount, aliasOfOne: string | undefined, other: RoutedMount, aliasOfOther?: string) {
  const which = (mount: RoutedMount) => `${quote(mount.name)} (${quote(mount.base)})`;
  const alias = aliasOfOther ?? aliasOfOne;
  if (alias !== undefined) {
    const [claiming, claimed] = aliasOfOther === undefined ? [one, other] : [other, one];
    const how = alias === claimed.base ? `is the base of ${quote(claimed.name)}` : `shares URIs with ${which(claimed)}`;
    return invalid(
      `the mount ${quote(claiming.name)} also answers for ${quote(alias)}, which ${how}; set "scheme" for ${quote(claiming.name)}`,
    );
  }
  return invalid(`the mounts ${which(one)} and ${which(other)} share URIs; change the base or scheme of one`);
}

function find(uri: string, starts: Map<string, Step>): Location | undefined {
  const colon = schemeEnd(uri);
  if (colon < 0) return undefined;
  const scheme = uri.slice(0, colon).toLowerCase();
  const mark = uri.startsWith("//", colon + 1) ? "://" : ":";
  let step = starts.get(scheme + mark);
  if (step === undefined || !isClean(uri)) return undefined;

  const mind = uri.indexOf("?", colon);
  const end = mind < 0 ? uri.length : mind;
  const begin = colon + mark.length;
  // Position of the next segment; beyond the end if there is none.
  let from = begin === end ? end + 1 : begin;
  while (step.mount === undefined) {
    if (from > end) return undefined;
    const slash = uri.indexOf("/", from);
    const to = slash < 0 || slash > end ? end : slash;
    const segment = decodeSegment(uri.slice(from, to));
    if (segment === undefined) return undefined;
    step = step.below.get(from === begin && isLocal(scheme, mark, segment) ? "" : segment);
    if (step === undefined) return undefined;
    from = to + 1;
  }

  const { mount } = step;
  if (mount.verbatim) return { mount, at: { path: uri.slice(begin) } };
  const path = from > end ? "" : decodePath(uri.slice(from, end));
  if (path === undefined) return undefined;
  // A trailing slash is no second form of the mount's URI, unless the root itself ends in one; then it is the only form.
  if (path === "" && begin !== end && (from === end) !== mount.root.endsWith("/")) return undefined;
  if (mind < 0 || mind === uri.length - 1) return { mount, at: { path } };
  const query = decodeQuery(uri.slice(mind + 1));
  return query && { mount, at: { path, query } };
}

/** Position of the end of the scheme, or -1. */
function schemeEnd(uri: string): number {
  for (let at = 0; at < uri.length; at += 1) {
    const code = uri.charCodeAt(at);
    if (code === 0x3a) return at === 0 ? -1 : at;
    const letter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    const later = (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e;
    if (!letter && !(at > 0 && later)) return -1;
  }
  return -1;
}

/** No fragment, no raw control character, no half of a surrogate pair. */
function isClean(text: string): boolean {
  let wide = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x23 || (code >= 0x7f && code < 0xa0)) return false;
    if (code >= 0xd800) wide = true;
  }
  return !wide || text.isWellFormed();
}

/** True for the name of this machine in a file URI, which means the same file. */
function isLocal(scheme: string, mark: string, authority: string): boolean {
  return scheme === "file" && mark === "://" && authority.length === 9 && authority.toLowerCase() === "localhost";
}

function decodePath(raw: string): string | undefined {
  if (!raw.includes("%")) return hasDotSegment(raw) ? undefined : raw;
  const segments = raw.split("/");
  for (let at = 0; at < segments.length; at += 1) {
    const segment = decodeSegment(segments[at] ?? "");
    if (segment === undefined) return undefined;
    segments[at] = segment;
  }
  return segments.join("/");
}

function decodeSegment(raw: string): string | undefined {
  const decoded = unescape(raw);
  if (decoded === undefined || decoded === "." || decoded === "..") return undefined;
  return decoded.includes("/") ? decoded.replaceAll("/", innerSlash) : decoded;
}

function decodeQuery(raw: string): Record<string, string> | undefined {
  const query: Record<string, string> = Object.create(null);
  for (const pair of raw.split("&")) {
    const equals = pair.indexOf("=");
    const name = unescape(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : unescape(pair.slice(equals + 1));
    if (!name || value === undefined || name in query) return undefined;
    query[name] = value;
  }
  return query;
}

/** Strict: anything but the escapes of well-formed UTF-8 without NUL is undefined. */
function unescape(raw: string): string | undefined {
  if (!raw.includes("%")) return raw;
  try {
    const decoded = decodeURIComponent(raw);
    return decoded.includes("\0") ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function format({ base, root, verbatim }: RoutedMount, { path, query }: Address): string | undefined {
  if (verbatim) return isClean(path) ? base + path : undefined;
  const uri = path === "" ? root : formatPath(base, path);
  if (uri === undefined || query === undefined) return uri;
  return formatQuery(uri, query);
}

function formatPath(base: string, path: string): string | undefined {
  const opaque = base.endsWith(":");
  // Two slashes after the scheme would start an authority.
  if (opaque && path.startsWith("//")) return undefined;
  const authority = base.endsWith("://");
  if (isPlain(path, authority)) return hasDotSegment(path) ? undefined : base + path;
  if (!path.isWellFormed() || hasDotSegment(path)) return undefined;
  const segments = path.split("/").map(encodePathSegment);
  // In the authority, a colon would start a port, and an at sign would end a user name.
  if (authority) segments[0] = segments[0]?.replaceAll(":", "%3A").replaceAll("@", "%40") ?? "";
  return base + segments.join("/");
}

function formatQuery(uri: string, query: Readonly<Record<string, string>>): string | undefined {
  let formatted = uri;
  let sign = "?";
  for (const name of Object.keys(query)) {
    const value = query[name] ?? "";
    if (name === "" || !name.isWellFormed() || !value.isWellFormed()) return undefined;
    if (name.includes("\0") || value.includes("\0")) return undefined;
    formatted += `${sign}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
    sign = "&";
  }
  return formatted;
}

/** One flag per ASCII character: 1 if it is written unescaped in a path, as is the slash between segments. */
const plain = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/") {
  plain[character.charCodeAt(0)] = 1;
}

function isPlain(path: string, authority: boolean): boolean {
  let first = authority;
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at);
    if (code >= 128 || plain[code] === 0) return false;
    if (!first) continue;
    if (code === 0x3a || code === 0x40) return false;
    if (code === 0x2f) first = false;
  }
  return true;
}

function hasDotSegment(path: string): boolean {
  for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) {
    if (dot > 0 && path.charCodeAt(dot - 1) !== 0x2f) continue;
    const end = path.charCodeAt(dot + 1) === 0x2e ? dot + 2 : dot + 1;
    if (end === path.length || path.charCodeAt(end) === 0x2f) return true;
  }
  return false;
}

function encodePathSegment(segment: string): string {
  return encodeSegment(segment.replaceAll(innerSlash, "/"));
}
