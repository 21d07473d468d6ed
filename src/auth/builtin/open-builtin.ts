/** The embedded authorization server: callers sign in on pages of this server, and clients get tokens for it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Permit } from "../../backends/web/addresses.ts";
import type { Resolve } from "../../backends/web/guarded-request.ts";
import { invalid, quote, unavailable, unsupported } from "../../errors.ts";
import { isPackageMissing, packageNeeded } from "../../lib/missing-package.ts";
import { TokenRefusal, type TokenVerifier, type VerifiedToken, type VerifierContext } from "../token-verifier.ts";
import { createAttempts } from "./attempts.ts";
import { createProvider, paths } from "./create-provider.ts";
import { createDocumentFetch } from "./document-fetch.ts";
import { createInteractions, send } from "./interactions.ts";
import { hashSecret, type StoredGrant } from "./oauth-store.ts";
import { openOAuthStore } from "./open-oauth-store.ts";
import { isLoopback } from "./restrict-client.ts";
import { createSignIn } from "./sign-in.ts";
import { failurePage, wordsFor } from "./sign-in-pages.ts";

export interface BuiltinContext extends VerifierContext {
  /** Addresses that documents of clients may come from. Default: public ones. */
  readonly permit?: Permit;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

/** The account of whoever operates the server; no caller can have this name. */
export const ownerAccount = "owner";
/** The scope of a server that needs none: without any, nothing could be granted. */
const defaultScope = "pressmark";
/** A token of an instance that shares its sign-ins is verified again after this time, so that it is refused if they are not confirmed. */
const verifyAgainMs = 1000;
const corsHeader = "Access-Control-Expose-Headers";
const hourMs = 3_600_000;
/** Registrations, and requests for metadata documents, per machine and hour. */
const maxNewClients = 60;

/** A grant whose access tokens were verified here. */
interface GrantInUse {
  /** Aborted when the grant is revoked. */
  readonly stop: AbortController;
  readonly tokenEnd: AbortSignal | undefined;
  /** Aborted with either. One object for all verifications, because each holder of a token adds a listener to every signal that it has not seen. */
  readonly end: AbortSignal;
}

export async function openBuiltin(context: BuiltinContext): Promise<TokenVerifier> {
  const { publicUrl, resource, runtime, callers, addressOf } = context;
  const url = new URL(publicUrl);
  if (url.protocol !== "https:" && !isLoopback(url))
    throw invalid(`server.auth: builtin needs an https: URL in server.publicUrl, not ${quote(publicUrl)}`);
  const oidc = await import("oidc-provider").catch((cause: unknown) => {
    if (!isPackageMissing(cause, "oidc-provider")) throw cause;
    throw unsupported(packageNeeded("server.auth: builtin needs", "oidc-provider"), cause);
  });
  const { createLocalJWKSet, errors: joseErrors, jwtVerify } = await import("jose");
  const store = await openOAuthStore(context);
  await store.prepare();
  const { read: usual = [defaultScope], write = [], includes = {} } = context.scopes ?? {};
  const isAccount = (name: string) => name === ownerAccount || callers().some((caller) => caller.name === name);

  /** Throws if it cannot be known at present: then a grant is neither used nor refused. */
  function isAdmitted(account: string, token: string | undefined): boolean {
    if (!isAccount(account)) return false;
    if (token === undefined || context.findByHash(token)) return true;
    if (!context.isCurrent()) throw unavailable("the token with which this caller signed in cannot be confirmed");
    return false;
  }

  const newClients = createAttempts({ max: maxNewClients, windowMs: hourMs, monotonicMs: runtime.monotonicMs });

  /** Counts it, unless the machine has used up its share. */
  function mayAdd(request: IncomingMessage): boolean {
    const address = addressOf(request);
    if (newClients.isUsedUp(address)) return false;
    newClients.add(address);
    return true;
  }

  const provider = createProvider({
    package: oidc,
    issuer: publicUrl,
    resource,
    usualScopes: usual,
    otherScopes: [...write, ...Object.entries(includes).flat(2)],
    store,
    shared: context.shared,
    runtime,
    isAdmitted,
    mayFetch: ({ req }) => mayAdd(req),
    fetch: createDocumentFetch({ log: runtime.log, permit: context.permit, resolve: context.resolve }),
  });
  const signIn = createSignIn({
    store,
    isAccount,
    async admit(secret) {
      const account = (await context.admit(secret))?.id;
      if (account === undefined || !isAccount(account)) return undefined;
      // A one-time code is used up; a token is found again.
      const token = hashSecret(secret);
      return { account, token: context.findByHash(token) && token };
    },
    monotonicMs: runtime.monotonicMs,
  });
  const interact = createInteractions({
    provider,
    publicUrl,
    signIn,
    addressOf,
    signedIn: (account, address) => context.signedIn?.(account, address),
    allowed: (account, client) => context.allowed?.(account, client),
    async bind(grant, token) {
      await store.change(({ grants: { [grant]: stored } }) => {
        if (stored) stored.token = token;
      });
    },
    usual: new Set([...usual, "offline_access", "openid"]),
  });
  const toProvider = provider.callback();
  const keySet = createLocalJWKSet({ keys: store.read().keys.map(({ d: _private, ...key }) => key) });
  /** By grant. */
  const inUse = new Map<string, GrantInUse>();

  function endRevoked(): void {
    const { grants } = store.read();
    for (const [grant, { stop }] of inUse)
      if (!Object.hasOwn(grants, grant)) {
        inUse.delete(grant);
        stop.abort();
      }
  }

  const look = (): void => {
    try {
      endRevoked();
    } catch (cause) {
      // Nobody is admitted until the file can be read: a grant may have been revoked.
      for (const { stop } of inUse.values()) stop.abort();
      inUse.clear();
      runtime.log("error", "the sign-ins cannot be read, so tokens are refused", { cause });
    }
  };
  const closing = new AbortController();
  store.follow(look, closing.signal);
  provider.on("grant.revoked", look);

  const base = url.pathname.replace(/\/$/, "");

  /** The path of the provider's route. The public URL may have a path, which is part of the well-known ones. */
  function routeOf(path: string): string | undefined {
    if (path.startsWith("/oauth/")) return path;
    for (const known of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"])
      if (path === known || path === `${known}${base}`) return known;
    return undefined;
  }

  function answer(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const route = routeOf(path);
    if (route === undefined) return false;
    if (route.startsWith(paths.interaction)) {
      interact(request, response, route).catch((cause: unknown) => {
        runtime.log("error", "a sign-in failed", { cause });
        if (response.headersSent) response.destroy();
        else send(response, 500, failurePage("internal error", wordsFor(request.headers["accept-language"])));
      });
      return true;
    }
    if (route === paths.registration && request.method === "POST" && !mayAdd(request)) {
      const body = JSON.stringify({ error: "temporarily_unavailable", error_description: "too many registrations" });
      response.writeHead(429, { "Content-Type": "application/json", "Retry-After": hourMs / 1000 }).end(body);
      return true;
    }
    // The provider sends no CORS headers of its own if there are any: the server decides which pages may read.
    if (!response.hasHeader(corsHeader)) response.setHeader(corsHeader, "WWW-Authenticate");
    response.setHeader("Cache-Control", "no-store").setHeader("X-Content-Type-Options", "nosniff");
    request.url = `${route}${(request.url ?? "").slice(path.length)}`;
    // The provider puts it before the paths of its routes.
    Object.assign(request, { baseUrl: base });
    toProvider(request, response);
    return true;
  }

  /** Aborted when the grant is revoked, or the token with which the caller signed in. */
  function endOf(grant: string, { token }: StoredGrant): AbortSignal {
    const tokenEnd = token === undefined ? undefined : context.findByHash(token)?.ended;
    let used = inUse.get(grant);
    if (!used || used.tokenEnd !== tokenEnd) {
      const stop = used?.stop ?? new AbortController();
      const end = tokenEnd ? AbortSignal.any([stop.signal, tokenEnd]) : stop.signal;
      inUse.set(grant, (used = { stop, tokenEnd, end }));
    }
    return used.end;
  }

  /** Reads the store for an unknown grant: another instance may have stored it a moment ago. */
  async function findGrant(key: string): Promise<StoredGrant | undefined> {
    const known = () => {
      const { grants } = store.read();
      return Object.hasOwn(grants, key) ? grants[key] : undefined;
    };
    if (!known() || !store.isCurrent()) await store.load();
    return known();
  }

  async function verify(token: string): Promise<VerifiedToken> {
    const { payload } = await jwtVerify(token, keySet, {
      algorithms: ["ES256"],
      typ: "at+jwt",
      issuer: publicUrl,
      audience: resource,
      requiredClaims: ["exp", "sub", "grant"],
      currentDate: new Date(runtime.now()),
    }).catch((cause: unknown) => {
      if (cause instanceof joseErrors.JOSEError) throw new TokenRefusal("the token is not valid", cause.code, cause);
      throw cause;
    });
    const { sub = "", exp = 0, grant, scope } = payload;
    const key = String(grant);
    const stored = await findGrant(key);
    if (stored?.account !== sub || !isAdmitted(sub, stored.token)) throw new TokenRefusal("the token was revoked");
    const isOwner = sub === ownerAccount;
    return {
      issuer: publicUrl,
      subject: sub,
      caller: isOwner ? undefined : sub,
      owner: isOwner,
      groups: [],
      scopes: typeof scope === "string" ? scope.split(" ") : [],
      claims: payload,
      expiresMs: exp * 1000,
      ...(context.shared && { verifyAgainMs: runtime.monotonicMs() + verifyAgainMs }),
      ended: endOf(key, stored),
    };
  }

  return {
    issuers: [publicUrl],
    verify,
    answer,
    // Clients send a browser here, which is then redirected to the sign-in.
    isPage: (path) => path === paths.authorization || path.startsWith(paths.interaction),
    async close() {
      closing.abort();
      for (const { stop } of inUse.values()) stop.abort();
      inUse.clear();
    },
  };
}
