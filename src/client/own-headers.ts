/** Sends headers to one server only: not to servers that it names or redirects to. */

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Adds the headers to requests to the server itself; existing headers win. */
export function withOwnHeaders(fetch: Fetch, server: URL, own: Readonly<Record<string, string>> = {}): Fetch {
  return (url, init) => {
    // The official client follows a redirect itself, and calls this again.
    if (init?.redirect !== "manual" || !isOf(server, new URL(url))) return fetch(url, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}

/** The same origin, or the same host over HTTPS. */
function isOf(server: URL, to: URL): boolean {
  if (to.origin === server.origin) return true;
  return `${server.protocol}${to.protocol}` === "http:https:" && to.host === server.host && server.port === "";
}
