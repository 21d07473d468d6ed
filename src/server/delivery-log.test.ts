import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type ConnectOptions, type RemoteServer } from "../client/connect.ts";
import type { ClientInfo } from "../protocol/request-observer.ts";
import { createDeliveryLog, type Delivery } from "./delivery-log.ts";
import { type HttpServerOptions, startHttp } from "./start-http.ts";

const activityUri = "pressmark://activity";
const model: ClientInfo = { caller: { id: "local", owner: true }, name: "model", version: "1", revision: "2026-07-28" };
const picker: ClientInfo = { caller: { id: "local", owner: true }, name: "pressmark-picker", revision: "2026-07-28" };
// A made-up key, in two parts so that no scanner takes this file for a leak.
const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}`;
const found = { content: [{ type: "text" as const, text: "one two three\n" }], structuredContent: { results: [] } };

describe("the delivery log", () => {
  it("has the query, the hits and the receipt, and nothing of the contents", async () => {
    const log = createDeliveryLog({ now: () => 0 });
    log.gave(model, {
      tool: "search_resources",
      args: { query: "ink" },
      result: { ...found, structuredContent: { results: [{ uri: "m://a", lines: "3-4", snippet: "CONTENT" }] } },
    });
    log.gave(model, {
      tool: "gather_context",
      args: { task: "print" },
      result: {
        content: [{ type: "text", text: "CONTENT" }],
        structuredContent: {
          tokens: 12,
          included: [{ uri: "m://a", lines: "1-2", tokens: 12, why: ["was found"], digest: "x" }],
          leftOut: [{ uri: "m://b", why: "no room" }],
          moreLeftOut: 2,
        },
      },
    });
    log.gave(model, { uri: "m://a", contents: [{ uri: "m://a", body: { text: "CONTENT" } }] });
    log.gave(model, { tool: "list_resources", args: {}, result: found });
    log.gave(model, { uri: "pressmark://status", contents: [] });
    const deliveries = await log.deliveries();
    const client = { at: "1970-01-01T00:00:00.000Z", caller: "local", client: "model", version: "1" };
    expect(deliveries).toEqual([
      { id: 3, ...client, kind: "read", uri: "m://a", tokens: expect.any(Number) as number },
      {
        id: 2,
        ...client,
        kind: "gather",
        text: "print",
        tokens: 12,
        items: [{ uri: "m://a", lines: "1-2", tokens: 12, why: ["was found"] }],
        leftOut: 3,
      },
      {
        id: 1,
        ...client,
        kind: "search",
        text: "ink",
        tokens: expect.any(Number) as number,
        items: [{ uri: "m://a", lines: "3-4" }],
      },
    ]);
    expect(JSON.stringify(deliveries)).not.toContain("CONTENT");
  });

  it("masks secrets, also in the reasons that quote the task", async () => {
    const log = createDeliveryLog({ now: () => 0 });
    log.gave(model, {
      tool: "gather_context",
      args: { task: `why does ${secret} fail` },
      result: { content: [], structuredContent: { included: [{ uri: "m://a", why: [`contains "${secret}"`] }] } },
    });
    log.gave(model, { tool: "read_resource", args: { uri: `m://a?key=${secret}` }, result: found });
    // At the place where a long text is cut.
    log.gave(model, { tool: "search_resources", args: { query: `${"x ".repeat(1990)}${secret}` }, result: found });
    log.gave(
      { ...model, name: `client ${secret}`, version: secret },
      {
        tool: "search_resources",
        args: { query: "x" },
        result: { ...found, structuredContent: { results: [{ uri: `m://b?key=${secret}`, why: [secret] }] } },
      },
    );
    log.gave(model, { tool: "read_resource", args: { uri: "m://c", lines: "1-2" }, result: found });
    log.gave(model, { tool: "read_resource", args: { uri: "m://c", bytes: secret }, result: found });
    const deliveries = await log.deliveries();
    expect(deliveries.slice(0, 2).map(({ part }) => part)).toEqual([undefined, "1-2"]);
    const shown = JSON.stringify(deliveries);
    expect(shown).not.toContain(secret.slice(4, 16));
    expect(shown).toContain("why does");
    expect(shown).not.toContain("contains");
  });

  it("is bounded in number and size, and the picker does not displace models", async () => {
    const log = createDeliveryLog({ now: () => 0 });
    const search = (client: ClientInfo, query: string) =>
      log.gave(client, { tool: "search_resources", args: { query }, result: found });
    search(model, "first");
    for (let count = 0; count < 1000; count += 1) search(picker, `typed ${count}`);
    const deliveries = await log.deliveries();
    expect(deliveries).toHaveLength(51);
    expect(deliveries[0]?.text).toBe("typed 999");
    expect(deliveries.at(-1)?.text).toBe("first");
    for (let count = 0; count < 1000; count += 1) search(model, `${count} ${"x".repeat(20_000)}`);
    const many = await log.deliveries();
    expect(JSON.stringify(many).length).toBeLessThan(600 * 1024);
    expect(many[0]?.text).toMatch(/^999 /);
  });

  it("keeps what other callers did, however much one requests and whatever its client is called", async () => {
    const log = createDeliveryLog({ now: () => 0 });
    const search = (client: ClientInfo, query: string) =>
      log.gave(client, { tool: "search_resources", args: { query }, result: found });
    const hostile: ClientInfo = { ...picker, caller: { id: "guest" } };
    search(model, "first");
    search(hostile, "not hidden");
    expect((await log.deliveries())[0]).toMatchObject({ caller: "guest", client: "pressmark-picker" });
    expect((await log.deliveries())[0]).not.toHaveProperty("isPicker");
    for (let count = 0; count < 400; count += 1) search(hostile, `${count}`);
    const longUri = `m://${"a".repeat(4000)}`;
    const included = Array.from({ length: 60 }, () => ({
      uri: longUri,
      why: Array.from({ length: 6 }, () => longUri),
    }));
    for (let count = 0; count < 40; count += 1)
      log.gave(hostile, {
        tool: "gather_context",
        args: { task: "x".repeat(20_000) },
        result: { content: [], structuredContent: { included } },
      });
    const deliveries = await log.deliveries();
    expect(deliveries.map(({ text }) => text)).toContain("first");
    expect(deliveries.filter(({ kind }) => kind === "gather").length).toBeGreaterThan(10);
  });
});

describe("pressmark://activity", () => {
  let root: string;
  let open: { close(): Promise<void> }[];
  const call = { caller: { id: "test" }, signal: new AbortController().signal };

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-activity-")));
    mkdirSync(join(root, "files"));
    writeFileSync(join(root, "files/a.md"), "# Ink\n");
    open = [];
  });

  afterEach(async () => {
    for (const each of open.toReversed()) await each.close();
    rmSync(root, { recursive: true, force: true });
  });

  async function serve(more: Partial<HttpServerOptions> = {}): Promise<string> {
    const env = { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: root, ...more.env };
    const options = { folders: [], from: join(root, "files"), err: { write: () => true }, allowedHosts: [], port: 0 };
    const server = await startHttp({ ...options, version: "1", ...more, env });
    open.push(server);
    return server.url;
  }

  async function visit(url: string, options: ConnectOptions = {}): Promise<RemoteServer> {
    const remote = await connect(url, options);
    open.push(remote);
    return remote;
  }

  async function deliveriesOf(remote: RemoteServer): Promise<readonly Delivery[]> {
    const { contents } = await remote.read(activityUri, call);
    const [content] = contents;
    const text = content && "text" in content.body ? content.body.text : "";
    return (JSON.parse(text) as { readonly deliveries: readonly Delivery[] }).deliveries;
  }

  it("shows the owner what each client was given, live", async () => {
    const url = await serve();
    const owner = await visit(url);
    const watch = (await owner.watch({ uris: [activityUri] }, call))[Symbol.asyncIterator]();
    const guest = await visit(url, { client: { name: "guest", version: "7" }, era: "legacy" });
    const uri = pathToFileURL(join(root, "files/a.md")).href;
    await guest.useTool("read_resource", { uri }, call);
    expect(await watch.next()).toMatchObject({ value: { kind: "updated", uri: activityUri } });
    await guest.read(uri, call);
    await guest.useTool("gather_context", { task: "ink", include: [uri] }, call);
    expect(await deliveriesOf(owner)).toMatchObject([
      { kind: "gather", client: "guest", text: "ink", items: [{ uri, lines: "1-1" }] },
      { kind: "read", client: "guest", uri },
      { kind: "read", client: "guest", version: "7", uri },
    ]);
  });

  it("does not exist for anyone else, and nowhere if the config turns it off", async () => {
    const missing = await visit(await serve({ allowedHosts: ["press.example"] }));
    await expect(missing.read(activityUri, call)).rejects.toThrow("no resource");
    await expect(missing.stat(activityUri, call)).rejects.toThrow();
    expect((await missing.watch({ uris: [activityUri] }, call)).uris).toEqual([]);
    const { items } = await missing.children("pressmark://", {}, call);
    expect(items.map(({ uri }) => uri)).not.toContain(activityUri);

    writeFileSync(join(root, "files/pressmark.config.yaml"), "server: { activity: false }\n");
    const owner = await visit(await serve());
    await expect(owner.read(activityUri, call)).rejects.toThrow("no resource");
    await owner.read(pathToFileURL(join(root, "files/a.md")).href, call);
    const { contents } = await owner.read("pressmark://status", call);
    const [status] = contents;
    expect(JSON.parse(status && "text" in status.body ? status.body.text : "")).toMatchObject({ reads: [] });
  });
});
