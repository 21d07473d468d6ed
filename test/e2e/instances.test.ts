/** Two processes of `pressmark serve`, as on two machines, that share a real PostgreSQL. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createWireClient, type EventReader, type WireClient } from "../../src/transport/test-client.ts";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { missingFor, type PostgresServer, startPostgres } from "../live/postgres.ts";

const missing = missingFor("npm");
const ownerToken = "owner-token-0123456789abcdef";
const owner = { Authorization: `Bearer ${ownerToken}` };
const command = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");

let postgres: PostgresServer;
const scratches = Array.from({ length: 3 }, createScratch);
const [project, ...machines] = scratches as [Scratch, Scratch, Scratch];
type Scratch = ReturnType<typeof createScratch>;
const instances: (Served & { readonly client: WireClient })[] = [];

const uriOf = (name: string) => pathToFileURL(join(realpathSync(project.folder), "docs", name)).href;

/** A command on a machine of its own. */
async function run(...words: string[]): Promise<string> {
  const given = [command, ...words, "--config", join(project.folder, "team.yaml")];
  return (await promisify(execFile)(process.execPath, given, { cwd: project.folder, env: project.env })).stdout;
}

beforeAll(async () => {
  if (missing !== undefined) return;
  postgres = await startPostgres("npm");
  mkdirSync(join(project.folder, "docs"));
  for (const name of ["a", "b", "c", "d", "e"])
    writeFileSync(join(project.folder, "docs", `${name}.md`), `# ${name}\n`);
  const settings = {
    server: {
      state: `${postgres.url("postgres")}?schema=e2e`,
      token: ownerToken,
      audit: true,
      pageSize: 2,
      tools: ["save_set", "search_resources"],
    },
    callers: { aki: {}, monitoring: { owner: true } },
    mounts: { docs: { source: "file", root: "docs" } },
  };
  writeFileSync(join(project.folder, "team.yaml"), JSON.stringify(settings));
  for (const { env } of machines) {
    const served = await startServe(["--config", "team.yaml"], { cwd: project.folder, env });
    instances.push(Object.assign(served, { client: createWireClient(served.port) }));
  }
});

afterAll(async () => {
  for (const { child, exited, client } of instances) {
    client.close();
    child.kill("SIGTERM");
    await exited;
  }
  await postgres?.close();
  for (const scratch of scratches) scratch.remove();
});

/** A session of the owner that begins on one instance; every request says where it goes. */
async function begin(at: number, headers: Readonly<Record<string, string>> = owner) {
  const session = await instances[at]!.client.initialize("2025-11-25", headers);
  const named = { ...headers, "Mcp-Session-Id": session };
  return {
    async request<T>(to: number, method: string, params: object = {}): Promise<T> {
      const body = { jsonrpc: "2.0", id: 1, method, params };
      const answer = await instances[to]!.client.ask({ headers: named, body });
      const { result, error } = answer.json() as { result?: T; error?: { message: string } };
      if (result === undefined) throw new Error(`${answer.status} ${error?.message}`);
      return result;
    },
    listen: (to: number) => instances[to]!.client.listen({ method: "GET", headers: named }),
    end: (to: number) => instances[to]!.client.ask({ method: "DELETE", headers: named }),
  };
}

interface Listed {
  readonly resources: readonly { readonly uri: string }[];
  readonly nextCursor?: string;
}

async function statusOf(at: number, token: string): Promise<number> {
  const body = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };
  return (await instances[at]!.client.ask({ headers: { Authorization: `Bearer ${token}` }, body })).status;
}

/** Reads until this notification, which is the URI of a resource or a method. Returns all that were read. */
async function until(stream: EventReader, wanted: string): Promise<string[]> {
  const seen: string[] = [];
  for (;;) {
    const event = await stream.next();
    if (!event) throw new Error(`the stream ended; seen: ${seen.join(", ")}`);
    if (!event.data) continue;
    const { method, params } = JSON.parse(event.data) as { method: string; params?: { uri?: string } };
    seen.push(params?.uri ?? method);
    if (seen.at(-1) === wanted) return seen;
  }
}

/** Instances that recorded reads of URIs with this pattern. */
async function readers(pattern: string): Promise<Set<string>> {
  const lines = (await run("audit", "--uri", pattern, "--json")).trim().split("\n").filter(Boolean);
  return new Set(lines.map((line) => (JSON.parse(line) as { instance: string }).instance));
}

function askFigures({ port }: Served, token: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
}

async function figuresOf(instance: Served): Promise<string> {
  return (await askFigures(instance, ownerToken)).text();
}

/** What the owner sees at `/health/ready`, without what is not shared. */
async function sharedHealthOf({ port }: Served, token = ownerToken): Promise<readonly unknown[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { headers });
  const { notReady = [] } = (await response.json()) as { notReady?: readonly { part: string; state: string }[] };
  const parts = notReady.filter(({ part }) => part === "database" || part === "bus");
  return [response.status, ...parts.map(({ part, state }) => `${part} ${state}`)];
}

describe.skipIf(missing)("two instances with one database", () => {
  it("show the figures of what they share, as the pages and the alerts name them", async () => {
    const page = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
    const table = page.slice(page.indexOf("Servers that share their state"), page.indexOf("## On the terminal"));
    const named = Array.from(table.matchAll(/`(pressmark_\w+)`/g), ([, name]) => name!);
    expect(named.length).toBeGreaterThan(8);
    for (const instance of instances) {
      const text = await figuresOf(instance);
      // How large a shared index is, nobody measures.
      expect(text).not.toMatch(/^pressmark_index_bytes /m);
      expect(named.filter((name) => !text.includes(`\n${name}`))).toEqual([]);
      expect(text).toContain("\npressmark_database_up 1\n");
      await vi.waitFor(
        async () => expect(await figuresOf(instance)).toContain('\npressmark_bus_connected{engine="postgres"} 1\n'),
        { timeout: 20_000 },
      );
    }
  });

  it("accept a token that a third machine created, until it is revoked", async () => {
    const token = (await run("token", "create", "aki")).trim();
    for (const at of [0, 1]) await vi.waitUntil(async () => (await statusOf(at, token)) === 200, { timeout: 30_000 });
    expect(await run("token", "list")).toContain("aki");
    const session = await begin(0, { Authorization: `Bearer ${token}` });
    const stream = await session.listen(1);
    expect(await run("token", "revoke", "aki")).toContain("of aki");
    await stream.rest();
    // A request is cut off if the token ends while it is answered.
    const statusNow = (at: number) => statusOf(at, token).catch(() => undefined);
    for (const at of [0, 1]) await vi.waitUntil(async () => (await statusNow(at)) === 401, { timeout: 30_000 });
  });

  it("list a set that the other one saved", async () => {
    const { request } = await begin(0);
    await request(1, "tools/call", { name: "save_set", arguments: { name: "mine", uris: [uriOf("a.md")] } });
    for (const at of [0, 1])
      await vi.waitUntil(
        () =>
          request(at, "resources/read", { uri: "set://mine" }).then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      );
    expect(await run("set", "list")).toContain("mine");
    expect(await run("set", "add", "other", "docs/a.md")).toContain("the shared state");
    await vi.waitUntil(
      () =>
        request(0, "resources/read", { uri: "set://other" }).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    );
  });

  it("continue a list with a cursor of the other one", async () => {
    const { request } = await begin(0);
    const found: string[] = [];
    let cursor: string | undefined;
    let at = 0;
    do {
      const page: Listed = await request(at, "resources/list", { cursor });
      found.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      at = 1 - at;
    } while (cursor !== undefined);
    const files = found.filter((uri) => uri.endsWith(".md"));
    expect(files.map((uri) => uri.slice(-4))).toEqual(["a.md", "b.md", "c.md", "d.md", "e.md"]);
  });

  it("continue a session, with its subscriptions and stream", async () => {
    const session = await begin(0);
    const uri = uriOf("a.md");
    await session.request(1, "resources/subscribe", { uri });
    const stream = await session.listen(0);
    expect(await until(stream, uri)).toContain("notifications/resources/list_changed");
    writeFileSync(join(project.folder, "docs", "a.md"), "# changed\n");
    await until(stream, uri);
    expect((await session.end(1)).status).toBe(204);
    await stream.rest();
    await expect(session.request(0, "ping")).rejects.toThrow("404 this session has ended");
  });

  it("continue a subscription of a file that is missing while the stream moves", async () => {
    const session = await begin(0);
    const file = join(project.folder, "docs", "moved.md");
    writeFileSync(file, "# one\n");
    const [uri, last] = [uriOf("moved.md"), uriOf("a.md")];
    for (const each of [uri, last]) await session.request(0, "resources/subscribe", { uri: each });
    rmSync(file);
    const stream = await session.listen(1);
    await until(stream, last);
    for (const text of ["# two\n", "# three\n"]) {
      writeFileSync(file, text);
      await until(stream, uri);
    }
    rmSync(file);
    expect((await session.end(1)).status).toBe(204);
  });

  it("record what callers of both read in one log", async () => {
    const { request } = await begin(0);
    const uri = uriOf("b.md");
    for (const at of [0, 1]) await request(at, "resources/read", { uri });
    await vi.waitUntil(async () => (await readers("**/b.md")).size === 2, { timeout: 30_000 });
  });

  it("refuse stored tokens while the database is away, and serve the owner", async () => {
    const token = (await run("token", "create", "aki")).trim();
    const watching = (await run("token", "create", "monitoring")).trim();
    for (const at of [0, 1])
      for (const each of [token, watching])
        await vi.waitUntil(async () => (await statusOf(at, each)) === 200, { timeout: 30_000 });
    const session = await begin(0);
    const uri = uriOf("b.md");
    await session.request(0, "resources/subscribe", { uri });
    const stream = await session.listen(0);
    await postgres.stop("immediate");
    const modern = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/read",
      params: {
        uri: uriOf("b.md"),
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    };
    const version = {
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "resources/read",
      "Mcp-Name": modern.params.uri,
      Accept: "application/json, text/event-stream",
    };
    const read = (authorization: string) =>
      instances[0]!.client.ask({ headers: { ...version, Authorization: authorization }, body: modern });
    await vi.waitUntil(async () => (await read(`Bearer ${token}`)).status === 503, { timeout: 30_000 });
    expect((await read(`Bearer ${token}`)).headers["retry-after"]).toBe("5");
    const shown = await read(owner.Authorization);
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("# b")]);
    // What monitors the server must see that the database is away; it reads nothing else.
    const figures = await askFigures(instances[0]!, watching);
    expect([figures.status, await figures.text()]).toEqual([
      200,
      expect.stringContaining("\npressmark_database_up 0\n"),
    ]);
    expect((await read(`Bearer ${watching}`)).status).toBe(503);
    expect((await askFigures(instances[0]!, token)).status).toBe(503);
    expect((await askFigures(instances[0]!, `${watching}x`)).status).toBe(503);
    await vi.waitFor(
      async () => expect(await sharedHealthOf(instances[0]!)).toEqual([200, "database failing", "bus failing"]),
      { timeout: 30_000 },
    );
    expect(await sharedHealthOf(instances[0]!, watching)).toEqual([200, "database failing", "bus failing"]);
    expect(await sharedHealthOf(instances[0]!, token)).toEqual([200]);
    // A session that this instance holds goes on, with its subscriptions.
    await session.request(0, "ping");
    for (const method of ["resources/subscribe", "resources/unsubscribe"])
      await expect(session.request(0, method, { uri })).rejects.toThrow("the database of this server is away");
    const { contents } = await session.request<{ contents: readonly { text: string }[] }>(0, "resources/read", {
      uri: "pressmark://status",
    });
    for (const [name, args, said] of [
      ["save_set", { name: "late", uris: [uriOf("b.md")] }, /the database of this server is away; try again soon/],
      ["search_resources", { query: "b" }, /^Nothing could be searched for "b"\. "docs": the database of this server/],
    ] as const) {
      const answer = await session.request<{ content: readonly { text: string }[] }>(0, "tools/call", {
        name,
        arguments: args,
      });
      expect(answer.content[0]!.text).toMatch(said);
      expect(answer.content[0]!.text).not.toContain("server.state");
    }
    expect(JSON.parse(contents[0]!.text)).toMatchObject({
      shared: { database: { state: "failing" }, bus: { engine: "postgres", state: "failing" } },
    });
    await postgres.start();
    await vi.waitUntil(async () => (await read(`Bearer ${token}`)).status === 200, { timeout: 30_000 });
    await session.request(1, "ping");
    await until(stream, uri);
    await vi.waitFor(async () => expect(await sharedHealthOf(instances[0]!)).toEqual([200]), { timeout: 30_000 });
  });

  it("log no password", () => {
    for (const { errors } of instances) expect(errors).not.toContain(postgres.password);
  });
});
