/** Refuses requests from pages of other sites, and unknown host names (DNS rebinding). */
import type { IncomingHttpHeaders } from "node:http";
import { quote } from "../errors.ts";
import { isOrigin } from "../lib/is-origin.ts";

interface GuardOptions {
  /** Host names besides localhost, with or without a port. "*" allows any. */
  readonly hosts?: readonly string[];
  /** Origins (`https://app.example`) whose pages may send requests. */
  readonly origins?: readonly string[];
  /** Called for each request with a host name that is not allowed. */
  readonly refusedHost?: (host: string) => void;
}

/** What is known about the client's connection besides the headers. */
export interface Connection {
  /** The host that a trusted proxy was asked for. */
  readonly host?: string;
  /** Whether the client's connection is encrypted: then its own page is, too. */
  readonly isSecure?: boolean;
}

const local = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Returns a function that says why a request with these headers is refused; undefined if it is allowed. `isLinkable`: the page holds
 * no data, so links from other sites may open it.
 */
export function createGuard({ hosts = [], origins = [], refusedHost }: GuardOptions = {}) {
  const localNames = new Set(local);
  const names = new Set([...local, ...hosts.map((host) => host.toLowerCase())]);
  const anyHost = names.delete("*");
  const allowedOrigins = toOrigins(origins);

  function isOurs(authority: string): boolean {
    const name = nameOf(authority);
    return name !== undefined && (names.has(name) || names.has(authority));
  }

  function mayAsk(origin: string, host: string, isSecure: boolean): boolean {
    if (allowedOrigins.has(origin)) return true;
    const authority = authorityOf(origin);
    if (authority === undefined) return false;
    const name = nameOf(authority);
    if (name === undefined) return false;
    // Our own page. With "*" the host proves nothing: a stranger's name may point here.
    if (localNames.has(name)) return true;
    return authority === host && isOurs(host) && (!isSecure || origin.startsWith("https:"));
  }

  return (
    headers: IncomingHttpHeaders,
    isLinkable = false,
    { host: forwardedHost, isSecure = false }: Connection = {},
  ): string | undefined => {
    const { origin: originHeader } = headers;
    // A rebound page could add the header of a proxy, but not change its own Host: both are checked.
    const host = headers.host?.toLowerCase() ?? "";
    for (const name of forwardedHost === undefined ? [host] : [host, forwardedHost])
      if (!anyHost && !isOurs(name)) {
        refusedHost?.(name);
        return `the host ${quote(name)} is not allowed; ask the operator of this server to allow it`;
      }
    if (originHeader !== undefined && !mayAsk(originHeader.toLowerCase(), forwardedHost ?? host, isSecure))
      return `the origin ${quote(originHeader)} is not allowed; ask the operator of this server to allow it`;
    // Images, scripts and frames of other pages have no Origin, but Fetch Metadata tells where they come from.
    if (originHeader === undefined && isFromElsewhere(headers) && !(isLinkable && isFollowedLink(headers)))
      return "pages of other sites may not load this; open it directly";
    return undefined;
  };
}

/** The valid ones, in lower case. */
export function toOrigins(origins: readonly string[]): ReadonlySet<string> {
  return new Set(origins.filter(isOrigin).map((origin) => origin.toLowerCase()));
}

/** https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header: programs send none, and unknown values count as another site. */
function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** A link opened in a tab; the linking page sees nothing of it. */
export function isFollowedLink(headers: IncomingHttpHeaders): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

function authorityOf(origin: string): string | undefined {
  if (origin.startsWith("http://")) return origin.slice("http://".length);
  if (origin.startsWith("https://")) return origin.slice("https://".length);
  return undefined;
}

/** Whether a host is a name of this machine for itself. */
export function isLocalHost(authority: string): boolean {
  return local.includes(nameOf(authority) ?? "");
}

/** The name in `name`, `name:port`, `[v6]` or `[v6]:port`; undefined for anything else. */
function nameOf(authority: string): string | undefined {
  const end = authority.startsWith("[") ? authority.indexOf("]") + 1 : authority.indexOf(":");
  if (end === -1) return authority === "" ? undefined : authority;
  if (end === 0) return undefined;
  if (end < authority.length && !isPort(authority, end)) return undefined;
  return authority.slice(0, end);
}

function isPort(authority: string, colon: number): boolean {
  if (authority[colon] !== ":" || authority.length - colon > 6) return false;
  for (let at = colon + 1; at < authority.length; at++) {
    const code = authority.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

/** A host for a URL: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
