/** Says why another server cannot be used, and what to do about it. */
import { quote, ResourceError } from "../../errors.ts";
import { plain } from "../print.ts";

/** By the code of the operating system, of TLS or of fetch. */
const reasons: readonly (readonly [codes: RegExp, says: string])[] = [
  [/^bad port$/, "this port is reserved for another protocol, and blocked; use another port"],
  [/^ECONNREFUSED$/, "nothing listens there; start the server, or check the port"],
  [/^(?:ENOTFOUND|EAI_AGAIN|EAI_NONAME)$/, "the host name has no address; check its spelling and the network"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, "there is no route to it; check the network"],
  [/TIMEDOUT|TIMEOUT|^RequestTimeout$/i, "it does not respond; check the address, and firewalls on the way"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another name; check the address"],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired; it must be renewed at the server"],
  [
    /CERT|^UNABLE_TO_|SELF_SIGNED/,
    "its certificate is not trusted; for an authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate",
  ],
  [/^(?:ERR_SSL_|EPROTO)/, "it does not speak TLS there; try http:// instead of https://"],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_)/,
    "it closed the connection; check that this is the address of an MCP server, and try https:// if it uses TLS",
  ],
];

/** `server` as the user wrote it: a URL, or a command. An error that is not about reaching it is returned unchanged. */
export function explainUnreachable(cause: unknown, server: string): unknown {
  if (!(cause instanceof ResourceError) || cause.kind !== "unavailable") return cause;
  const url = /^https?:/i.test(server) ? URL.parse(server) : undefined;
  const message = url ? aboutAddress(cause, url) : aboutProgram(cause, server);
  return new ResourceError("unavailable", message, { cause, passing: cause.passing });
}

function aboutAddress(cause: ResourceError, url: URL): string {
  // Without a query or a password, which may be secrets.
  const address = `${url.origin}${url.pathname}`;
  if (url.username !== "" || url.password !== "")
    return `the address of the server contains a name or password, which is not sent; use ${address}, and pass them with --header 'Authorization: …'`;
  const codes = codesOf(cause);
  // A page, for example: status 200 without a stream of events.
  if (codes.includes("200") || codes.includes("CLIENT_HTTP_UNEXPECTED_CONTENT")) {
    const next = url.pathname === "/mcp" ? "check the address" : `try ${url.origin}/mcp`;
    return `something responds at ${address}, but not as an MCP server; ${next}`;
  }
  const status = /status (\d{3})/.exec(cause.message)?.[1] ?? codes.find((each) => /^[45]\d\d$/.test(each));
  if (status !== undefined)
    return `the server at ${address} responded with status ${status}; check the path: Pressmark serves MCP at /mcp`;
  const reason = reasonIn(codes);
  if (reason === undefined) return `cannot use the server at ${address}: ${plain(cause.message)}`;
  return `the server at ${address} cannot be reached: ${reason}`;
}

/** Adds why the server of a mount cannot be reached, and its address as far as the system names it. Other errors are returned unchanged. */
export function explainUnreachableMount(cause: unknown): unknown {
  if (!(cause instanceof ResourceError) || cause.kind !== "unavailable" || !cause.message.endsWith("cannot be reached"))
    return cause;
  const reason = reasonIn(codesOf(cause));
  if (reason === undefined) return cause;
  const address = / ([\w.:[\]-]+:\d+)$/.exec(messageOf(cause))?.[1];
  const message = `${cause.message}${address === undefined ? "" : ` at ${address}`}: ${reason}`;
  return new ResourceError("unavailable", message, { cause, passing: cause.passing });
}

/** The message of the innermost error, such as "connect ECONNREFUSED 127.0.0.1:7357". */
function messageOf(cause: Error): string {
  return cause.cause instanceof Error ? messageOf(cause.cause) : cause.message;
}

function reasonIn(codes: readonly string[]): string | undefined {
  for (const code of codes) {
    const says = reasons.find(([known]) => known.test(code))?.[1];
    if (says !== undefined) return `${says} (${code})`;
  }
  return undefined;
}

function aboutProgram(cause: ResourceError, server: string): string {
  const program = quote(plain(server.trim().split(/\s/)[0] ?? ""));
  const codes = codesOf(cause);
  if (codes.includes("ENOENT"))
    return `the server cannot be started: there is no program ${program}; check its name, and the PATH`;
  if (codes.includes("EACCES"))
    return `the server cannot be started: ${program} is not executable; check its permissions`;
  return `the server cannot be reached: ${program} ended or did not respond; run the command yourself to see why: ${plain(server)}`;
}

/** Codes of an error, of its causes, and of the attempts that an AggregateError lists. */
function codesOf(cause: unknown, depth = 0): string[] {
  if (typeof cause !== "object" || cause === null || depth > 8) return [];
  const {
    code,
    cause: inner,
    errors,
  } = cause as { readonly code?: unknown; readonly cause?: unknown; readonly errors?: unknown };
  // fetch refuses some ports without a code.
  const isBadPort = cause instanceof Error && cause.message === "bad port";
  const own = typeof code === "string" || typeof code === "number" ? [String(code)] : isBadPort ? ["bad port"] : [];
  const attempts = Array.isArray(errors) ? errors.flatMap((each) => codesOf(each, depth + 1)) : [];
  return [...own, ...codesOf(inner, depth + 1), ...attempts];
}
