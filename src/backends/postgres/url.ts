/** The database URL: host, user, and TLS settings. Never shown. */
import { readFileSync } from "node:fs";
import { invalid, quote } from "../../errors.ts";

export interface Target {
  /** A name, an address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  readonly applicationName?: string;
  /** Requirements on the certificate; undefined without TLS. */
  readonly tls: TlsDemand | undefined;
}

type TlsDemand = "require" | "verify-ca" | "verify-full";

const standardPort = 5432;
const modes = ["disable", "require", "verify-ca", "verify-full"] as const;

/** Throws errors that contain nothing of the URL. */
export function parseUrl(text: string): Target {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('"url" is not a URL; write it as postgres://user@host:5432/database');
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    throw invalid('"url" must start with postgres:// or postgresql://');
  const { searchParams: given } = url;
  const host = given.get("host") ?? (decode(url.hostname).replace(/^\[(.*)\]$/, "$1") || "localhost");
  const port = Number(given.get("port") ?? (url.port || standardPort));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid('the port in "url" is not valid');
  const database = decode(url.pathname.slice(1)) || given.get("dbname") || "";
  if (database === "") throw invalid('"url" names no database; write it as postgres://user@host:5432/database');
  const user = decode(url.username) || given.get("user") || "";
  const password = decode(url.password) || given.get("password") || "";
  const applicationName = given.get("application_name") ?? "";
  return {
    host,
    port,
    database,
    ...(user !== "" && { user }),
    ...(password !== "" && { password }),
    ...(applicationName !== "" && { applicationName }),
    tls: tlsOf(given.get("sslmode")),
  };
}

function tlsOf(mode: string | null): TlsDemand | undefined {
  if (mode === null) return undefined;
  const known = modes.find((each) => each === mode);
  // Modes that may fall back to plain text are not supported.
  if (known === undefined) throw invalid(`sslmode in "url" must be one of ${modes.join(", ")}, not ${quote(mode, 20)}`);
  return known === "disable" ? undefined : known;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('"url" holds an invalid percent escape; write a percent sign as %25');
  }
}

/** The URI prefix of everything in this database: its location, never the user. */
export function baseUriOf({ host, port, database }: Target): string {
  const name = isSocket(host) ? "localhost" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  return `postgres://${name}${port === standardPort ? "" : `:${port}`}/${encodeURIComponent(database)}/`;
}

/** Whether no one else can read the connection. */
export function isNear({ host }: Target): boolean {
  return isSocket(host) || /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host);
}

function isSocket(host: string): boolean {
  return host.startsWith("/");
}

export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly checkServerIdentity?: () => undefined;
}

/** Modes as in libpq: "require" verifies nothing, unless there is a certificate authority. */
export function tlsOptions({ tls }: Target, caFile: string | undefined): TlsOptions | false {
  if (tls === undefined) return false;
  const ca = caFile === undefined ? {} : { ca: readAuthority(caFile) };
  if (tls === "require" && caFile === undefined) return { rejectUnauthorized: false };
  // The host name is compared only with verify-full.
  return { rejectUnauthorized: true, ...ca, ...(tls !== "verify-full" && { checkServerIdentity: () => undefined }) };
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw invalid(
      `cannot read the "ca" file (${code}); it must hold the certificates of the authority that signed the server's certificate`,
    );
  }
}
