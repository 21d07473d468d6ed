/** `/health/live` and `/health/ready` of `pressmark serve`, while backends are gone or hang, the index works, and the server stops. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createScratch, portIsClosed, type Served, startServe } from "./pressmark-process.ts";

const token = "0123456789abcdef0123456789abcdef";
const scratch = createScratch();
const servers: Served[] = [];

beforeAll(() => {
  mkdirSync(join(scratch.folder, "notes"));
  writeFileSync(join(scratch.folder, "notes/a.md"), "# A\n");
});
afterEach(() => {
  for (const { child } of servers.splice(0)) child.kill("SIGKILL");
});
afterAll(() => scratch.remove());

/** Each server has an index of its own. */
async function serve(config: string, more: NodeJS.ProcessEnv = {}): Promise<Served> {
  const file = join(scratch.folder, `config-${servers.length}.yaml`);
  writeFileSync(file, config);
  const started = await startServe(["--config", file], { cwd: scratch.folder, env: { ...scratch.env, ...more } });
  servers.push(started);
  return started;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

async function ask({ port }: Served, path: string, { method = "GET", headers, agent }: Asked = {}) {
  const asked = request({ host: "127.0.0.1", port, path, method, headers, agent: agent ?? false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

interface Readiness {
  readonly ready: boolean;
  readonly state: string;
  readonly notReady: readonly { part: string; name?: string; state: string; problem?: string }[];
}

/** As the owner sees it, once it is so. */
async function readinessWhen(server: Served, holds: (seen: Readiness) => boolean): Promise<Readiness> {
  const headers = { Authorization: `Bearer ${token}` };
  let seen: Readiness | undefined;
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    seen = JSON.parse((await ask(server, "/health/ready", { headers })).body) as Readiness;
    if (holds(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the server never became as expected, but ${JSON.stringify(seen)}`);
}

const files = "notes: { source: file, root: notes }";

describe("health of a server", () => {
  it("is ready with nothing left to say once everything is indexed", async () => {
    const server = await serve(`mounts: { ${files} }\n`);
    expect(await ask(server, "/health/live")).toMatchObject({ status: 200, body: '{"live":true}\n' });
    await readinessWhen(server, ({ notReady }) => notReady.some(({ part }) => part === "index"));
    const { ready, state } = await readinessWhen(server, ({ notReady }) => notReady.length === 0);
    expect({ ready, state }).toEqual({ ready: true, state: "ready" });
  });

  it("stays ready, and says degraded, if the backend of one of its mounts is gone", async () => {
    const upstream = await serve(`mounts: { ${files} }\n`);
    upstream.child.kill("SIGKILL");
    await upstream.exited;
    const url = `http://127.0.0.1:${upstream.port}/mcp`;
    const server = await serve(`mounts: { ${files}, other: { source: mcp, url: "${url}" } }\n`);
    const seen = await readinessWhen(server, ({ state }) => state === "degraded");
    expect(seen.ready).toBe(true);
    const [mount] = seen.notReady.filter(({ part, state }) => part === "mount" && state !== "checking");
    expect(mount).toMatchObject({ name: "other", state: "failing" });
    expect(mount!.problem).toBeTruthy();
    expect((await ask(server, "/health/ready")).status).toBe(200);
  });

  it("stays ready, and names the mount, if a mount is left out", async () => {
    const server = await serve(
      `mounts: { ${files}, gone: { source: file, root: nowhere }, maybe: { source: file, root: nothing, optional: true } }\n`,
    );
    const { ready, notReady } = await readinessWhen(server, ({ state }) => state === "degraded");
    expect(ready).toBe(true);
    expect(notReady.filter(({ state }) => state === "left out").map(({ name }) => name)).toEqual(["gone"]);
  });

  it("answers at once while a backend hangs, and does not ask the backend for each check", async () => {
    const backend = await startHanging();
    try {
      const server = await serve(
        `mounts: { ${files}, slow: { source: metrics, url: "http://127.0.0.1:${backend.port}", search: false } }\n`,
      );
      for (let count = 0; count < 50; count++) expect((await ask(server, "/health/ready")).status).toBe(200);
      // Some are for what the server tells models.
      expect(backend.held.size).toBeLessThan(10);
      const { notReady } = await readinessWhen(server, () => backend.held.size > 0);
      expect(notReady).toContainEqual({ part: "mount", name: "slow", state: "checking" });
    } finally {
      await backend.close();
    }
  });

  it("is ready while the index is still being built", async () => {
    const backend = await startHanging();
    try {
      const server = await serve(
        `mounts: { ${files}, slow: { source: mcp, url: "http://127.0.0.1:${backend.port}/mcp" } }\n`,
      );
      const seen = await readinessWhen(server, ({ notReady }) =>
        notReady.some(({ part, state }) => part === "index" && state === "indexing"),
      );
      expect(seen.ready).toBe(true);
    } finally {
      await backend.close();
    }
  });

  it("is not ready from the moment it is told to stop, and still live", async () => {
    const server = await serve(`mounts: { ${files} }\n`);
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of agents) expect((await ask(server, "/health/ready", { agent })).status).toBe(200);
    // A request whose body has not arrived keeps the server from closing its connections.
    const unfinished = connect({ port: server.port, host: "127.0.0.1" });
    unfinished.on("error", () => undefined);
    const head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    await new Promise((sent) => unfinished.write(head, sent));
    expect((await ask(server, "/health/live", { agent: agents[3]! })).status).toBe(200);
    server.child.kill("SIGTERM");
    await portIsClosed(server.port);
    const ready = await ask(server, "/health/ready", { agent: agents[0]! });
    expect(ready).toMatchObject({ status: 503, headers: { connection: "close" } });
    expect(JSON.parse(ready.body)).toMatchObject({
      ready: false,
      state: "not ready",
      notReady: expect.arrayContaining([{ part: "server", state: "shutting down" }]) as unknown,
    });
    expect((await ask(server, "/health/ready", { method: "HEAD", agent: agents[1]! })).status).toBe(503);
    expect((await ask(server, "/health/live", { agent: agents[2]! })).status).toBe(200);
    unfinished.destroy();
    expect(await server.exited).toBe(0);
    for (const agent of agents) agent.destroy();
  });
});

describe("a health check", () => {
  const config = [
    `mounts: { ${files}, gone: { source: file, root: nowhere } }`,
    "callers: { aki: { groups: [support] } }",
    'rules: [{ allow: ["group:support"] }]',
    "",
  ].join("\n");

  it("tells everyone but the owner only whether the server is ready, whatever Host and Origin", async () => {
    const server = await serve(config, { PRESSMARK_TOKEN: token });
    const strangers: readonly Readonly<Record<string, string>>[] = [
      {},
      { Host: "10.1.2.3:7357" },
      { Host: "balancer.example" },
      { Origin: "https://evil.example" },
      { Authorization: "Bearer wrong" },
      // The owner's token does not help a page of another site, or a rebound name.
      { Authorization: `Bearer ${token}`, Origin: "https://evil.example" },
      { Authorization: `Bearer ${token}`, Host: "evil.example" },
    ];
    for (const headers of strangers) {
      expect([headers, await ask(server, "/health/ready", { headers })]).toMatchObject([
        headers,
        { status: 200, body: '{"ready":true}\n', headers: { "cache-control": "no-store" } },
      ]);
      expect((await ask(server, "/health/live", { headers })).body).toBe('{"live":true}\n');
    }
    expect((await readinessWhen(server, () => true)).notReady).toContainEqual(
      expect.objectContaining({ name: "gone", state: "left out" }),
    );
    expect(server.errors).not.toContain("refused a request");
  });

  it("counts against no quota", async () => {
    const server = await serve(`mounts: { ${files} }\nquotas: { "caller:anonymous": { requestsPerMinute: 1 } }\n`);
    for (let count = 0; count < 20; count++) expect((await ask(server, "/health/ready")).status).toBe(200);
    expect((await ask(server, "/")).status).toBe(200);
    expect((await ask(server, "/")).status).toBe(429);
    expect((await ask(server, "/health/ready")).status).toBe(200);
  });

  it("takes GET and HEAD", async () => {
    const server = await serve(`mounts: { ${files} }\n`);
    for (const path of ["/health/live", "/health/ready"]) {
      const { body: _body, ...head } = await ask(server, path, { method: "HEAD" });
      expect(head).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
      expect(_body).toBe("");
      expect(await ask(server, path, { method: "POST" })).toMatchObject({
        status: 405,
        headers: { allow: "GET, HEAD" },
      });
    }
    expect((await ask(server, "/health")).status).toBe(404);
  });
});

/** A backend that accepts connections and never answers. */
async function startHanging() {
  const held = new Set<Socket>();
  const server = createServer((socket) => void held.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    held,
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of held) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
