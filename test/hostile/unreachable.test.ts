/** Backends that are down, unknown, or answer with what is inside: a caller learns no host, address, port or path from their errors. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { monotonicMs } from "../../src/lib/monotonic-ms.ts";
import { openPolicy } from "../../src/access/policy.ts";
import { toResourceError } from "../../src/errors.ts";
import { stack } from "../../src/layer.ts";
import { standardLayers } from "../../src/layers/standard.ts";
import type { Call, Resources } from "../../src/resources.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { sources } from "../../src/sources/index.ts";
import type { SourceDefinition, Runtime } from "../../src/source.ts";

const inner = "10.11.12.13:8443";
const innerPath = "/srv/zqx/data";
const innerText = `dial tcp ${inner}: connect: connection refused at http://db.zqx.internal:5432 opening ${innerPath}/x.db`;

/** What a backend does that is there. */
const moods: Readonly<Record<string, RequestListener>> = {
  failing: (_, response) => void response.writeHead(500).end(JSON.stringify({ status: "error", error: innerText })),
  refusing: (_, response) =>
    void response.writeHead(400).end(JSON.stringify({ status: "error", errorType: "bad_data", error: innerText })),
  unavailable: (_, response) => void response.writeHead(503).end(innerText),
  forbidding: (_, response) => void response.writeHead(403).end(innerText),
  redirecting: (_, response) => void response.writeHead(302, { Location: `http://${inner}${innerPath}` }).end(),
  garbled: (_, response) => void response.writeHead(200).end(innerText),
  "answering as a server of MCP that fails": (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const { id = 1 } = JSON.parse(body || "{}") as { readonly id?: unknown };
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: innerText } }));
    });
  },
  "hanging up": (request) => void request.socket.destroy(),
};

interface Backend {
  readonly mount: string;
  readonly source: keyof typeof sources;
  readonly options: Readonly<Record<string, unknown>>;
  /** What is asked for, below the base of the mount. */
  readonly paths: readonly string[];
}

/** Every source that has a backend elsewhere, at this origin. `path` is where files are. */
function backendsAt(origin: string, path: string): readonly Backend[] {
  const { hostname, port } = new URL(origin);
  const url = `postgres://someone:x@${hostname}:${port}/shop`;
  const timing = { timeoutMs: 2000 };
  return [
    { mount: "metrics", source: "metrics", options: { url: origin, ...timing }, paths: ["overview", "query?query=up"] },
    {
      mount: "s3",
      source: "s3",
      options: { buckets: ["b"], endpoint: origin, anonymous: true, ...timing },
      paths: ["a.txt", ""],
    },
    {
      mount: "gcs",
      source: "gcs",
      options: { buckets: ["b"], endpoint: origin, anonymous: true, ...timing },
      paths: ["a.txt", ""],
    },
    {
      mount: "gdrive",
      source: "gdrive",
      options: { rootUrl: origin, anonymous: true, keep: false, ...timing },
      paths: ["root", "1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    },
    { mount: "mcp", source: "mcp", options: { url: `${origin}mcp`, ...timing }, paths: ["a.txt"] },
    { mount: "program", source: "mcp", options: { command: `${path}/program`, ...timing }, paths: ["a.txt"] },
    { mount: "postgres", source: "postgres", options: { url, ...timing }, paths: ["public/t/schema", "public"] },
    {
      mount: "redis",
      source: "redis",
      options: { url: `redis://someone:x@${hostname}:${port}/0`, ...timing },
      paths: ["user/1", ""],
    },
    { mount: "sqlite", source: "sqlite", options: { path: `${path}/x.db` }, paths: ["t/schema", "overview"] },
  ];
}

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };

describe("the errors of a backend that is", () => {
  const servers: Server[] = [];
  let folder: string;
  let closedPort: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-zqx-"));
    closedPort = await listening(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
  });
  afterAll(async () => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(folder, { recursive: true, force: true });
  });

  async function listening(listener: RequestListener): Promise<number> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  it("not listening", async () => {
    const backends = backendsAt(`http://127.0.0.1:${closedPort}/`, join(folder, "nothing"));
    await expectNoLeak(backends, ["127.0.0.1", String(closedPort), "zqx"]);
  });

  it("not known by name", async () => {
    const backends = backendsAt("http://db.zqx.invalid:7777/", join(folder, "nothing"));
    await expectNoLeak(backends, ["zqx", "7777"]);
  });

  for (const [mood, listener] of Object.entries(moods))
    it(mood, async () => {
      const port = await listening(listener);
      const backends = backendsAt(`http://127.0.0.1:${port}/`, folder);
      await expectNoLeak(backends, ["127.0.0.1", String(port), "zqx", "10.11.12.13", "8443", "/srv"]);
    });
});

/** Asks for everything that a mount can be asked for, and gives what was said of what went wrong. */
async function everything({ source, options, mount, paths }: Backend): Promise<readonly string[]> {
  const definition = (await sources[source]()).default as SourceDefinition<never>;
  const runtime: Runtime = {
    env: process.env,
    now: Date.now,
    monotonicMs,
    wait: async (_ms, signal) => signal.throwIfAborted(),
    log: () => undefined,
  };
  const parsed = definition.options(z).parse(options) as never;
  const opened = await definition.open(parsed, runtime);
  const layered = stack(opened, { name: mount }, standardLayers(runtime));
  const base = `${mount}://mount/`;
  const resources: Resources = createResources({
    mounts: [{ name: mount, base, source: layered }],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const said: string[] = [];
  const ask = async (asked: () => Promise<unknown>): Promise<void> => {
    try {
      const { failures } = ((await asked()) ?? {}) as { readonly failures?: unknown };
      said.push(JSON.stringify({ failures }));
    } catch (cause) {
      const { kind, message, details } = toResourceError(cause);
      said.push(JSON.stringify({ kind, message, details }));
    }
  };
  try {
    await ask(() => resources.list({}, call));
    await ask(() => resources.templates({}, call));
    for (const path of paths) {
      const uri = `${base}${path}`;
      await ask(() => resources.read(uri, call));
      await ask(() => resources.stat(uri, call));
      await ask(() => resources.children(uri, {}, call));
    }
    for (const template of opened.templates ?? [])
      for (const [, variable = ""] of template.template.matchAll(/(\w+)\*?[,}]/g))
        await ask(() => opened.complete?.({ template, variable, value: "", given: {} }, call) ?? Promise.resolve());
    await ask(() => opened.search?.({ text: "x", limit: 10 }, call) ?? Promise.resolve());
    const stop = new AbortController();
    await ask(async () => {
      const watch = await resources.watch({ uris: [`${base}${paths[0]}`] }, { ...call, signal: stop.signal });
      stop.abort();
      for await (const _ of watch) break;
    });
  } finally {
    await opened.close?.();
  }
  return said;
}

async function expectNoLeak(backends: readonly Backend[], secrets: readonly string[]): Promise<void> {
  const told: string[] = [];
  for (const backend of backends) {
    const said = await everything(backend);
    expect(said.length).toBeGreaterThan(5);
    // The test would show nothing if all went well.
    expect(said.join(), `${backend.mount} fails`).toMatch(/"kind":"(?:unavailable|not-found|unexpected)|"failures"/);
    for (const each of said)
      for (const secret of secrets) if (each.includes(secret)) told.push(`${backend.mount}: ${secret} in ${each}`);
  }
  expect(told).toEqual([]);
}
