/** An OAuth provider of the official client that stores everything in memory, and a user who agrees to everything. */
import type {
  DpopSession,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

interface MemoryProviderOptions {
  readonly clientMetadataUrl?: string;
  /** A client that is registered already. */
  readonly known?: StoredOAuthClientInformation;
  readonly dpop?: DpopSession;
}

interface Consent {
  readonly code: string;
  readonly iss?: string;
}

/** `consent` opens the page that the user was last sent to; undefined if there is none. */
export function createMemoryProvider({ clientMetadataUrl, known, dpop }: MemoryProviderOptions) {
  let client = known;
  let tokens: StoredOAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let verifier = "";
  let page: URL | undefined;
  const redirectUrl = "http://127.0.0.1:3000/callback";

  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadataUrl,
    clientMetadata: { client_name: "pressmark", redirect_uris: [redirectUrl] },
    clientInformation: () => client,
    saveClientInformation: (fresh) => void (client = fresh),
    tokens: () => tokens,
    saveTokens(fresh) {
      tokens = fresh;
      // Needed only while the user is away to sign in: the server may name another authorization server next time.
      discovery = undefined;
    },
    saveCodeVerifier: (fresh) => void (verifier = fresh),
    codeVerifier: () => verifier,
    saveDiscoveryState: (fresh) => void (discovery = fresh),
    discoveryState: () => discovery,
    redirectToAuthorization: (url) => void (page = url),
    ...(dpop && { dpop: () => dpop }),
  };

  async function agree(url: URL): Promise<Consent> {
    const { headers } = await fetch(url, { redirect: "manual" });
    const { searchParams } = new URL(headers.get("location") ?? "", redirectUrl);
    const code = searchParams.get("code");
    if (code === null) throw new Error(`no code: ${searchParams.get("error")}`);
    return { code, iss: searchParams.get("iss") ?? undefined };
  }

  return {
    provider,
    consent(): Promise<Consent> | undefined {
      const url = page;
      page = undefined;
      return url && agree(url);
    },
  };
}
