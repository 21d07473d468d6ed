/** What trusted proxies say about a request: the client's address, its scheme, and the host that it asked for. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { clientOf } from "./clients.ts";
import { canonicalAddress, createNetworks } from "../lib/networks.ts";

export interface ProxyTrust {
  /** Addresses and networks of proxies. */
  readonly proxies: readonly string[];
  /** The headers that the proxies set. The others come from clients, and are ignored. */
  readonly header?: "x-forwarded" | "forwarded";
}

/** Absent members were not said, or not in a valid form. */
export interface Forwarded {
  /** Canonical. */
  readonly address?: string;
  readonly proto?: "http" | "https";
  readonly host?: string;
}

/** Entries that are examined, from the last: one for each proxy. */
const maxHops = 10;
/** One element of `Forwarded` (RFC 7239, section 4), without the escapes that no address, scheme or host needs. */
const pairs = /([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"[^"\\,]*")(?:;[ \t]*|$)/y;

const known = new WeakMap<IncomingMessage, Forwarded>();

/** Returns a function that reads what proxies say. Nothing counts if the connection does not come from one of them. */
export function createForwardedReader({ proxies, header = "x-forwarded" }: ProxyTrust) {
  const { include: isTrusted } = createNetworks(proxies);
  const read = header === "forwarded" ? readForwarded : readXForwarded;

  /** Whether connections from this address are those of a proxy. */
  function isProxy(remoteAddress: string | undefined): boolean {
    const address = canonicalAddress(remoteAddress ?? "");
    return address !== undefined && isTrusted(address);
  }

  return {
    isProxy,
    /** Remembers what the proxy says about this request. */
    note(request: IncomingMessage): void {
      if (isProxy(request.socket.remoteAddress)) known.set(request, read(request.headers, isTrusted));
    },
  };
}

export type ForwardedReader = ReturnType<typeof createForwardedReader>;

/** The client's address, as far as it is known. */
export function addressOf(request: IncomingMessage): string | undefined {
  return forwardedAddress(request) ?? clientOf(request.socket).remote;
}

/** The address that a trusted proxy named. */
export function forwardedAddress(request: IncomingMessage): string | undefined {
  return known.get(request)?.address;
}

/** Whether the client's own connection is encrypted. */
export function isSecure(request: IncomingMessage): boolean {
  const proto = known.get(request)?.proto;
  return proto === undefined ? (request.socket as Partial<TLSSocket>).encrypted === true : proto === "https";
}

/** The host that the client asked for, in lower case. */
export function requestedHost(request: IncomingMessage): string {
  return forwardedHost(request) ?? request.headers.host?.toLowerCase() ?? "";
}

/** The host that a trusted proxy named. */
export function forwardedHost(request: IncomingMessage): string | undefined {
  return known.get(request)?.host;
}

/** `isTrusted` gets a canonical address. */
export function readXForwarded(headers: IncomingHttpHeaders, isTrusted: (address: string) => boolean): Forwarded {
  let address: string | undefined;
  for (const entry of fromLast(single(headers["x-forwarded-for"]))) {
    const named = addressIn(entry);
    if (named === undefined) break;
    address = named;
    if (!isTrusted(named)) break;
  }
  const host = single(headers["x-forwarded-host"]);
  return { address, proto: protoIn(single(headers["x-forwarded-proto"])), host: hostIn(host) };
}

/** `isTrusted` gets a canonical address. */
export function readForwarded(headers: IncomingHttpHeaders, isTrusted: (address: string) => boolean): Forwarded {
  let forwarded: Forwarded = {};
  for (const element of fromLast(single(headers["forwarded"]))) {
    const parameters = parametersIn(element);
    const address = addressIn(parameters?.get("for"));
    if (address === undefined) break;
    forwarded = { address, proto: protoIn(parameters?.get("proto")), host: hostIn(parameters?.get("host")) };
    if (!isTrusted(address)) break;
  }
  return forwarded;
}

/** Entries of a list. Each proxy appends one, so those before the last untrusted one are the client's words. */
function* fromLast(list: string): Generator<string, void> {
  let end = list.length;
  for (let count = 0; count < maxHops && end >= 0; count++) {
    const comma = end === 0 ? -1 : list.lastIndexOf(",", end - 1);
    yield list.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** `1.2.3.4`, `1.2.3.4:567`, `::1`, `[::1]` or `[::1]:567`. */
function addressIn(text = ""): string | undefined {
  const [, v6, v4] = /^(?:\[([\da-f]*:[\da-f:.]*)\]|([\d.]+))(?::\d{1,5})?$/i.exec(text) ?? [];
  return canonicalAddress(v6 ?? v4 ?? text);
}

function protoIn(text = ""): "http" | "https" | undefined {
  const proto = text.toLowerCase();
  return proto === "http" || proto === "https" ? proto : undefined;
}

/** A list has no single host. */
function hostIn(text = ""): string | undefined {
  return text === "" || text.includes(",") ? undefined : text.toLowerCase();
}

/** Undefined if the element is not written as the RFC says, or names a parameter twice. */
function parametersIn(element: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  pairs.lastIndex = 0;
  while (pairs.lastIndex < element.length) {
    const [, name = "", value = ""] = pairs.exec(element) ?? [];
    if (name === "" || parameters.has(name.toLowerCase())) return undefined;
    parameters.set(name.toLowerCase(), value.startsWith('"') ? value.slice(1, -1) : value);
  }
  return parameters;
}

/** Node joins repeated headers of these names to a list. */
function single(header: string | string[] | undefined): string {
  return typeof header === "string" ? header.trim() : "";
}
