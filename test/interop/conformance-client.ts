/**
 * The program that the conformance suite runs as a client: `pressmark/client` with a provider of the official client. The suite passes
 * the server's URL as the last argument, and the scenario and its credentials in the environment.
 */
import {
  auth,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
  DpopSession,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";
import { connect, type RemoteServer, ResourceError } from "../../src/client/index.ts";
import { createMemoryProvider } from "./memory-provider.ts";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Readonly<Record<string, string>>;
const given = (name: string): string => context[name] ?? "";
const era = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28" ? "modern" : "auto";
const call = { caller: { id: "conformance" }, signal: AbortSignal.timeout(25_000) };

const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
const [clientId, clientSecret] = [given("client_id"), given("client_secret")];
/** More sign-ins than this for one request would be a loop. */
const maxSignIns = 3;

/** Signs in without a user, if the scenario is about that. */
function machineProvider(): OAuthClientProvider | undefined {
  switch (scenario) {
    case "auth/client-credentials-basic":
      return new ClientCredentialsProvider({ clientId, clientSecret });
    case "auth/client-credentials-jwt":
      return new PrivateKeyJwtProvider({
        clientId,
        privateKey: given("private_key_pem"),
        algorithm: given("signing_algorithm"),
      });
    case "auth/enterprise-managed-authorization":
      return new CrossAppAccessProvider({
        clientId,
        clientSecret,
        async assertion({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) {
          const grant = await requestJwtAuthorizationGrant({
            tokenEndpoint: given("idp_token_endpoint"),
            idToken: given("idp_id_token"),
            clientId: given("idp_client_id"),
            audience,
            resource,
            scope,
            fetchFn,
          });
          return grant.jwtAuthGrant;
        },
      });
    case "auth/wif-jwt-bearer": {
      const provider = new ClientCredentialsProvider({ clientId, clientSecret: "" });
      return Object.assign(provider, {
        clientInformation: () => ({ client_id: clientId }),
        prepareTokenRequest: () =>
          new URLSearchParams({
            grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
            assertion: given("valid_jwt"),
          }),
      });
    }
    default:
      return undefined;
  }
}

const user = createMemoryProvider({
  clientMetadataUrl,
  ...(clientId !== "" && { known: { client_id: clientId, client_secret: clientSecret, issuer: given("issuer") } }),
  ...(scenario.startsWith("auth/dpop") && { dpop: await DpopSession.create() }),
});
const provider = machineProvider() ?? user.provider;

/** Repeats the work after each sign-in that it needs. */
async function signedIn<T>(work: () => Promise<T>): Promise<T> {
  for (let signIns = 0; ; signIns += 1)
    try {
      return await work();
    } catch (cause) {
      const isDenied = cause instanceof ResourceError && cause.kind === "denied";
      const consent = user.consent();
      if (!isDenied || !consent || signIns === maxSignIns) throw cause;
      const { code: authorizationCode, iss } = await consent;
      await auth(user.provider, { serverUrl: url, authorizationCode, iss });
    }
}

async function use(server: RemoteServer): Promise<void> {
  const names = await signedIn(() => server.tools(call));
  if (names.includes("test-tool")) await signedIn(() => server.useTool("test-tool", {}, call));
}

const server = await signedIn(() => connect(url, { era, auth: provider, timeoutMs: 20_000 }));
await use(server).finally(() => server.close());
