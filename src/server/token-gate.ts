/** Admits callers with the token, and browsers that opened a one-time code. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { unkept } from "../transport/send-json.ts";
import { isFollowedLink } from "../transport/guard.ts";
import type { RequestGate } from "../transport/http.ts";

interface TokenGateOptions {
  readonly token: string;
  /** Process that prints another code on SIGUSR2. */
  readonly pid: number;
  readonly monotonicMs: () => number;
}

export interface TokenGate {
  readonly gate: RequestGate;
  /** A code for one browser, valid once and for a few minutes. */
  newCode(): string;
}

/** Lets a program recognise Pressmark without the token. */
export const challenge = 'Bearer realm="pressmark"';

const codeMinutes = 10;
/** Pending codes; the oldest is dropped. */
const maxCodes = 16;
/** Admitted browsers; the oldest is dropped. */
const maxVisitors = 256;
const codeBytes = 16;
const visitBytes = 32;

export function createTokenGate({ token, pid, monotonicMs }: TokenGateOptions): TokenGate {
  /** Expiry by digest of the code. Lookups by digest do not leak codes through timing. */
  const codes = new Map<string, number>();
  const visits = new Set<string>();

  function holdsToken({ headers }: IncomingMessage): boolean {
    const given = /^bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "")?.[1];
    return constantTimeEqual(given, token);
  }

  function wasLetIn(request: IncomingMessage): boolean {
    const name = cookieName(request);
    return cookiesOf(request).some(([key, value]) => key === name && visits.has(keyOf(value)));
  }

  /** Every lookup consumes the code, valid or not. */
  function isGood(code: string): boolean {
    const key = keyOf(code);
    const until = codes.get(key);
    codes.delete(key);
    return until !== undefined && monotonicMs() <= until;
  }

  function letIn(request: IncomingMessage, response: ServerResponse): void {
    const visit = randomBytes(visitBytes).toString("base64url");
    visits.add(keyOf(visit));
    trim(visits, maxVisitors);
    response.setHeader("Set-Cookie", `${cookieName(request)}=${visit}; HttpOnly; SameSite=Strict; Path=/`);
    toPage(response);
  }

  function turnAway(response: ServerResponse, reason: string): void {
    const page = pageOf(reason, pid);
    response.writeHead(401, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": Buffer.byteLength(page),
      "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "Referrer-Policy": "no-referrer",
      ...unkept,
      "WWW-Authenticate": challenge,
    });
    response.end(page);
  }

  function gate(request: IncomingMessage, response: ServerResponse, path: string): ReturnType<RequestGate> {
    // With two tokens, a proxy may have checked the other one.
    if (request.headers.authorization !== undefined) {
      if (timesSaid(request, "authorization") > 1) return "refused";
      if (holdsToken(request)) return "welcome";
    }
    const isKnown = isOwnPage(request) && wasLetIn(request);
    const code = path === "/" && request.method === "GET" ? codeIn(request.url ?? "") : undefined;
    if (code === undefined) {
      if (isKnown) return "welcome";
      if (path !== "/" || !wantsPage(request)) return "refused";
      turnAway(response, "This server requires authentication.");
    } else if (isGood(code)) letIn(request, response);
    else if (isKnown) toPage(response);
    else turnAway(response, "This address was already used, or has expired.");
    return "answered";
  }

  return {
    gate,
    newCode() {
      const code = randomBytes(codeBytes).toString("base64url");
      codes.set(keyOf(code), monotonicMs() + codeMinutes * 60_000);
      trim(codes, maxCodes);
      return code;
    },
  };
}

/** Redirects without the code, so that it is not stored in the history or sent as a referrer. */
function toPage(response: ServerResponse): void {
  response.writeHead(303, { Location: "/", "Referrer-Policy": "no-referrer", ...unkept }).end();
}

/** Browsers send cookies with requests from any page and port: they count only for our own pages. */
function isOwnPage({ method, headers }: IncomingMessage): boolean {
  const { origin, host = "" } = headers;
  if (origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, "") !== host.toLowerCase()) return false;
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return true;
  return method === "GET" && isFollowedLink(headers);
}

/** Cookies ignore ports: two servers on one machine need different names. */
function cookieName({ socket }: IncomingMessage): string {
  return `pressmark-${socket.localPort ?? 0}`;
}

function cookiesOf({ headers }: IncomingMessage): (readonly [name: string, value: string])[] {
  return (headers.cookie ?? "").split(";").map((pair) => {
    const equals = pair.indexOf("=");
    return [pair.slice(0, Math.max(0, equals)).trim(), pair.slice(equals + 1).trim()] as const;
  });
}

function codeIn(url: string): string | undefined {
  const query = url.indexOf("?");
  return query === -1 ? undefined : (new URLSearchParams(url.slice(query)).get("code") ?? undefined);
}

function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && (headers.accept ?? "").includes("text/html");
}

function timesSaid({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((given, index) => index % 2 === 0 && given.toLowerCase() === name).length;
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Drops the oldest entries. */
function trim(entries: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(key);
  }
}

function pageOf(reason: string, pid: number): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Pressmark</title></head>
<body>
<h1>Pressmark</h1>
<p>${reason}</p>
<p>Open the address that <code>pressmark serve</code> printed. Each is good for one browser, once, for ${codeMinutes} minutes. To print another, run <code>kill -USR2 ${pid}</code> where it runs, or start it again.</p>
<p>A program sends the token with each request, as <code>Authorization: Bearer …</code></p>
</body>
</html>
`;
}
