/** `fetch` for the endpoints of an issuer: limited in time and size, without redirects, and never to a private address of its choosing. */
import { createPermit } from "../backends/web/addresses.ts";
import { createGuardedRequest, type Resolve } from "../backends/web/guarded-request.ts";
import { denied, quote, ResourceError, unavailable } from "../errors.ts";
import type { Runtime } from "../runtime.ts";

interface GuardedFetchOptions {
  /** URLs that the operator wrote. Their origins may be unencrypted and have private addresses; those that an issuer names may not. */
  readonly written: readonly string[];
  readonly resolve: Resolve;
  readonly log: Runtime["log"];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

interface FetchContent {
  readonly method?: string;
  readonly headers?: RequestInit["headers"];
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Rejects with "unavailable" or "denied". */
export type GuardedFetch = (url: string, content?: FetchContent) => Promise<Response>;

export function createGuardedFetch({
  written,
  resolve,
  log,
  timeoutMs = 5000,
  maxBytes = 256 * 1024,
}: GuardedFetchOptions): GuardedFetch {
  const origins = new Set(written.map((url) => new URL(url).origin));
  const guarding = {
    resolve,
    maxBytes,
    what: "endpoint of the issuer",
    advice: "write its URL in server.auth if that is meant",
    log,
  };
  const sendAnywhere = createGuardedRequest({ ...guarding, permit: () => true });
  const sendInPublic = createGuardedRequest({ ...guarding, permit: createPermit([]) });

  return async (address, { method = "GET", headers, body, signal } = {}) => {
    const url = new URL(address);
    const isWritten = origins.has(url.origin);
    if (!isWritten && url.protocol !== "https:")
      throw denied(
        `the issuer names ${quote(url.origin)}, which is not encrypted; write it in server.auth if that is meant`,
      );
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const send = isWritten ? sendAnywhere : sendInPublic;
      const content = {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        body: body instanceof URLSearchParams ? body.toString() : undefined,
      };
      const fetched = await send(url, content, signal ? AbortSignal.any([signal, late]) : late);
      const type = fetched.headers["content-type"];
      return new Response(fetched.bytes.length === 0 ? null : new Uint8Array(fetched.bytes), {
        // Other values cannot be represented, and mean a failure anyway.
        status: fetched.status >= 200 && fetched.status <= 599 ? fetched.status : 500,
        headers: typeof type === "string" ? { "Content-Type": type } : {},
      });
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      const why = late.aborted ? `did not respond within ${timeoutMs} ms` : "cannot be reached";
      throw unavailable(`${quote(url.host)} ${why}`, cause);
    }
  };
}
