import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuardedFetch } from "./guarded-fetch.ts";

let url: string;
const server = createServer((request, response) => {
  switch (request.url) {
    case "/redirect":
      return void response.writeHead(302, { Location: "/json" }).end();
    case "/huge":
      return void response.end("x".repeat(2000));
    case "/silent":
      return;
    default:
      response.writeHead(200, { "Content-Type": "application/json", "X-Method": request.method });
      request.pipe(response);
  }
});

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close().closeAllConnections());

function open(written: readonly string[], address = "127.0.0.1") {
  const logged: string[] = [];
  const fetch = createGuardedFetch({
    written,
    resolve: async () => [{ address, family: 4 }],
    log: (_level, message) => logged.push(message),
    timeoutMs: 200,
    maxBytes: 1000,
  });
  return { fetch, logged };
}

describe("the endpoints of an issuer", () => {
  it("may be at a private address if the operator wrote their origin", async () => {
    const { fetch } = open([`${url}/realms/team`]);
    const response = await fetch(`${url}/json`, { method: "POST", body: new URLSearchParams({ token: "t" }) });
    expect([response.status, await response.text()]).toEqual([200, "token=t"]);
  });

  it("may not be at a private address of the issuer's choosing, by name or number", async () => {
    const { fetch, logged } = open(["https://idp.example"]);
    await expect(fetch("https://keys.example/jwks")).rejects.toMatchObject({ kind: "denied" });
    await expect(fetch("https://169.254.169.254/latest")).rejects.toMatchObject({ kind: "denied" });
    expect(logged).toHaveLength(2);
  });

  it("may not be without encryption unless the operator wrote them", async () => {
    const { fetch } = open(["https://idp.example"], "8.8.8.8");
    await expect(fetch("http://idp.example/jwks")).rejects.toMatchObject({ kind: "denied" });
  });

  it("are not followed elsewhere", async () => {
    const { fetch } = open([url]);
    expect((await fetch(`${url}/redirect`)).status).toBe(302);
  });

  it("have little time and little to say", async () => {
    const { fetch } = open([url]);
    await expect(fetch(`${url}/silent`)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(fetch(`${url}/huge`)).rejects.toMatchObject({ kind: "too-large" });
  });
});
