/**
 * An authorization server as a program of its own: oidc-provider, with a user who is signed in and agrees to everything. The first argument is
 * JSON: clients, and the resource that tokens are for. Prints its issuer.
 */
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { clients = [], scopes = ["notes", "admin"] } = JSON.parse(process.argv[2] ?? "{}");
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    scopes: ["openid", "offline_access", ...scopes],
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({ audience, scope: scopes.join(" "), accessTokenFormat: "opaque" }),
      },
    },
  });
  const respond = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url.startsWith("/interaction/")) return void respond(request, response);
    agree(provider, request, response).catch((cause) => response.writeHead(500).end(String(cause)));
  });
  console.log(issuer);
});

async function agree(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const finish = (result) => provider.interactionFinished(request, response, result);
  if (prompt.name === "login") return finish({ login: { accountId: "operator" } });
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(" "));
  for (const [resource, missing] of Object.entries(prompt.details.missingResourceScopes ?? {}))
    grant.addResourceScope(resource, missing.join(" "));
  return finish({ consent: { grantId: await grant.save() } });
}
