/** Lets in whoever holds the token, and the browsers that a one-time code was handed to. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { unkept } from "../transport/send-json.ts";
import { isFollowedLink } from "../transport/guard.ts";
import type { RequestGate } from "../transport/http.ts";

export interface TokenGateOptions {
  readonly token: string;
  /** Of the process that prints another code when it is signalled. */
  readonly pid: number;
  readonly monotonicMs: () => number;
}

export interface TokenGate {
  readonly gate: RequestGate;
  /** A code that lets one browser in, once, within a few minutes. */
  newCode(): string;
}

/** By which a program can tell whom it has reached, without the token. */
export const challenge = 'Bearer realm="pressmark"';

const codeMinutes = 10;
/** More are never waiting: the oldest gives way. */
const maxCodes = 16;
/** Of browsers that were let in. The one that came first gives way. */
const maxVisitors = 256;
const codeBytes = 16;
const visitBytes = 32;

export function createTokenGate({ token, pid, monotonicMs }: TokenGateOptions): TokenGate {
  /** By the digest of a code: until when it is good. Neither codes nor visits can be told by how long a look at them takes. */
  const codes = new Map<string, number>();
  const visits = new Set<string>();

  function holdsToken({ headers }: IncomingMessage): boolean {
    const said = /^bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "")?.[1];
    return constantTimeEqual(said, token);
  }

  function wasLetIn(request: IncomingMessage): boolean {
    const name = cookieName(request);
    return cookiesOf(request).some(([key, value]) => key === name && visits.has(keyOf(value)));
  }

  /** A code is gone when it was looked at, good or not. */
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
    // Of two tokens, a server in front of this one may have judged the other.
    if (request.headers.authorization !== undefined) {
      if (timesSaid(request, "authorization") > 1) return "refused";
      if (holdsToken(request)) return "welcome";
    }
    const isKnown = isOwnPage(request) && wasLetIn(request);
    const code = path === "/" && request.method === "GET" ? codeIn(request.url ?? "") : undefined;
    if (code === undefined) {
      if (isKnown) return "welcome";
      if (path !== "/" || !wantsPage(request)) return "refused";
      turnAway(response, "This server asks who you are.");
    } else if (isGood(code)) letIn(request, response);
    else if (isKnown) toPage(response);
    else turnAway(response, "This address was used before, or has expired.");
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

/** Without the code, so that it stays in no history and is handed on to nobody. */
function toPage(response: ServerResponse): void {
  response.writeHead(303, { Location: "/", "Referrer-Policy": "no-referrer", ...unkept }).end();
}

/** Cookies are sent along whoever asks, from any port of this machine: they count only for pages of our own. */
function isOwnPage({ method, headers }: IncomingMessage): boolean {
  const { origin, host = "" } = headers;
  if (origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, "") !== host.toLowerCase()) return false;
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return true;
  return method === "GET" && isFollowedLink(headers);
}

/** Browsers know no ports when it comes to cookies: two servers of one machine need two names. */
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
  return rawHeaders.filter((said, index) => index % 2 === 0 && said.toLowerCase() === name).length;
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** The first in are the first out. */
function trim(kept: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}

function pageOf(reason: string, pid: number): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Pressmark</title></head>
<body>
<h1>Pressmark</h1>
<p>${reason}</p>
<p>Open the address that <code>pressmark serve</code> printed. Each is good for one browser, once, for ${codeMinutes} minutes. To have another printed, type <code>kill -USR2 ${pid}</code> where it runs, or start it again.</p>
<p>A program sends the token with each request, as <code>Authorization: Bearer …</code></p>
</body>
</html>
`;
}
