import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type ConnectOptions, type RemoteServer } from "../client/connect.ts";
import type { Call } from "../resources.ts";
import { type HttpServer, type HttpServerOptions, startHttp } from "./start-http.ts";

const statusUri = "pressmark://status";
const token = "0123456789abcdef0123456789abcdef";
let root: string;
let stop: AbortController;
let call: Call;
let open: { close(): Promise<void> }[];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-status-")));
  mkdirSync(join(root, "shelf"));
  writeFileSync(join(root, "shelf/a.md"), "# A\n");
  stop = new AbortController();
  call = { caller: { id: "test" }, signal: stop.signal };
  open = [];
});

afterEach(async () => {
  stop.abort();
  for (const each of open.toReversed()) await each.close();
  rmSync(root, { recursive: true, force: true });
});

async function serve(more: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const env = { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: root, ...more.env };
  const err = { write: () => true };
  const server = await startHttp({
    folders: [],
    from: join(root, "shelf"),
    err,
    allowedHosts: [],
    version: "1.2.3",
    port: 0,
    ...more,
    env,
  });
  open.push(server);
  return server;
}

async function visit(server: HttpServer, options: ConnectOptions = {}): Promise<RemoteServer> {
  const pressmark = await connect(server.url, options);
  open.push(pressmark);
  return pressmark;
}

interface Status {
  readonly version: string;
  readonly url: string;
  readonly mounts: readonly { name: string; uri: string; folder?: string; state: string; problem?: string }[];
  readonly index: { state: string };
  readonly clients: readonly { name: string; version: string; era: string; connections: number; since: string }[];
  readonly reads: readonly { uri: string; client: string; times: number; at: string }[];
  readonly hosts: readonly { host: string; text: string }[];
}

async function statusOf(pressmark: RemoteServer): Promise<Status> {
  const [content] = (await pressmark.read(statusUri, call)).contents;
  return JSON.parse(content && "text" in content.body ? content.body.text : "{}") as Status;
}

describe("pressmark://status", () => {
  it("shows the owner mounts, clients, reads, and settings for hosts", async () => {
    const server = await serve();
    const modern = await visit(server, { client: { name: "newcomer", version: "2" } });
    const legacy = await visit(server, { era: "legacy", client: { name: "old-timer", version: "1" } });
    const uri = pathToFileURL(join(root, "shelf/a.md")).href;
    await modern.read(uri, call);
    await modern.read(uri, call);
    await modern.useTool("read_resource", { uri }, call);
    await legacy.read(uri, call);
    await expect(legacy.read(`${uri}x`, call)).rejects.toMatchObject({ kind: "not-found" });
    const status = await statusOf(modern);
    expect(status).toMatchObject({ version: "1.2.3", url: server.url });
    expect(status.mounts).toMatchObject([
      { name: "shelf", uri: pathToFileURL(join(root, "shelf")).href, folder: join(root, "shelf") },
    ]);
    expect(status.reads).toMatchObject([
      { uri, client: "old-timer", times: 1 },
      { uri, client: "newcomer", times: 3 },
    ]);
    expect(status.clients.find(({ name }) => name === "old-timer")).toMatchObject({ era: "legacy", connections: 1 });
    expect(status.clients.find(({ name }) => name === "newcomer")).toMatchObject({ version: "2", era: "modern" });
    expect(status.hosts.map(({ host }) => host)).toContain("VS Code");
    expect(status.hosts[0]?.text).toContain(server.url);
  });

  it("gives hosts a stdio server without tools if this one has none", async () => {
    const { hosts } = await statusOf(await visit(await serve({ tools: false })));
    expect(JSON.stringify(hosts)).toContain("--no-tools");
    expect(JSON.stringify((await statusOf(await visit(await serve()))).hosts)).not.toContain("--no-tools");
  });

  it("changes when a mount has been looked at, when something is read, and when a client comes or goes", async () => {
    const pressmark = await visit(await serve());
    const watch = await pressmark.watch({ uris: [statusUri] }, call);
    expect(watch.uris).toEqual([statusUri]);
    const changes = watch[Symbol.asyncIterator]();
    async function until(holds: (status: Status) => boolean): Promise<void> {
      while (!holds(await statusOf(pressmark))) await changes.next();
    }
    await until(({ mounts }) => mounts[0]?.state === "ok");
    const other = await connect((open[0] as HttpServer).url, {
      era: "legacy",
      client: { name: "guest", version: "1" },
    });
    await until(({ clients }) => clients.some(({ name, connections }) => name === "guest" && connections === 1));
    const uri = pathToFileURL(join(root, "shelf/a.md")).href;
    await other.read(uri, call);
    await until(({ reads }) => reads[0]?.uri === uri);
    await other.close();
    await until(({ clients }) => !clients.some(({ name, connections }) => name === "guest" && connections > 0));
  });

  it("shows why a mount does not respond", async () => {
    const config = `mounts: { web: { source: mcp, url: "http://127.0.0.1:1/mcp" }, shelf: { source: file, root: shelf } }\n`;
    writeFileSync(join(root, "team.yaml"), config);
    const pressmark = await visit(await serve({ from: root, config: "team.yaml" }));
    const changes = (await pressmark.watch({ uris: [statusUri] }, call))[Symbol.asyncIterator]();
    let { mounts } = await statusOf(pressmark);
    while (mounts.some(({ state }) => state === "checking")) {
      await changes.next();
      ({ mounts } = await statusOf(pressmark));
    }
    expect(mounts).toMatchObject([
      { name: "web", state: "failing", problem: expect.any(String) as string },
      { name: "shelf", state: "ok" },
    ]);
  });

  it("does not exist for anyone but the owner, through any entry point", async () => {
    const strangers = await serve({ allowedHosts: ["files.example"] });
    const pressmark = await visit(strangers);
    const nothing = `${statusUri}-that-is-not`;
    const refusal = async (uri: string) =>
      String(await pressmark.read(uri, call).catch((cause: unknown) => cause)).replaceAll(uri, "URI");
    expect(await refusal(statusUri)).toBe(await refusal(nothing));
    await expect(pressmark.stat(statusUri, call)).rejects.toMatchObject({ kind: "not-found" });
    expect((await pressmark.children("pressmark://", {}, call)).items.map(({ uri }) => uri)).toEqual([
      "pressmark://index",
    ]);
    expect((await pressmark.watch({ uris: [statusUri, nothing] }, call)).uris).toEqual([]);
    expect((await pressmark.list({}, call)).items.filter(({ uri }) => uri.startsWith("pressmark:"))).toEqual([]);
    expect((await pressmark.read("pressmark://index/status", call)).contents).toHaveLength(1);
  });

  it("requires the token, if there is one, and never shows it", async () => {
    const server = await serve({ env: { PRESSMARK_TOKEN: token }, allowedHosts: ["files.example"] });
    const pressmark = await visit(server, { headers: { Authorization: `Bearer ${token}` } });
    const status = await statusOf(pressmark);
    expect(JSON.stringify(status)).not.toContain(token);
    expect(JSON.stringify(status.hosts)).toContain("${PRESSMARK_TOKEN}");
    expect((await pressmark.children("pressmark://", {}, call)).items.map(({ uri }) => uri)).toEqual([
      "pressmark://index",
      statusUri,
      "pressmark://activity",
    ]);
  });
});
