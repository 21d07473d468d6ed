/** The hosts whose pages may be read, and their schemes. */
import { invalid, quote } from "../../errors.ts";

interface Hosts {
  allows(url: URL): boolean;
  /** "https:" unless the host was configured only with http://. */
  schemeOf(host: string): string;
  /** Hosts without a wildcard. */
  readonly names: readonly string[];
}

interface Host {
  readonly protocol: string;
  /** With its port, unless it is the default. */
  readonly host: string;
  /** Whether it stands for every name below it, but not for itself. */
  readonly isBelow: boolean;
}

export function createHosts(given: readonly string[]): Hosts {
  const hosts = given.map(parseHost);
  return {
    allows: ({ protocol, host }) => hosts.some((each) => each.protocol === protocol && matchesHost(host, each)),
    schemeOf(host) {
      const matching = hosts.filter((each) => matchesHost(host, each));
      return matching.length > 0 && matching.every(({ protocol }) => protocol === "http:") ? "http:" : "https:";
    },
    names: [...new Set(hosts.flatMap(({ host, isBelow }) => (isBelow ? [] : [host])))].sort(),
  };
}

function matchesHost(host: string, { host: named, isBelow }: Host): boolean {
  return isBelow ? host.endsWith(`.${named}`) && host.length > named.length + 1 : host === named;
}

function parseHost(given: string): Host {
  const scheme = /^(https?):\/\//i.exec(given);
  const rest = given.slice(scheme?.[0].length ?? 0).replace(/\/$/, "");
  const isBelow = rest.startsWith("*.");
  const url = URL.parse(`${scheme?.[1] ?? "https"}://${isBelow ? rest.slice(2) : rest}`);
  if (!url || /[/\\@?#*]/.test(isBelow ? rest.slice(2) : rest))
    throw invalid(`${quote(given)} is not a host; write "docs.example.com", "*.example.com" or "http://intranet:8080"`);
  return { protocol: url.protocol, host: url.host, isBelow };
}
