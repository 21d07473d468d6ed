/** Requests to hosts that another server names for its sign-in: only encrypted, and never to an address in this machine's own networks. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { createPermit, type Permit } from "../../backends/web/addresses.ts";
import { createGuardedRequest, type Resolve } from "../../backends/web/guarded-request.ts";
import { denied, quote, ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";

interface SignInFetchOptions {
  /** URLs that the operator wrote: their hosts may have any address. */
  readonly configured: readonly string[];
  /** For a request without a signal of its own. */
  readonly timeoutMs: number;
  readonly log: Runtime["log"];
  readonly permit?: Permit;
  readonly resolve?: Resolve;
}

/** Metadata and tokens are small. */
const maxBytes = 1024 * 1024;

/** Follows no redirect to another host. */
export function createSignInFetch({
  configured,
  timeoutMs,
  log,
  permit = createPermit([]),
  resolve = lookUp,
}: SignInFetchOptions): FetchLike {
  const known = new Set(configured.map((url) => new URL(url).hostname));
  const advice = "name it in auth.issuer if that is meant";
  const send = createGuardedRequest({ permit, resolve, maxBytes, what: "sign-in endpoint", advice, log });

  return async (to, init = {}) => {
    const url = new URL(to);
    const signal = init.signal ?? AbortSignal.timeout(timeoutMs);
    if (known.has(url.hostname)) return fetch(url, { ...init, signal });
    if (url.protocol !== "https:" || url.username !== "" || url.password !== "")
      throw denied(`the server names a sign-in endpoint that is not https: ${quote(url.host)}`);
    const content = {
      method: init.method,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body ? String(init.body as string | URLSearchParams) : undefined,
    };
    const { status, headers, bytes } = await send(url, content, signal).catch((cause: unknown) => {
      // As fetch reports it, so that the official client takes it for a network failure.
      throw cause instanceof ResourceError ? cause : new TypeError("fetch failed", { cause });
    });
    const shown = ["content-type", "location"].map((name) => [name, headers[name]]);
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status,
      headers: Object.fromEntries(shown.filter(([, value]) => typeof value === "string")) as Record<string, string>,
    });
  };
}

async function lookUp(name: string): ReturnType<Resolve> {
  const { lookup } = await import("node:dns/promises");
  return lookup(name, { all: true, order: "verbatim" });
}
