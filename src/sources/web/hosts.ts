/** The hosts whose pages may be read, with their schemes and headers. */
import { validateHeaderName, validateHeaderValue } from "node:http";
import { invalid, quote } from "../../errors.ts";

type PageHeaders = Readonly<Record<string, string>>;

/** A host as configured. */
export type GivenHost = string | { readonly host: string; readonly headers: PageHeaders };

interface Hosts {
  allows(url: URL): boolean;
  /** "https:" unless the host was configured only with http://. */
  schemeOf(host: string): string;
  /** The headers for requests to exactly this scheme, host and port. */
  headersFor(url: URL): PageHeaders;
  /** Hosts without a wildcard. */
  readonly names: readonly string[];
}

interface Host {
  readonly protocol: string;
  /** With its port, unless it is the default. */
  readonly host: string;
  /** Whether it stands for every name below it, but not for itself. */
  readonly isBelow: boolean;
  readonly headers: PageHeaders;
}

export function createHosts(given: readonly GivenHost[]): Hosts {
  const hosts = given.map((each) =>
    typeof each === "string" ? parseHost(each, {}) : parseHost(each.host, each.headers),
  );
  return {
    allows: ({ protocol, host }) => hosts.some((each) => each.protocol === protocol && matchesHost(host, each)),
    schemeOf(host) {
      const matching = hosts.filter((each) => matchesHost(host, each));
      return matching.length > 0 && matching.every(({ protocol }) => protocol === "http:") ? "http:" : "https:";
    },
    headersFor: ({ protocol, host }) =>
      Object.assign(
        {},
        ...hosts.filter((each) => each.protocol === protocol && each.host === host).map(({ headers }) => headers),
      ) as PageHeaders,
    names: [...new Set(hosts.flatMap(({ host, isBelow }) => (isBelow ? [] : [host])))].sort(),
  };
}

function matchesHost(host: string, { host: named, isBelow }: Host): boolean {
  return isBelow ? host.endsWith(`.${named}`) && host.length > named.length + 1 : host === named;
}

/** Headers that belong to the connection, or that each request sets by itself. */
const ownHeaders = new Set(
  (
    "accept-encoding connection content-length expect host if-modified-since if-none-match keep-alive proxy-authorization " +
    "te trailer transfer-encoding upgrade user-agent"
  ).split(" "),
);

function parseHost(given: string, headers: PageHeaders): Host {
  const scheme = /^(https?):\/\//i.exec(given);
  const rest = given.slice(scheme?.[0].length ?? 0).replace(/\/$/, "");
  const isBelow = rest.startsWith("*.");
  const url = URL.parse(`${scheme?.[1] ?? "https"}://${isBelow ? rest.slice(2) : rest}`);
  if (!url || /[/\\@?#*]/.test(isBelow ? rest.slice(2) : rest))
    throw invalid(`${quote(given)} is not a host; write "docs.example.com", "*.example.com" or "http://intranet:8080"`);
  if (isBelow && Object.keys(headers).length > 0)
    throw invalid(`${quote(given)} has headers: name each host that gets them, without a wildcard`);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  return { protocol: url.protocol, host: url.host, isBelow, headers };
}

/** The value is a secret, so it is in no message. */
function checkHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw invalid(`the header ${quote(name, 80)} has a name or value that HTTP does not allow`);
  }
  if (ownHeaders.has(name.toLowerCase())) throw invalid(`the header ${quote(name, 80)} cannot be configured`);
}
