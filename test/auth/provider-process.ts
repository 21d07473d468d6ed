/** An authorization server in a process of its own: `node provider-process.ts SETTINGS`, with the settings as JSON. */
import { createServer } from "node:http";
import Provider from "oidc-provider";

export interface ProviderSettings {
  readonly port: number;
  /** The server that tokens are for. */
  readonly resource: string;
  /** Another server, whose tokens are opaque. */
  readonly opaqueResource: string;
  readonly keys: readonly object[];
}

const { port, resource, opaqueResource, keys } = JSON.parse(process.argv[2] ?? "{}") as ProviderSettings;
const issuer = `http://127.0.0.1:${port}`;
const secret = "a-secret-of-the-tests-that-is-long-enough";
const machine = { client_secret: secret, redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };

const provider = new Provider(issuer, {
  clients: [
    { ...machine, client_id: "nightly" },
    { ...machine, client_id: "pressmark" },
    {
      client_id: "desktop",
      application_type: "native",
      token_endpoint_auth_method: "none",
      // Of any port.
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  jwks: { keys },
  scopes: ["openid", "offline_access", "mcp:read", "mcp:write"],
  cookies: { keys: ["tests"] },
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, indicator: string) => ({
        scope: "mcp:read mcp:write",
        audience: indicator,
        accessTokenFormat: indicator === opaqueResource ? "opaque" : "jwt",
        accessTokenTTL: 300,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
  extraTokenClaims: (_context: unknown, token: { clientId: string; accountId?: string }) => ({
    groups: [token.accountId === undefined ? "bots" : "people"],
    dept: token.accountId ?? token.clientId,
  }),
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
});

const handle = provider.callback();
let requests = 0;
createServer((request, response) => {
  // For tests: how often the keys were fetched.
  if (request.url === "/requests") return void response.end(String(requests));
  if (request.url === "/jwks") requests += 1;
  handle(request, response);
}).listen(port, "127.0.0.1", () => process.stdout.write("ready\n"));
