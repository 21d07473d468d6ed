/** URIs of another server as addresses here, and back: `notes://all/a%20b?x=1` stands at `notes:%2F%2Fall/a%20b?x=1`. */
import { pathOf, segmentsOf } from "../../source.ts";
import type { Address } from "../../source.ts";

export interface Addresses {
  /** Undefined for what no URI of this house could say. Remembers a spelling that is not the usual one. */
  of(uri: string): Address | undefined;
  /** The URI that the other server knows; undefined for what is none. */
  uri(at: Address): string | undefined;
}

/** So many unusual spellings are remembered; the oldest goes first. */
const maxRemembered = 50_000;
const maxUriLength = 8192;

/**
 * An address holds the decoded segments, so that every spelling of a URI is one address, and access is judged once. The other
 * server is asked in the usual spelling, or in the one that it listed itself.
 */
export function createAddresses(): Addresses {
  const remembered = new Map<string, string>();

  return {
    of(uri) {
      const at = parse(uri);
      if (!at) return undefined;
      if (format(at) !== uri) {
        const key = keyOf(at);
        // Of two spellings of one address the first stands.
        if (!remembered.has(key)) remembered.set(key, uri);
        for (const oldest of remembered.keys()) {
          if (remembered.size <= maxRemembered) break;
          remembered.delete(oldest);
        }
      }
      return at;
    },
    uri(at) {
      const known = remembered.size > 0 ? remembered.get(keyOf(at)) : undefined;
      if (known !== undefined) return known;
      const spelled = format(at);
      // Two addresses of one thing would be two chances to see it.
      return spelled !== undefined && parse(spelled)?.path === at.path ? spelled : undefined;
    },
  };
}

function keyOf({ path, query }: Address): string {
  return query ? `${path}\n${JSON.stringify(query)}` : path;
}

/** Behind this scheme the path begins at once: the last segment before SKILL.md is the name of a skill, also where it is the first. */
export const skillHead = "skill://";

/** The scheme and what stands before the first slash behind it. */
const headOf = /^[a-z][a-z0-9+.-]*:(?:\/\/)?[^/?#]*/i;

/** What another house says of itself is for its owner, whom it takes this one for, and not for those who ask here. */
const ownersOf = /^pressmark:/i;
/** Nor is this, which names all its sets. */
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

/** As it stands, where it is no escape. */
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
 * In the usual spelling. A scheme or a server may be written in more than one way: unless it was listed so, only the plain one is taken,
 * or what is hidden at one address could be had at another.
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

/** What may stand for itself in a path does. */
export function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}
