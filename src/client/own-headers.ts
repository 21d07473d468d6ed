/** Headers that are for one server alone: neither for those whom it names, nor for where it sends us. */

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** They go with what is asked of the server itself and is sent on to no one; what is said there already stands. */
export function withOwnHeaders(fetch: Fetch, server: URL, own: Readonly<Record<string, string>> = {}): Fetch {
  return (url, init) => {
    // The official transports follow a redirect themselves, and ask here again. Whoever looks for a place to sign in does not.
    if (init?.redirect !== "manual" || !isOf(server, new URL(url))) return fetch(url, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}

/** The same origin, or the same host by its safer way. */
function isOf(server: URL, to: URL): boolean {
  if (to.origin === server.origin) return true;
  return `${server.protocol}${to.protocol}` === "http:https:" && to.host === server.host && server.port === "";
}
