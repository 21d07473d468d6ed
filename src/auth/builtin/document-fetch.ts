/** Requests documents whose URL a client chose: from public addresses only, without redirects, with limits of size and time. */
import { createPermit, type Permit } from "../../backends/web/addresses.ts";
import { createGuardedRequest, type Resolve } from "../../backends/web/guarded-request.ts";
import type { Runtime } from "../../runtime.ts";

/** The part of `fetch` that `oidc-provider` uses. */
export type DocumentFetch = (
  url: string | URL,
  options: { readonly headers?: Headers; readonly signal?: AbortSignal },
) => Promise<Response>;

interface DocumentFetchOptions {
  readonly log: Runtime["log"];
  /** Default: public addresses. */
  readonly permit?: Permit;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

const maxBytes = 64 * 1024;
const timeoutMs = 5000;

export function createDocumentFetch({ log, permit = createPermit([]), resolve = lookUp }: DocumentFetchOptions) {
  const request = createGuardedRequest({
    permit,
    resolve,
    maxBytes,
    what: "metadata of a client",
    advice: "clients must publish it on the internet",
    log,
  });
  const guarded: DocumentFetch = async (url, { headers, signal }) => {
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const sent = { accept: headers?.get("accept") ?? "application/json", "user-agent": "Pressmark" };
    const response = await request(new URL(url), { headers: sent }, AbortSignal.any(signals));
    const { status, bytes } = response;
    const body = status === 204 || status === 205 || status === 304 ? null : new Uint8Array(bytes);
    const kept = ["cache-control", "expires"].map((name) => [name, String(response.headers[name] ?? "")] as const);
    return new Response(body, { status, headers: Object.fromEntries(kept.filter(([, value]) => value !== "")) });
  };
  return guarded;
}

async function lookUp(name: string) {
  const { lookup } = await import("node:dns/promises");
  return lookup(name, { all: true, order: "verbatim" });
}
