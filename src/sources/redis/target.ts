/** The server that a URL names: `redis://`, `rediss://` with TLS, or `redis+socket://` for a socket of this machine. */
import { isIP } from "node:net";
import { invalid } from "../../errors.ts";

export interface RedisTarget {
  readonly host: string;
  readonly port: number;
  /** A socket of this machine, in place of host and port. */
  readonly path?: string;
  readonly isTls: boolean;
  readonly ca?: string | undefined;
  readonly database: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly ca?: string | undefined;
}

const form = "redis://host:6379/0, rediss://host:6379/0 with TLS, or redis+socket:///path/to/redis.sock?db=0";

/** Throws "invalid" without repeating the URL: it may contain a password. */
export function parseTarget(url: string, { username, password, ca }: Credentials): RedisTarget {
  const parsed = URL.parse(url);
  const scheme = parsed?.protocol;
  if (!parsed || (scheme !== "redis:" && scheme !== "rediss:" && scheme !== "redis+socket:"))
    throw invalid(`"url" is not the address of a Redis server; write ${form}`);
  const isSocket = scheme === "redis+socket:";
  const path = decoded(parsed.pathname);
  const named = isSocket ? (parsed.searchParams.get("db") ?? "0") : path.replace(/^\//, "") || "0";
  const unknown = [...parsed.searchParams.keys()].filter((name) => !(isSocket && name === "db"));
  if (unknown.length > 0 || parsed.hash !== "")
    throw invalid(`"url" has parameters that are not supported; write ${form}`);
  if (!/^\d{1,5}$/.test(named) || (isSocket && path === "") || (!isSocket && parsed.hostname === ""))
    throw invalid(`"url" must name a host or socket, and the database as a number; write ${form}`);
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(parsed.port || 6379),
    ...(isSocket && { path }),
    isTls: scheme === "rediss:",
    ca,
    database: Number(named),
    username: username ?? (decoded(parsed.username) || undefined),
    password: password ?? (decoded(parsed.password) || undefined),
  };
}

/** Whether the connection stays on this machine. */
export function isLocal({ host, path }: RedisTarget): boolean {
  return path !== undefined || host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(`"url" contains a percent sign that is no escape; write it as %25`);
  }
}
