import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { resourceOf } from "../config/auth.ts";
import { createResourceMetadata } from "./resource-metadata.ts";

const issuers = () => ["https://idp.example"];

/** Serves nothing but the metadata. */
async function serve(publicUrl: string, scopes: readonly string[] = []) {
  const metadata = createResourceMetadata({ publicUrl, resource: resourceOf(publicUrl), issuers, scopes });
  const server = createServer((request, response) => {
    if (!metadata.answer(request, response, request.url ?? "")) response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const get = (path: string, method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method });
  return { metadata, get };
}

const wellKnown = "/.well-known/oauth-protected-resource";

describe("the metadata of the server", () => {
  it.each(["", "/mcp", "/team/mcp"].flatMap((end) => [`${wellKnown}${end}`, `/team${wellKnown}${end}`]))(
    "of a public URL with a path is at %s, whether or not a proxy strips the path",
    async (path) => {
      const { get } = await serve("https://example.com/team");
      const response = await get(path);
      expect(response.headers.get("Content-Type")).toBe("application/json");
      expect(await response.json()).toMatchObject({
        resource: "https://example.com/team/mcp",
        authorization_servers: ["https://idp.example"],
      });
    },
  );

  it("is named in challenges where a proxy surely passes it on", async () => {
    const { metadata } = await serve("https://example.com/team");
    expect(metadata.challenge()).toBe(
      'Bearer realm="pressmark", resource_metadata="https://example.com/team/.well-known/oauth-protected-resource"',
    );
    const { metadata: plain } = await serve("https://example.com", ["a", "b"]);
    expect(plain.challenge({ error: "invalid_token", description: "x" })).toBe(
      'Bearer realm="pressmark", error="invalid_token", error_description="x", resource_metadata="https://example.com/.well-known/oauth-protected-resource/mcp", scope="a b"',
    );
  });

  it("has no scopes if none are needed, and nothing else is answered", async () => {
    const { get } = await serve("https://example.com");
    expect(await (await get(wellKnown)).json()).not.toHaveProperty("scopes_supported");
    const statuses = await Promise.all(
      [get(wellKnown, "HEAD"), get(wellKnown, "POST"), get(`${wellKnown}/other`), get(`${wellKnown}/mcp/`)].map(
        async (response) => (await response).status,
      ),
    );
    expect(statuses).toEqual([200, 404, 404, 404]);
  });
});
