/**
 * An authorization server as a program of its own: oidc-provider, with a user who is signed in and agrees to everything. The first argument is
 * JSON: clients, scopes and the format of tokens. Prints its issuer. `/issue?sub=NAME&resource=URL` returns a token of a user, and tokens of users can be exchanged (RFC 8693).
 */
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { clients = [], scopes = ["notes", "admin"], format = "opaque" } = JSON.parse(process.argv[2] ?? "{}");
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
        getResourceServerInfo: (_, audience) => ({ audience, scope: scopes.join(" "), accessTokenFormat: format }),
      },
    },
  });
  const issue = (accountId, client, scope, resource) => {
    const token = new provider.AccessToken({ accountId, client, gty: "token_exchange", scope });
    token.resourceServer = new provider.ResourceServer(resource, { audience: resource, scope: scopes.join(" ") });
    return token.save();
  };
  provider.registerGrantType(
    "urn:ietf:params:oauth:grant-type:token-exchange",
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const subject = await provider.AccessToken.find(params.subject_token);
      if (!subject)
        throw Object.assign(new Error("invalid_grant"), { status: 400, expose: true, error: "invalid_grant" });
      const access_token = await issue(subject.accountId, client, params.scope, params.resource);
      const issued_token_type = "urn:ietf:params:oauth:token-type:access_token";
      ctx.body = { access_token, issued_token_type, token_type: "Bearer", expires_in: 3600, scope: params.scope };
    },
    ["audience", "scope", "subject_token", "subject_token_type", "requested_token_type", "resource"],
  );
  const respond = provider.callback();
  server.on("request", async (request, response) => {
    if (request.url.startsWith("/issue?")) {
      const { sub, resource } = Object.fromEntries(new URL(request.url, issuer).searchParams);
      return void response.end(await issue(sub, await provider.Client.find("upstream"), "notes", resource));
    }
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
