/** The programs of docs/embedding.md run as they are, with the packed package, and the official clients use them. */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { once } from "node:events";
import { SSEClientTransport as V1Sse } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as V1Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SSEClientTransport as V2Sse, StreamableHTTPClientTransport as V2Http } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visitV1 } from "../interop/sdk-v1.ts";
import { visitV2 } from "../interop/sdk-v2.ts";
import type { Visitor } from "../interop/visitor.ts";
import { createProject, type Project } from "../package/project.ts";
import { readPrograms, type RunningProgram, startProgram } from "./embedding-programs.ts";

const packages = ["express", "fastify", "hono", "@hono/node-server"];
let project: Project;
beforeAll(() => void (project = createProject(...packages)));
afterAll(() => project[Symbol.dispose]());

it("finds the programs", () => {
  expect([...readPrograms().keys()]).toEqual(["express.js", "fastify.js", "hono.js"]);
});

/** Every official client and transport that can reach the program. */
const clients: Readonly<Record<string, (program: RunningProgram) => Promise<Visitor>>> = {
  "SDK v1": ({ url, key }) => visitV1(new V1Http(url, { requestInit: signedIn(key) })),
  "SDK v1 over SSE": ({ url, key }) => visitV1(new V1Sse(below(url, "/sse"), { requestInit: signedIn(key) })),
  "SDK v2": ({ url, key }) => visitV2(new V2Http(url, { requestInit: signedIn(key) }), "auto"),
  "SDK v2 with a session": ({ url, key }) => visitV2(new V2Http(url, { requestInit: signedIn(key) }), "legacy"),
  "SDK v2 over SSE": ({ url, key }) => visitV2(new V2Sse(below(url, "/sse"), { requestInit: signedIn(key) }), "legacy"),
};

describe.each(["express.js", "fastify.js", "hono.js"])("%s", (name) => {
  let program: RunningProgram;
  beforeAll(async () => void (program = await startProgram(project.folder, name)));
  afterAll(() => program[Symbol.asyncDispose]());

  async function write(text: string): Promise<void> {
    const { status } = await send(new URL("/notes/hello.txt", program.url), {
      method: "PUT",
      headers: { ...signedIn(program.key).headers, "Content-Type": "application/json" },
      body: JSON.stringify({ text }),
    });
    expect(status).toBe(204);
  }

  it.each(Object.keys(clients))("is listed, read and watched by %s", async (client) => {
    await using visitor = await (clients[client] as (typeof clients)[string])(program);
    expect((await visitor.pages()).flat()).toEqual(["notes://hello.txt"]);
    await visitor.watch("notes://hello.txt");
    const text = `Hello to ${client}`;
    await write(text);
    await visitor.heard.next("updated notes://hello.txt");
    expect(await visitor.read("notes://hello.txt")).toMatchObject([{ uri: "notes://hello.txt", text }]);
  });

  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });

  it("refuses other hosts with 403, before it asks who calls", async () => {
    const headers = headersOf({ ...signedIn(program.key).headers, Host: "evil.example" });
    expect(await send(program.url, { headers, body })).toMatchObject({ status: 403 });
    expect(await send(program.url, { headers: headersOf({ Host: "evil.example" }), body })).toMatchObject({
      status: 403,
    });
  });

  it("serves the host that it allows, and refuses strangers with 401", async () => {
    const Host = "notes.example.com";
    const stranger = await send(program.url, { headers: headersOf({ Host }), body });
    expect(stranger).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect(stranger.text).toContain("authentication required");
    const wrong = headersOf({ Host, Authorization: "Bearer another" });
    expect(await send(program.url, { headers: wrong, body })).toMatchObject({ status: 401 });
    const known = headersOf({ Host, ...signedIn(program.key).headers });
    expect(await send(program.url, { headers: known, body })).toMatchObject({ status: 200 });
  });

  it("stops on SIGTERM with a stream open, and with exit code 0", async () => {
    await using visitor = await (clients["SDK v1 over SSE"] as (typeof clients)[string])(program);
    await visitor.watch("notes://hello.txt");
    expect(await program.stop()).toBe(0);
  });
});

function headersOf(more: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return { "Content-Type": "application/json", ...more };
}

function signedIn(key: string) {
  return { headers: { Authorization: `Bearer ${key}` } };
}

function below(url: URL, path: string): URL {
  return new URL(url.pathname + path, url);
}

interface Sent {
  readonly method?: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Unlike `fetch`, it can send any Host. */
async function send(url: URL, { method = "POST", headers, body }: Sent) {
  const sent = httpRequest(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, text };
}
