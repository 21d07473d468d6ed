/** Admits callers with a token, and browsers that opened a one-time code or signed in with a token. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { takeUpTo } from "../lib/read-bounded.ts";
import { unkept } from "../transport/send-json.ts";
import { addressOf, isSecure, requestedHost } from "../transport/forwarded.ts";
import { isFollowedLink } from "../transport/guard.ts";
import type { GateRefusal, RequestGate } from "../transport/node-handler.ts";
import type { Caller } from "../resources.ts";
import type { Admissions } from "./admissions.ts";
import { tokenPage, type TurnedAway } from "./token-page.ts";
import type { OAuthGate } from "./oauth-gate.ts";

interface TokenGateOptions {
  readonly admissions: Pick<Admissions, "find" | "owner">;
  /** Accepts access tokens of OAuth. */
  readonly oauth?: OAuthGate;
  /** Process that prints another code on SIGUSR2. */
  readonly pid: number;
  readonly monotonicMs: () => number;
  /** Called when a browser at this address signs in, with undefined if it may not. */
  readonly signedIn?: (caller: Caller | undefined, address: string | undefined) => void;
}

export interface TokenGate {
  readonly gate: RequestGate;
  /** Who sent a request that the gate admitted. */
  callerOf(request: IncomingMessage): Caller | undefined;
  /** The caller whom a token or a code admits. A code is used up. */
  admit(secret: string): Caller | undefined;
  /** A code that admits one browser as the owner, valid once and for a few minutes. */
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
const signInPath = "/sign-in";
const maxFormBytes = 8192;

export function createTokenGate({ admissions, oauth, pid, monotonicMs, signedIn }: TokenGateOptions): TokenGate {
  /** Expiry by digest of the code. Lookups by digest do not leak codes through timing. */
  const codes = new Map<string, number>();
  /** Browsers that were admitted, by digest of their cookie. */
  const visits = new Map<string, Caller>();
  const admitted = new WeakMap<IncomingMessage, Caller>();

  function byCookie(request: IncomingMessage): Caller | undefined {
    const name = cookieName(request);
    for (const [key, value] of cookiesOf(request)) {
      const visit = key === name ? visits.get(keyOf(value)) : undefined;
      if (visit && !visit.ended?.aborted) return visit;
    }
    return undefined;
  }

  function welcome(request: IncomingMessage, caller: Caller): "welcome" {
    admitted.set(request, caller);
    return "welcome";
  }

  function welcomeByOAuth(request: IncomingMessage, found: Caller | GateRefusal): "welcome" | GateRefusal {
    return "status" in found ? found : welcome(request, found);
  }

  /** Every lookup consumes the code, valid or not. */
  function isGood(code: string): boolean {
    const key = keyOf(code);
    const until = codes.get(key);
    codes.delete(key);
    return until !== undefined && monotonicMs() <= until;
  }

  function letIn(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    const visit = randomBytes(visitBytes).toString("base64url");
    visits.set(keyOf(visit), caller);
    trim(visits, maxVisitors);
    const secure = isSecure(request) ? "; Secure" : "";
    response.setHeader("Set-Cookie", `${cookieName(request)}=${visit}; HttpOnly; SameSite=Strict; Path=/${secure}`);
    toPage(request, response);
  }

  function turnAway({ headers }: IncomingMessage, response: ServerResponse, why: TurnedAway): void {
    const acceptLanguage = headers["accept-language"];
    const page = tokenPage({ why, acceptLanguage, pid, codeMinutes, action: signInPath });
    response.writeHead(401, {
      ...unkept,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": Buffer.byteLength(page),
      "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      // Without a referrer a browser sends the form with "Origin: null".
      "Referrer-Policy": "same-origin",
      "WWW-Authenticate": challenge,
    });
    response.end(page);
  }

  /** The token of a person, from the form on the page. */
  async function signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await takeUpTo(maxFormBytes, request);
    const token = body && new URLSearchParams(body.toString("latin1")).get("token")?.trim();
    const caller = token ? admissions.find(token) : undefined;
    signedIn?.(caller, addressOf(request));
    if (caller) letIn(request, response, caller);
    else turnAway(request, response, "token");
  }

  function gate(request: IncomingMessage, response: ServerResponse, path: string): ReturnType<RequestGate> {
    // With two tokens, a proxy may have checked the other one.
    if (request.headers.authorization !== undefined && timesSaid(request, "authorization") > 1) return "refused";
    if (oauth?.answer(request, response, path)) return "answered";
    const token = tokenIn(request);
    if (token !== undefined) {
      const known = oauth?.find(token);
      if (known) return welcomeByOAuth(request, known);
      const caller = admissions.find(token);
      if (caller) return welcome(request, caller);
    }
    // Clients look here for how to sign in, before they have a token; the answer says that there is nothing.
    if (path.startsWith("/.well-known/")) return "welcome";
    if (oauth && token !== undefined) return oauth.verify(token).then((found) => welcomeByOAuth(request, found));
    const known = isOwnPage(request) ? byCookie(request) : undefined;
    if (path === signInPath && request.method === "POST") {
      if (!isOwnPage(request)) return "refused";
      signIn(request, response).catch(() => response.destroy());
      return "answered";
    }
    const code = path === "/" && request.method === "GET" ? codeIn(request.url ?? "") : undefined;
    if (code === undefined) {
      if (known) return welcome(request, known);
      if (path !== "/" || !wantsPage(request)) return "refused";
      turnAway(request, response, "nobody");
    } else if (isGood(code)) {
      signedIn?.(admissions.owner, addressOf(request));
      letIn(request, response, admissions.owner);
    } else if (known) toPage(request, response);
    else turnAway(request, response, "code");
    return "answered";
  }

  return {
    gate,
    callerOf: (request) => admitted.get(request),
    admit: (secret) => admissions.find(secret) ?? (isGood(secret) ? admissions.owner : undefined),
    newCode() {
      const code = randomBytes(codeBytes).toString("base64url");
      codes.set(keyOf(code), monotonicMs() + codeMinutes * 60_000);
      trim(codes, maxCodes);
      return code;
    },
  };
}

function tokenIn({ headers }: IncomingMessage): string | undefined {
  return /^bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "")?.[1];
}

/** Redirects without the code, so that it is not stored in the history or sent as a referrer. */
function toPage(request: IncomingMessage, response: ServerResponse): void {
  const site = request.headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none")
    return void response.writeHead(303, { ...unkept, Location: "/" }).end();
  // After a link on another page, as in a file, a redirect would not carry the cookie (SameSite=Strict); our own page does.
  response
    .writeHead(200, { ...unkept, "Content-Type": "text/html; charset=utf-8" })
    .end('<!doctype html><meta http-equiv="refresh" content="0;url=/"><title>Pressmark</title>');
}

/** Browsers send cookies with requests from any page and port: they count only for our own pages. */
function isOwnPage(request: IncomingMessage): boolean {
  const { method, headers } = request;
  const { origin } = headers;
  const scheme = isSecure(request) ? /^https:\/\// : /^https?:\/\//;
  if (origin !== undefined && origin.toLowerCase().replace(scheme, "") !== requestedHost(request)) return false;
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return true;
  return method === "GET" && isFollowedLink(headers);
}

/** Cookies ignore ports: two servers on one machine need different names. Over HTTPS no other host or plain page can set it. */
function cookieName(request: IncomingMessage): string {
  return `${isSecure(request) ? "__Host-" : ""}pressmark-${request.socket.localPort ?? 0}`;
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
function trim(entries: Map<string, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(key);
  }
}
