/** Translates URIs of another server to addresses and back: `notes://all/a%20b?x=1` has the address `notes:%2F%2Fall/a%20b?x=1`. */
import { encodeSegment } from "../../lib/encode-path.ts";
import { Lru } from "../../lib/lru.ts";
import { pathOf, segmentsOf } from "../../source.ts";
import type { Address } from "../../source.ts";

export interface Addresses {
  /** Undefined if our URIs cannot express it. Remembers an unusual spelling. */
  of(uri: string): Address | undefined;
  /** The URI for the other server; undefined if the address is not one of its URIs. */
  uri(at: Address): string | undefined;
}

/** Limit of remembered spellings; the oldest is dropped first. */
const maxRemembered = 50_000;
const maxUriLength = 8192;

/**
 * An address contains decoded segments, so that all spellings of a URI have one address, and access is checked once. Requests to the other
 * server use the normal spelling, or the one that it listed itself.
 */
export function createAddresses(): Addresses {
  const remembered = new Lru<string, string>({ maxEntries: maxRemembered });

  return {
    of(uri) {
      const at = parse(uri);
      if (!at) return undefined;
      if (format(at) !== uri) {
        const key = keyOf(at);
        // The first of two spellings of one address is used.
        if (!remembered.has(key)) remembered.set(key, uri);
      }
      return at;
    },
    uri(at) {
      const known = remembered.size > 0 ? remembered.get(keyOf(at)) : undefined;
      if (known !== undefined) return known;
      const formatted = format(at);
      // Two addresses of one resource could bypass the policy.
      return formatted !== undefined && parse(formatted)?.path === at.path ? formatted : undefined;
    },
  };
}

function keyOf({ path, query }: Address): string {
  return query ? `${path}\n${JSON.stringify(query)}` : path;
}

/** With this scheme the path begins immediately: the segment before SKILL.md is the name of a skill, even if it is the first. */
export const skillHead = "skill://";

/** The scheme, and the text up to the first slash after it. */
const headOf = /^[a-z][a-z0-9+.-]*:(?:\/\/)?[^/?#]*/i;

/** The status resources of another Pressmark server are for its owner, not for callers of this one. */
const ownersOf = /^pressmark:/i;
/** Excluded as well: it names all its sets. */
const libraryOf = /^zed:\/\/prompt-library$/i;

function parse(uri: string): Address | undefined {
  if (uri.length > maxUriLength) return undefined;
  const isSkill = uri.startsWith(skillHead);
  const head = isSkill ? skillHead : headOf.exec(uri)?.[0];
  if (head === undefined || ownersOf.test(head) || libraryOf.test(head) || uri.includes("#") || !uri.isWellFormed())
    return undefined;
  const mind = uri.indexOf("?", head.length);
  const raw = uri.slice(head.length, mind < 0 ? undefined : mind);
  const segments =
    raw === ""
      ? []
      : raw
          .slice(isSkill ? 0 : 1)
          .split("/")
          .map(decode);
  if ([head, ...segments].some((segment) => segment === "." || segment === ".." || /[\0\n]/.test(segment)))
    return undefined;
  const path = pathOf([head, ...segments]);
  if (mind < 0) return { path };
  const query = parseQuery(uri.slice(mind + 1));
  return query && { path, query };
}

/** Unchanged if it contains an invalid escape. */
function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

function parseQuery(raw: string): Record<string, string> | undefined {
  const query: Record<string, string> = Object.create(null);
  for (const pair of raw.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name === "" || name in query) return undefined;
    query[name] = equals < 0 ? "" : decode(pair.slice(equals + 1));
  }
  return query;
}

/**
 * In the normal spelling. A scheme or host can be written in several ways: unless it was listed so, only the normal form is accepted, else
 * a hidden resource could be reached under another address.
 */
function format({ path: decoded, query }: Address): string | undefined {
  const [head = "", ...segments] = segmentsOf(decoded);
  if (headOf.exec(head)?.[0] !== head || head.includes("%") || head !== head.toLowerCase()) return undefined;
  const isSkill = head.startsWith(skillHead);
  if (isSkill && head !== skillHead) return undefined;
  const path = segments.map(encodeSegment).join("/");
  const uri = isSkill || segments.length === 0 ? head + path : `${head}/${path}`;
  const pairs = Object.entries(query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return pairs.length > 0 ? `${uri}?${pairs.join("&")}` : uri;
}
