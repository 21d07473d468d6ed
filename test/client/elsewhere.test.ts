/** A server that sends us elsewhere: what is meant for it alone does not come along. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { refusal } from "../../src/testing/refusal.ts";

const secret = "k3y-of-the-first-server";
const headers = { "X-Api-Key": secret, Authorization: `Bearer ${secret}`, Cookie: `key=${secret}` };

async function open(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const told = (asked: readonly IncomingMessage[]) =>
  asked.filter(({ rawHeaders }) => rawHeaders.join(" ").includes(secret));

/** A person who is sent to sign in, and has not come back yet. */
function createProvider(): { readonly auth: OAuthClientProvider; readonly sent: readonly string[] } {
  const sent: string[] = [];
  const auth: OAuthClientProvider = {
    redirectUrl: "http://127.0.0.1/back",
    clientMetadata: { client_name: "a host", redirect_uris: ["http://127.0.0.1/back"] },
    clientInformation: () => ({ client_id: "a host" }),
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: ({ origin, pathname }) => void sent.push(origin + pathname),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => "",
  };
  return { auth, sent };
}

function metadataOf(origin: string): string {
  return JSON.stringify({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  });
}

it.each([
  ["/mcp", "auto", true],
  ["/mcp", "legacy", true],
  ["/sse", "auto", true],
  // Here the official client does not say why it failed.
  ["/mcp", "modern", false],
] as const)("a redirect of %s (%s) to another server is not followed", async (path, era, isNamed) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const other = await open((_request, response) => response.writeHead(404).end());
    const server = await open((_request, response) =>
      response.writeHead(status, { Location: `${other.origin}/mcp` }).end(),
    );
    const failure = await refusal(connect(server.origin + path, { headers, era }), ["unavailable"], path);
    expect(failure.message.includes(`"${other.origin}/mcp"`)).toBe(isNamed);
    expect(told(server.asked).length).toBeGreaterThan(0);
    expect(other.asked).toEqual([]);
  }
});

it("who is asked for a token is given no header that was meant for the server", async () => {
  const elsewhere = await open((request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(
      request.url?.includes("protected-resource")
        ? JSON.stringify({ resource: `${server.origin}/mcp`, authorization_servers: [elsewhere.origin] })
        : metadataOf(elsewhere.origin),
    );
  });
  const server = await open((request, response) => {
    // What is asked for beside the endpoint is sent elsewhere, too.
    if (request.url !== "/mcp") return void response.writeHead(302, { Location: elsewhere.origin + request.url }).end();
    const metadata = `${elsewhere.origin}/.well-known/oauth-protected-resource/mcp`;
    response.writeHead(401, { "WWW-Authenticate": `Bearer resource_metadata="${metadata}"` }).end();
  });
  const { auth, sent } = createProvider();
  const failure = await refusal(connect(`${server.origin}/mcp`, { headers, auth }), ["denied"], "nobody yet");
  expect([failure.cause, sent]).toEqual([expect.any(UnauthorizedError), [`${elsewhere.origin}/authorize`]]);
  expect(told(server.asked).length).toBeGreaterThan(0);
  expect(elsewhere.asked.length).toBeGreaterThan(0);
  expect(told(elsewhere.asked).map(({ url }) => url)).toEqual([]);
});

it("a redirect within the server is followed, with what it is to be told", async () => {
  const server = await open((request, response) => {
    if (request.url === "/mcp") return void response.writeHead(308, { Location: "/new/mcp" }).end();
    response.writeHead(500).end();
  });
  await refusal(connect(`${server.origin}/mcp`, { headers, era: "legacy" }), ["unavailable"], "/mcp");
  expect(told(server.asked).map(({ url }) => url)).toEqual(["/mcp", "/new/mcp"]);
});

it.each(["/mcp", "/sse"])("what is asked for on the way to sign in is no stream (%s)", async (path) => {
  const server = await open((request, response) => {
    if (request.url === path) return void response.writeHead(401).end();
    if (request.url !== "/.well-known/oauth-authorization-server") return void response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": "application/json" }).end(metadataOf(server.origin));
  });
  const { auth, sent } = createProvider();
  await refusal(connect(server.origin + path, { auth }), ["denied"], "nobody yet");
  expect(sent).toEqual([`${server.origin}/authorize`]);
});
