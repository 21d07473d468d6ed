/** The whole authorization flow of the official clients against `pressmark serve` with `server.auth: builtin`, in a real browser. */
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, hasBrowser } from "../picker/browser.ts";
import {
  type BuiltinServer,
  type Callback,
  createBuiltinServer,
  createCallback,
  createClientState,
} from "./serve-builtin.ts";

const ownerToken = "0123456789abcdef0123456789abcdef";
const config = `mounts:
  files: { source: file, root: . }
callers:
  aki: { groups: [support] }
  bo: {}
rules:
  - { allow: ["group:support"], paths: [public] }
server:
  publicUrl: URL
  auth: builtin
  token: "${ownerToken}"
`;
const files = { "public/手順.md": "# 手順\n", "secrets/key.md": "# Key\n" };
const password = "correct horse battery";

/** Both lines of the official client, as far as this test uses them. */
const lines = {
  v1: {
    open(endpoint: URL, authProvider: object) {
      const transport = new TransportV1(endpoint, { authProvider: authProvider as never });
      const client = new ClientV1({ name: "test", version: "1" });
      return {
        client,
        connect: () => client.connect(transport),
        finish: (called: URLSearchParams) => transport.finishAuth(called.get("code") ?? ""),
      };
    },
  },
  v2: {
    open(endpoint: URL, authProvider: object) {
      const transport = new TransportV2(endpoint, { authProvider: authProvider as never });
      const client = new ClientV2({ name: "test", version: "1" });
      return {
        client,
        connect: () => client.connect(transport),
        finish: (called: URLSearchParams) => transport.finishAuth(called),
      };
    },
  },
};

async function signIn(page: Page, name: string, secret: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password, token or one-time code").fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe.skipIf(!hasBrowser)("the embedded authorization server (needs /usr/bin/chromium)", { timeout: 90_000 }, () => {
  let served: BuiltinServer;
  let callback: Callback;
  let browser: Browser;

  beforeAll(async () => {
    served = await createBuiltinServer(config, files);
    callback = await createCallback();
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    await served.run(["token", "password", "aki"], `${password}\n`);
    await served.start();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await callback?.[Symbol.asyncDispose]();
    await served?.[Symbol.asyncDispose]();
  }, 30_000);

  /** Opens the address as a click on a page of another site does. */
  async function open(address: URL, options: { locale?: string } = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    await page.route("https://chat.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<a href="${address.href.replaceAll("&", "&amp;")}">connect</a>`,
      }),
    );
    await page.goto("https://chat.example/");
    await page.getByRole("link").click();
    return page;
  }

  /** A new client that asks for access. */
  async function ask(line: keyof typeof lines) {
    let asked: URL | undefined;
    const state = createClientState(callback.url, async (url) => void (asked = url));
    const first = lines[line].open(served.endpoint, state.provider);
    await expect(first.connect()).rejects.toThrow(/Unauthorized/i);
    return { state, first, address: asked! };
  }

  /** Connects a new client, with a person who signs in like this. */
  async function connect(line: keyof typeof lines, name: string, secret: string) {
    const { state, first, address } = await ask(line);
    const page = await open(address);
    await signIn(page, name, secret);
    await page.getByRole("heading", { name: "Allow Test client?" }).waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("connected").waitFor();
    const called = await callback.next();
    expect(Object.fromEntries(called)).toMatchObject({ state: "state-of-the-client", iss: served.url });
    await first.finish(called);
    await page.context().close();
    const { client, connect: again } = lines[line].open(served.endpoint, state.provider);
    await again();
    return { client, state };
  }

  const readable = async (client: { readResource(request: { uri: string }): Promise<unknown> }, path: string) =>
    client.readResource({ uri: served.uriOf(path) }).then(
      () => true,
      () => false,
    );

  it.each(["v1", "v2"] as const)(
    "connects the official client %s, which then sees what the caller may",
    async (line) => {
      const { client } = await connect(line, "aki", password);
      expect([await readable(client, "public/手順.md"), await readable(client, "secrets/key.md")]).toEqual([
        true,
        false,
      ]);
      await client.close();
      const owner = await connect(line, "", ownerToken);
      expect([await readable(owner.client, "secrets/key.md")]).toEqual([true]);
      await owner.client.close();
    },
  );

  it("lets a person sign in with a token, and the owner with the code that serve prints", async () => {
    const token = await served.run(["token", "create", "bo"]);
    const { client } = await connect("v2", "", token);
    expect(await readable(client, "public/手順.md")).toBe(false);
    await client.close();
    const code = /\?code=([\w-]+)/.exec(served.printed)?.[1] ?? "";
    const owner = await connect("v2", "", code);
    expect(await readable(owner.client, "secrets/key.md")).toBe(true);
    await owner.client.close();
    const page = await open((await ask("v2")).address);
    await signIn(page, "", code);
    await page.getByText("This name and password are not valid.").waitFor();
    await page.context().close();
  });

  it.each(["v1", "v2"] as const)(
    "refreshes an access token that the server refuses, after a restart too (%s)",
    async (line) => {
      const { client, state } = await connect(line, "aki", password);
      await client.close();
      const before = state.stored.tokens!;
      await served.stop();
      await served.start();
      const kept = lines[line].open(served.endpoint, state.provider);
      await kept.connect();
      expect([await readable(kept.client, "public/手順.md"), state.stored.tokens]).toEqual([true, before]);
      await kept.client.close();
      state.stored.tokens = { ...before, access_token: `${before.access_token.slice(0, -6)}AAAAAA` };
      const refreshed = lines[line].open(served.endpoint, state.provider);
      await refreshed.connect();
      expect(await readable(refreshed.client, "public/手順.md")).toBe(true);
      expect(state.stored.tokens.refresh_token).not.toBe(before.refresh_token);
      await refreshed.client.close();
    },
  );

  it("ends a client at once when it is revoked, or its caller leaves the config", async () => {
    const statusFor = async ({ stored }: ReturnType<typeof createClientState>) =>
      (await fetch(served.endpoint, { headers: { Authorization: `Bearer ${stored.tokens!.access_token}` } })).status;
    const revoked = await connect("v2", "aki", password);
    const listed = (await served.run(["token", "list", "--json"])).split("\n").map((line) => JSON.parse(line));
    const [newest] = listed.filter(({ caller }) => caller === "aki").toSorted((a, b) => b.created - a.created);
    // Without a session, GET is refused in another way.
    expect([newest.client, await statusFor(revoked.state)]).toEqual(["Test client", 400]);
    await served.run(["token", "revoke", newest.id]);
    await expect.poll(() => statusFor(revoked.state), { timeout: 10_000 }).toBe(401);
    await revoked.client.close().catch(() => undefined);

    const { client, state } = await connect("v2", "aki", password);
    expect(await statusFor(state)).toBe(400);
    served.writeConfig(config.replace("  aki: { groups: [support] }\n", ""));
    await expect.poll(() => statusFor(state), { timeout: 10_000 }).toBe(401);
    served.writeConfig(config);
    await client.close().catch(() => undefined);
  });

  it("shows a person who asks, in Japanese too, and takes no form of another site", async () => {
    const page = await open((await ask("v2")).address, { locale: "ja-JP" });
    await page.getByText("Test client がこのサーバーへの接続を求めています。").waitFor();
    const address = page.url();
    await page.route("https://evil.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<form method="post" action="${address}"><input name="action" value="sign-in"><input name="secret" value="${ownerToken}"><button>go</button></form>`,
      }),
    );
    await page.goto("https://evil.example/");
    const [response] = await Promise.all([
      page.waitForResponse((given) => given.request().method() === "POST"),
      page.getByRole("button").click(),
    ]);
    expect(response.status()).toBe(403);
    await page.context().close();
  });

  it("prints no secrets", () => {
    for (const secret of [password, ownerToken, "Bearer ey"]) expect(served.printed).not.toContain(secret);
  });
});
