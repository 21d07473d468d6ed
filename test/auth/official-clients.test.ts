/** The official clients sign in to `pressmark serve` with OAuth: discovery, registration, PKCE, consent in a browser, and the token. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import * as v2 from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { chromiumPath, hasBrowser } from "../picker/browser.ts";
import { freePort, startProvider, type TestProvider } from "./provider.ts";

const scratch = createScratch();
let provider: TestProvider;
let served: Served;
let browser: Browser;
let publicUrl: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  provider = await startProvider(`${publicUrl}/mcp`);
  const team = join(scratch.folder, "team");
  mkdirSync(team);
  writeFileSync(join(team, "a.md"), "tea\n");
  const config = join(team, "pressmark.config.json");
  const scopes = { read: ["mcp:read"], write: ["mcp:write"], includes: { "mcp:write": ["mcp:read"] } };
  const auth = [{ issuer: provider.issuer }];
  const rules = [{ allow: ["group:people"], write: true }];
  const server = { publicUrl, auth, scopes, tools: ["read_resource", "save_set"] };
  writeFileSync(config, JSON.stringify({ mounts: { docs: { source: "file", root: "." } }, rules, server }));
  served = await startServe(["--config", config, "--port", String(port)], { cwd: team, env: scratch.env });
  browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  served?.child.kill("SIGTERM");
  await served?.exited;
  await provider?.stop();
  scratch.remove();
});

/** What a host keeps about one server, and the person who signs in. */
async function createPerson(client?: { readonly client_id: string }) {
  const port = await freePort();
  const redirectUrl = `http://127.0.0.1:${port}/callback`;
  const stored: { client?: object; tokens?: object; verifier?: string; found?: object; url?: URL } = { client };
  const auth = {
    redirectUrl,
    clientMetadata: {
      client_name: "test",
      redirect_uris: [redirectUrl],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => stored.client,
    saveClientInformation: (registered: object) => void (stored.client = registered),
    tokens: () => stored.tokens,
    saveTokens: (tokens: object) => void (stored.tokens = tokens),
    redirectToAuthorization: (url: URL) => void (stored.url = url),
    saveCodeVerifier: (verifier: string) => void (stored.verifier = verifier),
    codeVerifier: () => stored.verifier ?? "",
    saveDiscoveryState: (found: object) => void (stored.found = found),
    discoveryState: () => stored.found,
  } as unknown as OAuthClientProvider;

  /** Signs in and consents in a browser. Returns the parameters of the redirect. */
  async function consent(): Promise<URLSearchParams> {
    const arrived = Promise.withResolvers<URLSearchParams>();
    const callback = createServer((request, response) => {
      response.end("done");
      const { pathname, searchParams } = new URL(request.url ?? "/", redirectUrl);
      if (pathname === "/callback") arrived.resolve(searchParams);
    });
    await new Promise<void>((listening) => callback.listen(port, "127.0.0.1", listening));
    const page = await browser.newPage();
    try {
      await page.goto(stored.url!.href);
      await page.getByPlaceholder("Enter any login").fill("ann");
      await page.getByPlaceholder("and password").fill("x");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      return await arrived.promise;
    } finally {
      await page.context().close();
      callback.close().closeAllConnections();
    }
  }

  return { auth, consent, stored };
}

describe.runIf(hasBrowser)("an official client", () => {
  it("of the first line registers itself, signs in and reads", async () => {
    const { auth, consent, stored } = await createPerson();
    const url = new URL(`${publicUrl}/mcp`);
    const open = () => new StreamableHTTPClientTransport(url, { authProvider: auth as never });
    const first = open();
    const client = new Client({ name: "v1", version: "1" });
    await expect(client.connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
    expect(stored.url?.searchParams.get("scope")).toBe("mcp:read");
    expect(stored.url?.searchParams.get("resource")).toBe(url.href);
    expect(stored.url?.searchParams.get("code_challenge_method")).toBe("S256");
    await first.finishAuth((await consent()).get("code")!);
    const again = new Client({ name: "v1", version: "1" });
    await again.connect(open());
    const { resources } = await again.listResources();
    const { uri } = resources.find((each) => each.uri.endsWith("/a.md"))!;
    expect((await again.readResource({ uri })).contents).toMatchObject([{ text: "tea\n" }]);
    await again.close();
  });

  it("of the second line signs in and reads, and gets more scopes when an operation needs them", async () => {
    // The provider limits a client that registers itself to the scopes of its first request.
    const { auth, consent, stored } = await createPerson({ client_id: "desktop" });
    const url = new URL(`${publicUrl}/mcp`);
    const open = () => new v2.StreamableHTTPClientTransport(url, { authProvider: auth });
    const first = open();
    const client = new v2.Client({ name: "v2", version: "1" });
    await expect(client.connect(first)).rejects.toBeInstanceOf(v2.UnauthorizedError);
    await first.finishAuth(await consent());
    const again = new v2.Client({ name: "v2", version: "1" });
    const second = open();
    await again.connect(second);
    const { resources } = await again.listResources();
    const { uri } = resources.find((each) => each.uri.endsWith("/a.md"))!;
    expect((await again.readResource({ uri })).contents).toMatchObject([{ text: "tea\n" }]);

    const save = { name: "save_set", arguments: { name: "tea", uris: [uri] } };
    await expect(again.callTool(save)).rejects.toBeInstanceOf(v2.UnauthorizedError);
    expect(stored.url?.searchParams.get("scope")?.split(" ")).toEqual(
      expect.arrayContaining(["mcp:read", "mcp:write"]),
    );
    await second.finishAuth(await consent());
    const third = new v2.Client({ name: "v2", version: "1" });
    await third.connect(open());
    expect(await third.callTool(save)).not.toMatchObject({ isError: true });
    await third.close();
    await again.close();
  });
});
