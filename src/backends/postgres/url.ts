/** The database URL: host, user, and TLS settings. Never shown. */
import { readFileSync } from "node:fs";
import { invalid } from "../../errors.ts";

export interface Target {
  /** A name, an address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  readonly applicationName?: string;
  readonly sslmode: SslMode;
}

type SslMode = (typeof modes)[number];

const standardPort = 5432;
const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;

/** Throws errors that contain nothing of the URL. */
export function parseUrl(text: string): Target {
  let url: URL;
  try {
    // libpq allows a user without a host, as in postgres://user@/database?host=/run/postgresql; URL does not.
    url = new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/?#@]*@)(?=[/?])/i, "$1localhost"));
  } catch {
    throw invalid('"url" is not a URL; write it as postgres://user@host:5432/database');
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    throw invalid('"url" must start with postgres:// or postgresql://');
  const { searchParams: given } = url;
  const host = given.get("host") ?? (decode(url.hostname).replace(/^\[(.*)\]$/, "$1") || "localhost");
  if (host.includes(",")) throw invalid('"url" names several hosts; write the one to connect to');
  if (given.has("sslrootcert"))
    throw invalid('"url" names a file in sslrootcert; remove it, and name the file in the option "ca"');
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
    sslmode: sslmodeOf(given),
  };
}

/** Every parameter about encryption is obeyed or refused: one that is ignored would leave the connection less safe than the URL says. */
function sslmodeOf(given: URLSearchParams): SslMode {
  const names = [...given]
    // Values that demand nothing need no support.
    .filter(([name, value]) => !(/^(?:channel_binding|gssencmode)$/.test(name) && /^(?:disable|prefer)$/.test(value)))
    .flatMap(([name]) => (/^(?:ssl|requiressl|channel_binding|gssenc)/i.test(name) ? [name] : []));
  // What seems to be a parameter is part of the password if that contains a question mark, so none is repeated.
  if (names.some((name) => name !== "ssl" && name !== "sslmode"))
    throw invalid(
      '"url" has an unsupported parameter about encryption; remove it, and write sslmode=verify-full; in a password write ? as %3F',
    );
  if (names.length > 1) throw invalid('"url" says twice how to encrypt; write sslmode once, and no ssl');
  // As in libpq: ssl=true is another form of sslmode=require.
  if (given.has("ssl") && given.get("ssl") !== "true")
    throw invalid('ssl in "url" must be true; write sslmode=verify-full or sslmode=disable instead');
  const mode = given.has("ssl") ? "require" : (given.get("sslmode") ?? "disable");
  const known = modes.find((each) => each === mode);
  if (known === undefined) throw invalid(`sslmode in "url" must be one of ${modes.join(", ")}`);
  return known;
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

/** False is a connection without TLS. */
export type TlsAttempts = readonly [TlsOptions | false, ...(TlsOptions | false)[]];

export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly checkServerIdentity?: () => undefined;
}

/**
 * The ways to connect, in the order to try them, as in libpq: a socket is never encrypted, "allow" and "prefer" have a second way, and only
 * the other modes or a certificate authority verify the certificate.
 */
export function tlsAttempts({ host, sslmode }: Target, caFile: string | undefined): TlsAttempts {
  if (isSocket(host) || sslmode === "disable") return [false];
  const isVerified = caFile !== undefined || sslmode === "verify-ca" || sslmode === "verify-full";
  const encrypted = {
    rejectUnauthorized: isVerified,
    ...(caFile !== undefined && { ca: readAuthority(caFile) }),
    // The host name is compared only with verify-full.
    ...(sslmode !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
  if (sslmode === "allow") return [false, encrypted];
  return sslmode === "prefer" ? [encrypted, false] : [encrypted];
}

/** Whether the connection may be without TLS. */
export function mayBePlain({ sslmode }: Target): boolean {
  return sslmode === "disable" || sslmode === "allow" || sslmode === "prefer";
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
