/** A temporary endpoint on this machine, to which an authorization server redirects the browser after a sign-in. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cancelled, denied, lastingFailure, quote } from "../errors.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";

interface AuthorizationResponse {
  readonly code: string;
  /** The issuer that the authorization server names (RFC 9207). */
  readonly iss?: string;
}

export interface LoopbackRedirect {
  /** The redirect URI. */
  readonly url: string;
  /** Must be in the authorization request: only a response with it is accepted. */
  readonly state: string;
  /** Throws "denied" if the user did not agree. */
  redirected(signal: AbortSignal): Promise<AuthorizationResponse>;
  close(): void;
}

/** Reachable only from this machine. Without a port, the system chooses one. */
export async function openLoopbackRedirect(port = 0): Promise<LoopbackRedirect> {
  const state = randomBytes(24).toString("base64url");
  const result = Promise.withResolvers<AuthorizationResponse>();
  result.promise.catch(() => undefined);
  let host = "";
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://loopback");
    const given = url?.searchParams.get("state") ?? "";
    // Another web page can make the browser request any address, but not with this host name and state.
    if (
      request.method !== "GET" ||
      request.headers.host !== host ||
      url?.pathname !== "/" ||
      !constantTimeEqual(given, state)
    )
      return void response.writeHead(404, { Connection: "close" }).end();
    const code = url.searchParams.get("code");
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end(code ? "Signed in. This window can be closed.\n" : "Not signed in. This window can be closed.\n");
    if (code) return result.resolve({ code, iss: url.searchParams.get("iss") ?? undefined });
    const reason = url.searchParams.get("error") ?? "no reason given";
    result.reject(denied(`access was not granted (${quote(reason, 60)})`));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(lastingFailure(`cannot listen on port ${port} of this machine for the redirect`, cause)),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/`,
    state,
    redirected: (signal) =>
      unlessAborted(result.promise, signal, (reason) => cancelled(reason, "sign-in was not completed")),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
