/** The URL of the MCP endpoint for clients on this machine. */
import { hostInUrl } from "../transport/guard.ts";
import type { Certificate } from "./certificate.ts";

export const defaultPort = 7357;

interface ServerAddress {
  /** As configured. */
  readonly host: string;
  readonly port: number;
  readonly certificate?: Pick<Certificate, "hosts">;
}

export function serverUrl({ host, port, certificate }: ServerAddress): string {
  const reached = reachableHost(host);
  if (!certificate) return `http://${hostInUrl(reached)}:${port}/mcp`;
  return `https://${certifiedHost(certificate.hosts, hostInUrl(reached))}:${port}/mcp`;
}

/** Clients cannot connect to a wildcard address. */
export function reachableHost(host: string): string {
  return host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
}

/** A host that the certificate is for; else the first of its names, which clients must use. */
function certifiedHost(hosts: readonly string[], host: string): string {
  if (hosts.includes(host)) return host;
  return hosts.find((each) => /^[^[].*[a-z]/.test(each)) ?? host;
}
