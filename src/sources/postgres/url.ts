/** The URL that names a database: where it is, who asks, and how the way there is kept safe. Never shown. */
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
  /** What TLS must prove; undefined without TLS. */
  readonly tls: TlsDemand | undefined;
}

export type TlsDemand = "require" | "verify-ca" | "verify-full";

const standardPort = 5432;
const modes = ["disable", "require", "verify-ca", "verify-full"] as const;

/** Throws in words that hold nothing of the URL. */
export function parseUrl(text: string): Target {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('"url" is no URL; write it as postgres://user@host:5432/database');
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    throw invalid('"url" must begin with postgres:// or postgresql://');
  const { searchParams: given } = url;
  const host = given.get("host") ?? (decode(url.hostname).replace(/^\[(.*)\]$/, "$1") || "localhost");
  const port = Number(given.get("port") ?? (url.port || standardPort));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid('the port in "url" is none');
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
  // What may be encrypted or not, as the way there allows, is neither.
  if (known === undefined) throw invalid(`sslmode in "url" is one of ${modes.join(", ")}, not ${quote(mode, 20)}`);
  return known === "disable" ? undefined : known;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('"url" holds a percent sign that is no escape; write it as %25');
  }
}

/** The URI prefix of everything in this database: the place alone, never who asks. */
export function baseUriOf({ host, port, database }: Target): string {
  const name = isSocket(host) ? "localhost" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  return `postgres://${name}${port === standardPort ? "" : `:${port}`}/${encodeURIComponent(database)}/`;
}

/** Whether no one else can listen on the way there. */
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

/** As libpq understands the words: "require" proves nothing, unless there is an authority to prove it with. */
export function tlsOptions({ tls }: Target, caFile: string | undefined): TlsOptions | false {
  if (tls === undefined) return false;
  const ca = caFile === undefined ? {} : { ca: readAuthority(caFile) };
  if (tls === "require" && caFile === undefined) return { rejectUnauthorized: false };
  // A name is compared only where that is asked for.
  return { rejectUnauthorized: true, ...ca, ...(tls !== "verify-full" && { checkServerIdentity: () => undefined }) };
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw invalid(
      `the file of "ca" cannot be read (${code}); it holds the certificates that the server's is signed with`,
    );
  }
}
