/** Turns errors of the database and the connection into ours. They contain no password, value or statement. */
import { ResourceError } from "../../errors.ts";

/** An error of pg: with an SQLSTATE, or with the code of a network error. */
interface DatabaseFault {
  readonly code?: unknown;
  readonly message?: unknown;
}

interface Refusals {
  toError(cause: unknown): ResourceError;
}

export function createRefusals({
  timeoutMs,
  secrets,
}: {
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
}): Refusals {
  /** For the log: the error without confidential details. */
  function forLog(cause: unknown): Error {
    const { code, message } = (typeof cause === "object" && cause !== null ? cause : {}) as DatabaseFault;
    const text = `${typeof code === "string" ? `${code}: ` : ""}${typeof message === "string" ? message : String(cause)}`;
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text.slice(0, 500));
    const error = new Error(clean);
    delete error.stack;
    return error;
  }

  return {
    toError(cause) {
      if (cause instanceof ResourceError) return cause;
      const { code, message } = (typeof cause === "object" && cause !== null ? cause : {}) as DatabaseFault;
      const why = forLog(cause);
      const known =
        byRejection(code, String(message)) ??
        (typeof code === "string" ? byCode(code, timeoutMs) : undefined) ??
        byMessage(String(message));
      if (known) return new ResourceError(known.kind, known.says, { cause: why, ...known });
      const which = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? ` (SQLSTATE ${code})` : "";
      return new ResourceError("unexpected", `the database rejects the query${which}; see the log`, {
        cause: why,
      });
    },
  };
}

type Known = Pick<ResourceError, "kind"> & {
  readonly says: string;
  readonly passing?: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
};

/** SQLSTATE 28000 has many reasons. Servers that translate their messages get the last sentence. */
function byRejection(code: unknown, message: string): Known | undefined {
  if (code !== "28000") return undefined;
  const why = /no PostgreSQL user name/.test(message)
    ? 'the connection names no user; add it to "url": postgres://user@…'
    : /Peer authentication failed/.test(message)
      ? 'the socket accepts only the operating system user of the same name as the database user (peer authentication); change the user in "url", or pg_hba.conf'
      : /^role .* does not exist$/s.test(message)
        ? 'the database has no such user; check "url"'
        : /^no pg_hba\.conf entry .* no encryption$/s.test(message)
          ? 'pg_hba.conf has no entry for this user, database and host without TLS; check them in "url", or set sslmode=verify-full'
          : /^(?:no pg_hba\.conf entry|pg_hba\.conf rejects)/.test(message)
            ? 'pg_hba.conf has no entry for this user, database, host and sslmode; check them in "url"'
            : 'the database rejects the connection; check user, host and sslmode in "url", and pg_hba.conf';
  return { kind: "denied", says: why };
}

function byCode(code: string, timeoutMs: number): Known | undefined {
  switch (code) {
    case "28P01":
      return { kind: "denied", says: 'the database rejects the user or the password; check "url"' };
    case "3D000":
      return { kind: "unavailable", passing: false, says: 'the server has no such database; check "url"' };
    case "42501":
      return { kind: "denied", says: "the role of this mount may not read that" };
    case "57014":
      return {
        kind: "unavailable",
        passing: false,
        says: `the query took longer than ${timeoutMs} ms; request less, or raise "timeoutMs"`,
      };
    case "55P03":
      return { kind: "unavailable", says: "the table is locked at present; try again" };
    case "25006":
      return { kind: "unsupported", says: "reading this would write to the database, which is never allowed" };
    case "57P01":
    case "57P02":
    case "57P03":
      return { kind: "unavailable", says: "the database is stopping or starting; try again" };
    case "42P01":
    case "42703":
    case "3F000":
      return {
        kind: "unavailable",
        says: "the requested object changed in the meantime, or one of its functions names a table without its schema; try again",
      };
    case "ECONNREFUSED":
    case "ENOENT":
      return { kind: "unavailable", says: 'no database listens there; check that it runs, and check "url"' };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return { kind: "unavailable", says: 'the host of the database is unknown; check "url"' };
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ECONNRESET":
    case "EPIPE":
      return { kind: "unavailable", says: "the database cannot be reached at present; try again" };
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "CERT_HAS_EXPIRED":
      return {
        kind: "unavailable",
        passing: false,
        says: `the certificate of the database is not trusted (${code}); set "ca" to the authority that signed it`,
      };
    default:
      return byClass(code);
  }
}

/** By the class, the first two characters of the code. */
function byClass(code: string): Known | undefined {
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  switch (code.slice(0, 2)) {
    case "08":
      return { kind: "unavailable", says: "the connection to the database broke; try again" };
    case "53":
      return {
        kind: "busy",
        says: "the database has no resources for another query; try again in a few seconds",
        details: { retryAfterMs: 5000 },
      };
    case "40":
      return { kind: "unavailable", says: "the query conflicted with another; try again" };
    case "22":
      return { kind: "invalid", says: "a value of the request does not fit the table; check or remove it" };
    default:
      return undefined;
  }
}

/** Errors of pg itself have no code. */
function byMessage(message: string): Known | undefined {
  if (/does not support SSL/.test(message))
    return {
      kind: "unavailable",
      passing: false,
      says: 'the server does not support TLS; write sslmode=prefer or sslmode=disable in "url"',
    };
  if (/password must be a (?:non-empty )?string|pgpass/i.test(message))
    return { kind: "denied", says: 'the database requires a password; set one in "url" or in "password"' };
  if (/timeout exceeded when trying to connect|timeout expired/.test(message))
    return { kind: "unavailable", says: "the database does not respond; try again" };
  if (/Query read timeout/.test(message))
    return { kind: "unavailable", says: "the database stopped responding; try again" };
  if (
    /Connection terminated|not queryable|socket|invalid response|unexpected .{0,200} message|Cannot use a pool after/i.test(
      message,
    )
  )
    return { kind: "unavailable", says: "the connection to the database broke; try again" };
  return undefined;
}
