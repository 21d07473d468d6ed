/** Turns errors of the server and the connection into ours. They contain no password, key or value. */
import { ResourceError } from "../../errors.ts";
import type { ErrorKind } from "../../errors.ts";

interface Known {
  readonly kind: ErrorKind;
  readonly says: string;
  readonly passing?: boolean;
}

/** The server answers a command for another type with this: someone has replaced the value meanwhile. */
export function isWrongType(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "wrong-type";
}

/** Whether the server does not let this user read the key, whatever the command. */
export function isKeyRefused(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "key-refused";
}

/** Whether the server does not let this user send the command. */
export function isRefused(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "refused";
}

export function toRedisError(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const { code, message } = (typeof cause === "object" && cause !== null ? cause : {}) as Partial<
    Record<string, unknown>
  >;
  const text = String(message);
  const known = byCode(code) ?? byReply(text) ?? byMessage(text);
  // Replies may quote the command, and with it a key; the log gets only the code of the error.
  const why = new Error(typeof code === "string" ? code : (/^-?[A-Z]{2,20}\b/.exec(text)?.[0] ?? "no code"));
  delete why.stack;
  if (!known)
    return new ResourceError("unexpected", `the Redis server rejects a command (${why.message})`, { cause: why });
  const { kind, says, passing } = known;
  const reason = reasons.get(says);
  return new ResourceError(kind, says, {
    cause: why,
    ...(passing !== undefined && { passing }),
    ...(reason !== undefined && { details: { reason } }),
  });
}

const refused =
  "the Redis user of this mount may not send a command that is needed; see the documentation for its rights";

const keyRefused =
  'the Redis user of this mount may not read this key; name the keys that it may read in "include", or allow it with ACL SETUSER';
const wrongType = "the type of the value changed meanwhile; try again";

const reasons: ReadonlyMap<string, string> = new Map([
  [refused, "refused"],
  [keyRefused, "key-refused"],
  [wrongType, "wrong-type"],
]);

/** By the first word of an error reply. */
function byReply(text: string): Known | undefined {
  switch (/^[A-Z]+/.exec(text)?.[0]) {
    case "WRONGPASS":
      return {
        kind: "denied",
        says: 'the Redis server rejects the user or the password; check "url", "username" and "password"',
      };
    case "NOAUTH":
      return { kind: "denied", says: 'the Redis server requires a password; set "password"' };
    case "NOPERM":
      // "… one of the keys used as arguments" in Redis 7.0, "No permissions to access a key" later.
      return { kind: "denied", says: /\b(?:a key|the keys)\b/.test(text) ? keyRefused : refused };
    case "WRONGTYPE":
      return { kind: "unavailable", says: wrongType };
    case "LOADING":
      return { kind: "unavailable", says: "the Redis server is loading its data; try again" };
    case "BUSY":
      return { kind: "unavailable", says: "the Redis server is busy with a script; try again" };
    case "MASTERDOWN":
      return { kind: "unavailable", says: "the Redis server is a replica without its master; try again" };
    case "MOVED":
    case "ASK":
    case "CLUSTERDOWN":
      return {
        kind: "unsupported",
        says: "the Redis server belongs to a cluster, which is not supported; mount a server that has all keys",
      };
    case "ERR":
      if (/max number of clients/.test(text))
        return { kind: "unavailable", says: "the Redis server has too many clients; try again" };
      if (/AUTH/.test(text))
        return { kind: "denied", says: 'the Redis server does not accept the password; check "url" and "password"' };
      if (/DB index is out of range|invalid DB index/.test(text))
        return {
          kind: "unavailable",
          passing: false,
          says: 'the Redis server has no such database; check the number in "url"',
        };
      if (/unknown command|unknown subcommand/i.test(text)) return { kind: "unsupported", says: refused };
      return undefined;
    default:
      return undefined;
  }
}

function byCode(code: unknown): Known | undefined {
  switch (code) {
    case "ECONNREFUSED":
    case "ENOENT":
      return { kind: "unavailable", says: 'no Redis server listens there; check that it runs, and check "url"' };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return { kind: "unavailable", says: 'the host of the Redis server is unknown; check "url"' };
    case "EACCES":
      return { kind: "denied", says: "the socket of the Redis server may not be opened by this user" };
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ECONNRESET":
    case "EPIPE":
      return { kind: "unavailable", says: "the Redis server cannot be reached at present; try again" };
    default:
      return typeof code === "string" && /CERT|^ERR_TLS|^ERR_SSL/.test(code)
        ? {
            kind: "unavailable",
            passing: false,
            says: `there is no trusted TLS connection to the Redis server (${code}); check "url", or set "ca" to the authority that signed its certificate`,
          }
        : undefined;
  }
}

/** Errors of the client have no code. */
function byMessage(text: string): Known | undefined {
  if (/connection is closed|connection close|socket timeout|isn't writeable|connect ETIMEDOUT/i.test(text))
    return { kind: "unavailable", says: "the connection to the Redis server broke; try again" };
  return undefined;
}
