/** The URL of the shared database, as in `server.state`. Never shown. */
import { parseUrl, tlsAttempts, type Target, type TlsAttempts } from "../backends/postgres/url.ts";
import { invalid, ResourceError } from "../errors.ts";
import { checkParameters } from "./check-parameters.ts";

export interface StateUrl {
  readonly target: Target;
  readonly tls: TlsAttempts;
  readonly schema: string;
}

const defaultSchema = "pressmark";

/** Those of the connection are read by `parseUrl`. */
const parameters: readonly string[] = [
  "schema",
  "sslmode",
  "sslrootcert",
  "ssl",
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "application_name",
  "channel_binding",
  "gssencmode",
];

/** Parameters of the URL: `schema` (default: pressmark), `sslmode` and `sslrootcert` (a file). Throws errors that contain nothing secret. */
export function parseStateUrl(text: string): StateUrl {
  try {
    const { schema, authority, rest } = ownParameters(text);
    const target = parseUrl(rest);
    return { target, tls: tlsAttempts(target, authority), schema };
  } catch (cause) {
    throw forState(cause);
  }
}

/** What a source needs to use the same database: a URL without our own parameters. */
export function databaseOf(text: string): { readonly url: string; readonly ca?: string; readonly schema: string } {
  try {
    const { schema, authority: ca, rest: url } = ownParameters(text);
    return { url, schema, ...(ca !== undefined && { ca }) };
  } catch (cause) {
    throw forState(cause);
  }
}

function ownParameters(text: string): { readonly schema: string; readonly authority?: string; readonly rest: string } {
  const at = text.indexOf("?");
  const query = at === -1 ? "" : text.slice(at + 1);
  checkParameters("server.state", query, parameters);
  const given = new URLSearchParams(query);
  const schema = given.get("schema") ?? defaultSchema;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_"))
    // Without the value: it is part of the password if that contains a question mark.
    throw invalid(
      'the schema of "url" is not usable; use small letters, digits and underscores, at most 40, and not pg_ at the start; in a password write ? as %3F',
    );
  const authority = given.get("sslrootcert");
  given.delete("schema");
  given.delete("sslrootcert");
  const rest = `${at === -1 ? text : text.slice(0, at)}${given.size > 0 ? `?${given}` : ""}`;
  return { schema, rest, ...(authority !== null && { authority }) };
}

/** Errors of the connection are written for mounts, which have options; here everything stands in one URL. */
export function forState(cause: unknown): unknown {
  if (!(cause instanceof ResourceError)) return cause;
  const message = cause.message
    .replaceAll('in "url" or in "password"', 'in "server.state"')
    .replaceAll('set "ca" to', 'set sslrootcert in "server.state" to')
    .replaceAll('"ca"', '"sslrootcert"')
    .replaceAll('"url"', '"server.state"');
  return new ResourceError(cause.kind, message, {
    cause: cause.cause,
    passing: cause.passing,
    ...(cause.details !== undefined && { details: cause.details }),
  });
}
