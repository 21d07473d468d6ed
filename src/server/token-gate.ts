/** Admits callers with a token, and browsers that opened a one-time code or signed in with a token. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { unavailable } from "../errors.ts";
import { takeUpTo } from "../lib/read-bounded.ts";
import { unkept } from "../transport/send-json.ts";
import { addressOf, isSecure, requestedHost } from "../transport/forwarded.ts";
import { isFollowedLink } from "../transport/guard.ts";
import type { GateRefusal, RequestGate } from "../transport/node-handler.ts";
import type { Caller } from "../resources.ts";
import type { Admissions } from "./admissions.ts";
import type { BrowserRecords, StoredVisit } from "./browser-records.ts";
import { readyPath } from "./health.ts";
import { metricsPath } from "./server-metrics.ts";
import { tokenPage, type TurnedAway } from "./token-page.ts";
import type { OAuthGate } from "./oauth-gate.ts";
import { hashToken, tokenPrefix } from "./token-store.ts";

interface TokenGateOptions {
  readonly admissions: Pick<Admissions, "find" | "findLastKnown" | "findByHash" | "owner" | "isCurrent">;
  /** Codes and browsers that other instances know, too. Default: this process alone knows them. */
  readonly shared?: BrowserRecords | undefined;
  /** Accepts access tokens of OAuth. */
  readonly oauth?: OAuthGate;
  /** Process that prints another code on SIGUSR2. */
  readonly pid: number;
  readonly monotonicMs: () => number;
  /** Called when a browser at this address signs in, with undefined if it may not. A promise that it returns is awaited before the browser is answered. */
  readonly signedIn?: (caller: Caller | undefined, address: string | undefined) => Promise<void> | undefined;
}

export interface TokenGate {
  readonly gate: RequestGate;
  /** Who sent a request that the gate admitted. */
  callerOf(request: IncomingMessage): Caller | undefined;
  /** The caller whom a token or a code admits. A code is used up. */
  admit(secret: string): Caller | undefined | Promise<Caller | undefined>;
  /** A code that admits one browser as the owner, valid once and for a few minutes. */
  newCode(): string;
}

interface Visit {
  readonly caller: Caller;
  /** By the monotonic clock. */
  readonly checkedUntilMs: number;
}

/** Lets a program recognise Pressmark without the token. */
export const challenge = 'Bearer realm="pressmark"';

const codeMinutes = 10;
/** Pending codes; the oldest is dropped. */
const maxCodes = 16;
/** Admitted browsers; the oldest is dropped. */
const maxVisitors = 256;
/** Cookies of the right name that are looked up in a store. */
const maxCookies = 4;
const codeBytes = 16;
const visitBytes = 32;
/** A browser whose record other instances share is looked up again after this time: the record expires. */
const recheckMs = 600_000;
/** The same, if the store could not be reached. */
const recheckAwayMs = 60_000;
const signInPath = "/sign-in";
const maxFormBytes = 8192;
/** The token may be valid, so the client must keep it. */
const tryAgain: GateRefusal = {
  status: 503,
  message: "who you are cannot be checked, because the database of this server is away; try again soon",
  headers: { "Retry-After": 5 },
};

function unconfirmed(): Error {
  return unavailable("the stored tokens cannot be confirmed at present; try again soon");
}

export function createTokenGate(options: TokenGateOptions): TokenGate {
  const { admissions, oauth, shared, pid, monotonicMs, signedIn } = options;
  /** Expiry by digest of the code. Lookups by digest do not leak codes through timing. */
  const codes = new Map<string, number>();
  /** Browsers that were admitted, by digest of their cookie. */
  const visits = new Map<string, Visit>();
  const admitted = new WeakMap<IncomingMessage, Caller>();

  const nameOf = (request: IncomingMessage): string => cookieName(request, shared?.cookieSuffix);

  function byCookie(request: IncomingMessage): Caller | undefined | Promise<Caller | undefined> {
    const keys = cookiesOf(request).flatMap(([name, value]) => (name === nameOf(request) ? [keyOf(value)] : []));
    for (const key of keys) {
      const visit = visits.get(key);
      if (visit && !visit.caller.ended?.aborted && monotonicMs() < visit.checkedUntilMs) return visit.caller;
    }
    return shared && keys.length > 0 ? fromRecords(keys.slice(0, maxCookies), shared) : undefined;
  }

  function remember(key: string, caller: Caller, forMs: number): Caller {
    visits.set(key, { caller, checkedUntilMs: monotonicMs() + forMs });
    trim(visits, maxVisitors);
    return caller;
  }

  /** Whether it may be a stored token that is valid. */
  function isUnconfirmed(token: string): boolean {
    return token.startsWith(tokenPrefix) && !admissions.isCurrent();
  }

  /** Remembers the browser, so that the next request needs no query. */
  async function fromRecords(keys: readonly string[], records: BrowserRecords): Promise<Caller | undefined> {
    let isUndecided = false;
    for (const key of keys) {
      const known = visits.get(key)?.caller;
      let visit: StoredVisit | undefined;
      try {
        visit = await records.findVisit(key);
      } catch (cause) {
        if (known && !known.ended?.aborted) return remember(key, known, recheckAwayMs);
        throw cause;
      }
      const caller = visit && (visit.hash === undefined ? admissions.owner : admissions.findByHash(visit.hash));
      if (caller) return remember(key, caller, recheckMs);
      if (!visit) visits.delete(key);
      else if (!admissions.isCurrent()) isUndecided = true;
    }
    if (isUndecided) throw unconfirmed();
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
  function isGood(code: string): boolean | Promise<boolean> {
    const key = keyOf(code);
    if (shared) return shared.takeCode(key);
    const until = codes.get(key);
    codes.delete(key);
    return until !== undefined && monotonicMs() <= until;
  }

  /** `hash`: of the token that the caller signed in with. */
  function letIn(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    hash?: string,
  ): void | Promise<void> {
    const visit = randomBytes(visitBytes).toString("base64url");
    remember(keyOf(visit), caller, shared ? recheckMs : Infinity);
    const send = () => sendIn(request, response, visit);
    return shared ? shared.addVisit(keyOf(visit), { hash }).then(send) : send();
  }

  function sendIn(request: IncomingMessage, response: ServerResponse, visit: string): void {
    const secure = isSecure(request) ? "; Secure" : "";
    response.setHeader("Set-Cookie", `${nameOf(request)}=${visit}; HttpOnly; SameSite=Strict; Path=/${secure}`);
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
    if (!caller && token && isUnconfirmed(token)) throw unconfirmed();
    await signedIn?.(caller, addressOf(request));
    if (caller) await letIn(request, response, caller, hashToken(token!));
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
      if (isUnconfirmed(token)) {
        // Monitoring must see that the database is away. Figures and health contain no content, so a token that was just revoked does little harm.
        const isMonitoring = path === metricsPath || path === readyPath;
        const lastKnown = isMonitoring ? admissions.findLastKnown(token) : undefined;
        return lastKnown?.owner ? welcome(request, lastKnown) : tryAgain;
      }
    }
    // Clients look here for how to sign in, before they have a token; the answer says that there is nothing.
    if (path.startsWith("/.well-known/")) return "welcome";
    if (oauth && token !== undefined) return oauth.verify(token).then((found) => welcomeByOAuth(request, found));
    const known = isOwnPage(request) ? byCookie(request) : undefined;
    if (!(known instanceof Promise)) return gateBrowser(request, response, path, known);
    return known.then((found) => gateBrowser(request, response, path, found)).catch(() => tryAgain);
  }

  function gateBrowser(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    known: Caller | undefined,
  ): ReturnType<RequestGate> {
    if (known && known !== admissions.owner && !admissions.isCurrent()) return tryAgain;
    if (path === signInPath && request.method === "POST") {
      if (!isOwnPage(request)) return "refused";
      return signIn(request, response).then(
        () => "answered" as const,
        () => tryAgain,
      );
    }
    const code = path === "/" && request.method === "GET" ? codeIn(request.url ?? "") : undefined;
    if (code === undefined) {
      if (known) return welcome(request, known);
      if (path !== "/" || !wantsPage(request)) return "refused";
      turnAway(request, response, "nobody");
      return "answered";
    }
    const good = isGood(code);
    if (!(good instanceof Promise)) {
      void openWith(good, request, response, known);
      return "answered";
    }
    return good
      .then(async (isTaken) => {
        await openWith(isTaken, request, response, known);
        return "answered" as const;
      })
      .catch(() => tryAgain);
  }

  /** Responds to a browser that came with a code. */
  function openWith(
    isTaken: boolean,
    request: IncomingMessage,
    response: ServerResponse,
    known: Caller | undefined,
  ): void | Promise<void> {
    if (isTaken) {
      // Not awaited: there are few codes.
      void signedIn?.(admissions.owner, addressOf(request));
      return letIn(request, response, admissions.owner);
    }
    if (known) toPage(request, response);
    else turnAway(request, response, "code");
  }

  function admit(secret: string): Caller | undefined | Promise<Caller | undefined> {
    const caller = admissions.find(secret);
    if (caller) return caller;
    if (isUnconfirmed(secret)) return Promise.reject(unconfirmed());
    const good = isGood(secret);
    if (good instanceof Promise) return good.then((isTaken) => (isTaken ? admissions.owner : undefined));
    return good ? admissions.owner : undefined;
  }

  return {
    gate,
    callerOf: (request) => admitted.get(request),
    admit,
    newCode() {
      const code = randomBytes(codeBytes).toString("base64url");
      const expiresInMs = codeMinutes * 60_000;
      if (shared)
        // A code that cannot be stored admits nobody; another one can be printed.
        shared.addCode(keyOf(code), expiresInMs).catch(() => undefined);
      else {
        codes.set(keyOf(code), monotonicMs() + expiresInMs);
        trim(codes, maxCodes);
      }
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
function cookieName(request: IncomingMessage, suffix: string | number = request.socket.localPort ?? 0): string {
  return `${isSecure(request) ? "__Host-" : ""}pressmark-${suffix}`;
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
