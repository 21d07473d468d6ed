/** Finds the endpoints of an issuer in its metadata: OpenID Connect Discovery, else RFC 8414. */
import type { AuthorizationServer } from "oauth4webapi";
import { lastingFailure, quote, ResourceError } from "../errors.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

/** Rejects if the metadata cannot be read, or names another issuer. */
export async function discover(issuer: string, fetch: GuardedFetch, signal: AbortSignal): Promise<AuthorizationServer> {
  const { allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } =
    await import("oauth4webapi");
  const url = new URL(issuer);
  const failures: string[] = [];
  for (const algorithm of ["oidc", "oauth2"] as const)
    try {
      const response = await discoveryRequest(url, {
        algorithm,
        signal,
        [customFetch]: fetch,
        [allowInsecureRequests]: url.protocol === "http:",
      });
      return await processDiscoveryResponse(url, response);
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      failures.push((cause as Error).message);
    }
  throw lastingFailure(`${quote(issuer)} has no usable metadata (${failures.join("; ")})`);
}
