/** Two servers to stand behind a gateway, and gateways to stand before them: ours, and those that others built. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { Server } from "@modelcontextprotocol/server";
import { acquireListenSubscriptions, getUpstreamBridge, proxyServer, startHTTPServer } from "mcp-proxy";
import { z } from "zod";
import type { Policy } from "../../src/access/policy.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import mcp from "../../src/sources/mcp.ts";
import { listen } from "../../src/transport/listen.ts";
import { freePort, serveSessions } from "./peers.ts";

export interface Upstream extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Changes the first note, and says so to who has subscribed to it. */
  change(): void;
}

const notes = 6;
const pageSize = 3;
export const kinds = ["moons", "seas"] as const;
const planets = ["mars", "mercury", "venus"];

export const noteOf = (name: string, number: number) => `note ${number} of ${name}`;
export const secretOf = (name: string) => `the secret of ${name}`;
export const greetingOf = (name: string, kind: string, planet: string) => `hello ${kind} of ${planet} from ${name}`;
export const notesOf = (name: string) => Array.from({ length: notes }, (_, at) => noteOf(name, at + 1));

function pageOf<T>(all: readonly T[], cursor: string | undefined, size: number) {
  const from = Number(cursor ?? 0);
  const nextCursor = from + size < all.length ? String(from + size) : undefined;
  return { items: all.slice(from, from + size), nextCursor };
}

/** A server built with the official SDK: seven resources on three pages, two templates that complete on two, and subscriptions. */
export async function openUpstream(name: string): Promise<Upstream> {
  const watched = new WeakMap<McpServer, Set<string>>();
  const first = `${name}://notes/1`;
  let changes = 0;
  const { url, sessions, ...rest } = await serveSessions(() => {
    const server = new McpServer(
      { name, version: "1.0.0" },
      { capabilities: { resources: { subscribe: true, listChanged: true } } },
    );
    const uris = [`${name}://notes/secrets/key`, ...notesOf(name).map((_, at) => `${name}://notes/${at + 1}`)];
    for (const uri of uris)
      server.registerResource(uri.slice(name.length + 3), uri, { mimeType: "text/plain" }, () => {
        const text = uri.includes("secrets") ? secretOf(name) : noteOf(name, Number(uri.at(-1)));
        return { contents: [{ uri, text: uri === first && changes > 0 ? `${text}, changed` : text }] };
      });
    for (const kind of kinds)
      server.registerResource(
        kind,
        new ResourceTemplate(`${name}://${kind}/{planet}`, {
          list: undefined,
          complete: { planet: (value) => planets.filter((each) => each.startsWith(value)) },
        }),
        {},
        (uri, { planet }) => ({ contents: [{ uri: uri.href, text: greetingOf(name, kind, String(planet)) }] }),
      );
    server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
      const { items, nextCursor } = pageOf(uris, params?.cursor, pageSize);
      return { resources: items.map((uri) => ({ uri, name: uri.slice(name.length + 3) })), nextCursor };
    });
    server.server.setRequestHandler(ListResourceTemplatesRequestSchema, ({ params }) => {
      const { items, nextCursor } = pageOf(kinds, params?.cursor, 1);
      const resourceTemplates = items.map((kind) => ({ name: kind, uriTemplate: `${name}://${kind}/{planet}` }));
      return { resourceTemplates, nextCursor };
    });
    const subscribed = new Set<string>();
    watched.set(server, subscribed);
    server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      subscribed.add(params.uri);
      return {};
    });
    server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
      subscribed.delete(params.uri);
      return {};
    });
    return server;
  });
  return {
    ...rest,
    name,
    url,
    change() {
      changes += 1;
      for (const server of sessions())
        if (watched.get(server)?.has(first)) void server.server.sendResourceUpdated({ uri: first });
    },
  };
}

export type Person = "owner" | "reader";

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  /** What tells it who asks. */
  headersOf(person: Person): Record<string, string>;
}

const headersOf = (person: Person) => ({ Authorization: `Bearer ${person}` });

/** Only the owner sees what is called a secret. */
const policy: Policy = {
  maySee: ({ id }, _mount, { path }) => id === "owner" || !/(?:^|\/)secrets(?:\/|$)/.test(path),
};

export async function openOurs(upstreams: readonly Upstream[]): Promise<Gateway> {
  const runtime = createRuntime({ write: () => true });
  const mounts = await Promise.all(
    upstreams.map(async ({ name, url }) => ({
      name,
      base: `mcp://${name}/`,
      source: await mcp.open(mcp.options(z).parse({ url }), runtime),
    })),
  );
  const pressmark = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32) });
  const edge = createProtocol({ resources: pressmark, server: { name: "gateway", version: "1" } });
  const listening = await listen(edge, {
    port: 0,
    graceMs: 0,
    identify({ headers }) {
      const id = /^Bearer (owner|reader)$/.exec(headers.authorization ?? "")?.[1];
      return id === undefined ? undefined : { id };
    },
  });
  return {
    url: listening.url,
    headersOf,
    async [Symbol.asyncDispose]() {
      await listening.close();
      await pressmark.close();
    },
  };
}

/** mcp-proxy, as its own command puts it together, over HTTP. It stands before one server; keys are all that it asks who comes for. */
export async function openMcpProxy({ url }: Upstream): Promise<Gateway> {
  const client = new Client({ name: "mcp-proxy", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const serverCapabilities = client.getServerCapabilities() ?? {};
  const port = await freePort();
  const proxy = await startHTTPServer({
    port,
    host: "127.0.0.1",
    apiKey: "key",
    createServer: async () => {
      const server = new Server(client.getServerVersion() ?? { name: "", version: "" }, {
        capabilities: serverCapabilities,
      });
      await proxyServer({ client, server, serverCapabilities });
      return server;
    },
    onListenSubscriptions: (uris) => acquireListenSubscriptions({ client, uris }),
  });
  getUpstreamBridge({ client }).subscribe({
    resourcesListChanged: () => proxy.notify.resourcesChanged(),
    resourceUpdated: ({ uri }) => proxy.notify.resourceUpdated(uri),
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    headersOf: () => ({ "X-API-Key": "key" }),
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await getUpstreamBridge({ client }).close();
      await client.close();
    },
  };
}

const hubProgram = join(import.meta.dirname, "../../node_modules/mcp-hub/dist/cli.js");

/** mcp-hub, which stands before many servers and is configured by a file. It has no way to say who may see what. */
export async function openMcpHub(upstreams: readonly Upstream[]): Promise<Gateway> {
  const home = mkdtempSync(join(tmpdir(), "pressmark-hub-"));
  const config = join(home, "servers.json");
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: Object.fromEntries(upstreams.map(({ name, url }) => [name, { url }])) }),
  );
  const port = await freePort();
  const hub = spawn(process.execPath, [hubProgram, "--port", String(port), "--config", config], {
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      HOME: home,
      XDG_STATE_HOME: home,
      XDG_DATA_HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      // It looks for its catalogue on the public network when it starts, and must not find the way.
      PATH: home,
      NODE_USE_ENV_PROXY: "1",
      HTTPS_PROXY: "http://127.0.0.1:9",
    },
  });
  try {
    await said(hub, `${upstreams.length}/${upstreams.length} servers started successfully`);
  } catch (cause) {
    await ended(hub, home);
    throw cause;
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    headersOf,
    [Symbol.asyncDispose]: () => ended(hub, home),
  };
}

/** Reads on afterwards, so that the program never waits for its reader. */
function said({ stdout }: ChildProcess, what: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const lines = createInterface({ input: stdout! });
  lines.on("line", (line) => line.includes(what) && resolve());
  lines.on("close", () => reject(new Error(`the program ended before it said ${what}`)));
  return promise;
}

async function ended(program: ChildProcess, home: string): Promise<void> {
  if (program.exitCode === null && program.signalCode === null) {
    const gone = new Promise((resolve) => program.once("exit", resolve));
    program.kill("SIGKILL");
    await gone;
  }
  rmSync(home, { recursive: true, force: true });
}
