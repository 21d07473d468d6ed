import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpServer, startHttp } from "../../server/start-http.ts";
import { createStand, type Stand } from "../test-command.ts";

const token = "0123456789abcdef0123456789abcdef";
let stand: Stand;
let servers: HttpServer[];

beforeEach(() => {
  stand = createStand();
  servers = [];
  stand.write("a.md", "A");
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  stand.remove();
});

async function start(env: Record<string, string> = {}): Promise<HttpServer> {
  const state = join(stand.folder, `.state-${servers.length}`);
  const server = await startHttp({
    folders: [stand.folder],
    from: stand.folder,
    env: { XDG_STATE_HOME: state, XDG_CACHE_HOME: state, HOME: stand.folder, ...env },
    err: { write: () => true },
    allowedHosts: [],
    version: "1.2.3",
    port: 0,
  });
  servers.push(server);
  return server;
}

/** Asks for the list in a session. */
async function use({ url }: HttpServer): Promise<void> {
  const post = (body: object, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
    });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const opened = await post({ method: "initialize", params });
  await opened.text();
  const session = { "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "" };
  await (await post({ id: 2, method: "resources/list" }, session)).text();
}

describe("top --once", () => {
  it("prints the figures of a server since its start, by method and by source", async () => {
    const server = await start();
    await use(server);
    const { code, out, err } = await stand.run(["top", server.url, "--once"]);
    expect([code, err]).toEqual([0, ""]);
    const lines = out.split("\n");
    expect(lines[0]).toMatch(/^instance +req\/s +err\/s +p50 +p95 +listens +index +bus +leases +cpu +memory +up$/);
    expect(lines[1]).toMatch(/^127\.0\.0\.1:\d+ +\d.* MB +\d+ s$/);
    expect(out).toMatch(/\nmethod +req\/s +err\/s +p95\n/);
    expect(out).toMatch(/\nresources\/list +\d/);
    expect(out).toMatch(/\nfile +\d/);
  });

  it("prints one line for each of several servers, and why one has no figures", async () => {
    const [one, two] = [await start(), await start()];
    const { port } = new URL(two.url);
    await two.close();
    servers.pop();
    const { code, out } = await stand.run(["top", one.url, `127.0.0.1:${port}`, "--once"]);
    expect(code).toBe(1);
    expect(out.trimEnd().split("\n")).toHaveLength(3);
    expect(out).toMatch(new RegExp(`\n127\\.0\\.0\\.1:${port} +does not answer; is it running\\?\n`));
  });

  it("prints JSON for scripts", async () => {
    const server = await start();
    await use(server);
    const { out } = await stand.run(["top", new URL("/", server.url).href, "--once", "--json"]);
    const figures = JSON.parse(out) as Record<string, unknown>;
    expect(figures).toMatchObject({
      url: new URL("/", server.url).href.slice(0, -1),
      version: "1.2.3",
      errorsPerSecond: 0,
      sessions: 1,
      listens: 0,
      sources: expect.arrayContaining([expect.objectContaining({ name: "file" })]),
    });
    expect(figures).not.toHaveProperty("bus");
    expect(Object.keys(figures)).toEqual(expect.arrayContaining(["p50Ms", "p95Ms", "memoryBytes", "cpu", "index"]));
  });

  it("sends a token only if one is named, and never prints it", async () => {
    const server = await start({ PRESSMARK_TOKEN: token });
    const without = await stand.run(["top", server.url, "--once"], { env: { PRESSMARK_TOKEN: token } });
    expect(without.code).toBe(1);
    expect(without.out).toContain("pass the token of one with --token-file");
    writeFileSync(join(stand.folder, "token"), token);
    const given = await stand.run(["top", server.url, "--once", "--token-file", "token"]);
    expect([given.code, given.out.includes(token)]).toEqual([0, false]);
    expect((await stand.run(["top", "http://me:secret@127.0.0.1/", "--once"])).err).not.toContain("secret");
    expect((await stand.run(["top", "ftp://a.example", "--once"])).code).toBe(2);
  });
});

describe("top", () => {
  it("refreshes the screen in place until it is stopped, and then restores it", async () => {
    const server = await start();
    const stop = new AbortController();
    let screens = 0;
    const { code, out } = await stand.run(["top", server.url, "--interval", "1"], {
      terminal: true,
      columns: 60,
      signal: stop.signal,
      heard(text) {
        screens += text.split("\u001b[H").length - 1;
        if (screens >= 2) stop.abort();
      },
    });
    expect(code).toBe(0);
    expect(out.startsWith("\u001b[?1049h\u001b[?25l\u001b[H")).toBe(true);
    expect(out.endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
    // oxlint-disable-next-line no-control-regex -- the sequences of a terminal
    const lines = out.replaceAll(/\u001b\[[?\d]*[a-zA-Z]/g, "").split("\n");
    expect(lines.every((line) => line.length <= 60)).toBe(true);
  });
});
