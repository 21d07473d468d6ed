/** `pressmark/client` with a provider of the official client, as a host uses it in each scenario of the conformance suite. */
import {
  auth,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
  DpopSession,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";
import { connect, readSkillFile, type RemoteServer, ResourceError } from "../../src/client/index.ts";
import { createMemoryProvider } from "./memory-provider.ts";

type Loose = Readonly<Record<string, unknown>>;

/** What the suite tells its client. */
export interface ClientScenario {
  readonly url: string;
  readonly scenario: string;
  readonly revision: string;
  /** Credentials, or the calls of tools to make. */
  readonly context: Loose & { readonly toolCalls?: readonly { readonly name: string; readonly arguments: Loose }[] };
}

const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
/** More sign-ins than this for one request would be a loop. */
const maxSignIns = 3;

/** Signs in without a user, if the scenario is about that. */
function machineProvider({ scenario, context }: ClientScenario): OAuthClientProvider | undefined {
  const given = (name: string): string => String(context[name] ?? "");
  const [clientId, clientSecret] = [given("client_id"), given("client_secret")];
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

/** Connects, signs in as often as it has to, and does what the scenario is about. */
export async function runAsHost(asked: ClientScenario): Promise<void> {
  const { url, scenario, revision, context } = asked;
  const { client_id: id, client_secret: secret, issuer } = context as Readonly<Record<string, string>>;
  const user = createMemoryProvider({
    clientMetadataUrl,
    ...(id !== undefined && { known: { client_id: id, client_secret: secret, issuer } }),
    ...(scenario.startsWith("auth/dpop") && { dpop: await DpopSession.create() }),
  });

  /** Repeats the work after each sign-in that it needs. */
  async function signedIn<T>(work: () => Promise<T>): Promise<T> {
    for (let signIns = 0; ; signIns += 1)
      try {
        return await work();
      } catch (cause) {
        const isDenied = cause instanceof ResourceError && cause.kind === "denied";
        const consent = isDenied && signIns < maxSignIns ? user.consent() : undefined;
        if (!consent) throw cause;
        const { code: authorizationCode, iss } = await consent;
        await auth(user.provider, { serverUrl: url, authorizationCode, iss });
      }
  }

  const server = await signedIn(() =>
    connect(url, {
      era: revision === "2026-07-28" ? "modern" : "auto",
      auth: machineProvider(asked) ?? user.provider,
    }),
  );
  try {
    const use = uses[scenario] ?? (scenario.startsWith("sep-2640-client-verify-") ? readSkills : useTestTool);
    await signedIn(() => use(server, asked));
  } finally {
    await server.close();
  }
}

const call = { caller: { id: "conformance" }, signal: new AbortController().signal };

/** What a host does in a scenario. */
const uses: Readonly<Record<string, (server: RemoteServer, asked: ClientScenario) => Promise<unknown>>> = {
  tools_call: (server) => server.useTool("add_numbers", { a: 2, b: 3 }, call),
  "sse-retry": (server) => server.useTool("test_reconnection", {}, call),
  "elicitation-sep1034-client-defaults": (server) => server.useTool("test_client_elicitation_defaults", {}, call),

  async "sep-2322-client-request-state"(server) {
    for (const name of await server.tools(call)) await server.useTool(name, {}, call).catch(() => undefined);
  },

  async "http-standard-headers"(server) {
    for (const name of await server.tools(call)) await server.useTool(name, {}, call);
    const { items } = await server.list({}, call);
    // The suite's server returns no contents.
    for (const { uri } of items) await server.read(uri, call).catch(() => undefined);
  },

  async "http-custom-headers"(server, { context: { toolCalls = [] } }) {
    for (const { name, arguments: args } of toolCalls) await server.useTool(name, args, call);
  },

  async "http-invalid-tool-headers"(server) {
    for (const name of await server.tools(call)) await server.useTool(name, { region: "here" }, call);
    // Refused by the client, also if nobody looks at the list.
    await server.useTool("invalid_empty_header", { value: "x" }, call).catch(() => undefined);
  },

  async "json-schema-2020-12-preservation"(server) {
    const [tool] = await server.listTools(call);
    await server.useTool("json_schema_echo", { schema: tool?.inputSchema }, call);
  },

  "sep-2640-client-no-prefetch": (server) => listSkills(server),
};

async function useTestTool(server: RemoteServer): Promise<void> {
  if ((await server.tools(call)).includes("test-tool")) await server.useTool("test-tool", {}, call);
}

function listSkills(server: RemoteServer) {
  if (!server.skills) throw new Error("the client has no method for skills");
  return server.skills({}, call);
}

async function readSkills(server: RemoteServer): Promise<void> {
  for (const skill of (await listSkills(server)).items)
    for (const { uri } of skill.files === "dynamic" ? [] : skill.files) await readSkillFile(server, skill, uri, call);
}
