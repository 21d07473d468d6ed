/** Six gateways and servers showed hidden resources, each in another way. Each way is tried here, over HTTP, on real backends. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor, type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { createTokenStore } from "./token-store.ts";

/** Part of every hidden name and text. */
const canary = "canary";

let root: string;
let postgres: PostgresServer;
let upstream: HttpServer;
let server: HttpServer;
const tokens = { aki: "", sato: "" };

async function serve(folder: string, config: string, prepare: (file: string) => Promise<void> = async () => undefined) {
  const file = join(root, folder, "pressmark.yaml");
  writeFileSync(file, config);
  await prepare(file);
  return startHttp({
    folders: [],
    config: file,
    from: join(root, folder),
    env: { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") },
    err: { write: () => true },
    allowedHosts: [],
    version: "1",
    port: 0,
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const flavour = "npm";

describe.skipIf(missingFor(flavour))(`what a caller may not see (${missingFor(flavour) ?? "PostgreSQL runs"})`, () => {
  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-leaks-")));
    write("team/files/plan.md", "# Plan\nkettle\n");
    write(`team/files/secrets/${canary}.md`, `# ${canary}\nkettle\n`);
    const { DatabaseSync } = await import("node:sqlite");
    new DatabaseSync(join(root, "team", `${canary}.db`)).exec(`CREATE TABLE ${canary}_table (id int)`);
    write("far/files/far-plan.md", "kettle\n");
    write(`far/files/secrets/${canary}-far.md`, `${canary} kettle\n`);
    postgres = await startPostgres(flavour);
    await postgres.run(
      "postgres",
      `CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE ${canary}_payroll (id int PRIMARY KEY, ${canary}_wage int)`,
    );
    upstream = await serve("far", "mounts: { shared: { source: file, root: files } }\n");
    server = await serve(
      "team",
      `mounts:
  files: { source: file, root: files }
  shop: { source: postgres, url: "${postgres.url("postgres")}" }
  far: { source: mcp, url: "${upstream.url}" }
  ${canary}mount: { source: sqlite, path: ${canary}.db }
callers: { aki: {}, sato: { owner: true } }
rules:
  - { allow: [anyone] }
  - { deny: ["caller:aki"], files: [files/secrets] }
  - { deny: ["caller:aki"], mounts: [shop], paths: ["public/${canary}_payroll"] }
  - { deny: ["caller:aki"], mounts: [far], paths: ["**/secrets", "**/*secrets*"] }
  - { deny: ["caller:aki"], mounts: [${canary}mount] }
server: { tools: [search_resources, list_resources, read_resource, gather_context] }
`,
      async (file) => {
        const store = createTokenStore(join(root, "state", "pressmark"), file);
        for (const name of ["aki", "sato"] as const) tokens[name] = (await store.create(name, Date.now())).token;
      },
    );
  }, 60_000);

  afterAll(async () => {
    await server?.close();
    await upstream?.close();
    await postgres?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it("is not shown from a list that another caller requested before", async () => {
    const whole = await listAll("sato");
    expect(whole).toContain(canary);
    const own = await listAll("aki");
    expect(own).toContain("plan.md");
    expect(own).not.toContain(canary);
    expect(await listAll("sato")).toBe(whole);
    // No cache between here and the caller may share it.
    expect(own).not.toMatch(/"cacheScope":"public"/);
  });

  it("has no templates, and none of its names completes them", async () => {
    const templates = await ask("aki", "resources/templates/list");
    expect(templates).not.toContain(canary);
    expect(await ask("sato", "resources/templates/list")).toContain(canary);
    for (const uri of templatesIn(await ask("sato", "resources/templates/list")))
      for (const name of namesIn(uri))
        for (const value of ["", "c", canary])
          expect(await complete("aki", uri, name, value), `${uri} ${name} ${value}`).not.toContain(canary);
    expect(
      await complete(
        "sato",
        templatesIn(templates).find((uri) => uri.includes("{schema}/{table}"))!,
        "table",
        "c",
      ),
    ).toContain(canary);
  });

  it("is hidden in the resources of another server, not only in its own", async () => {
    const farUris = urisIn(await listAll("sato")).filter((uri) => uri.includes(`${canary}-far`));
    expect(farUris).toHaveLength(1);
    expect(await ask("sato", "resources/read", { uri: farUris[0] })).toContain("kettle");
    expect(await ask("aki", "resources/read", { uri: farUris[0] })).not.toContain("kettle");
  });

  it("is not read from a cache that another caller filled", async () => {
    const hidden = urisIn(await listAll("sato")).filter((uri) => uri.includes(canary));
    expect(hidden.length).toBeGreaterThan(3);
    for (const uri of hidden) {
      const missing = uri.replaceAll(canary, "nothing");
      for (let time = 0; time < 2; time += 1) {
        expect(await ask("sato", "resources/read", { uri })).toContain('"result"');
        // Apart from the URI that was sent, it answers as for something that does not exist.
        const [ours, theirs] = [
          await ask("aki", "resources/read", { uri }),
          await ask("aki", "resources/read", { uri: missing }),
        ];
        expect(ours.replaceAll(uri, missing)).toBe(theirs);
      }
    }
  });

  it("does not show in the metadata of a database", async () => {
    const shop = urisIn(await listAll("sato")).find((uri) => uri.endsWith("/public/overview"))!;
    expect(await ask("sato", "resources/read", { uri: shop })).toContain(canary);
    for (const uri of [
      shop,
      `${shop}?format=json`,
      shop.replace("/overview", ""),
      shop.replace("/public/overview", ""),
    ])
      expect(await ask("aki", "resources/read", { uri })).not.toContain(canary);
    const short = shop.replace("public/overview", `${canary}_payroll/schema`);
    expect(await ask("sato", "resources/read", { uri: short })).toContain("wage");
    expect(await ask("aki", "resources/read", { uri: short })).not.toContain("wage");
    expect(await ask("aki", "resources/read", { uri: shop.replace("overview", "orders/schema") })).toContain("orders");
  });

  it("is listed at no other endpoint of the server, and by no tool", async () => {
    for (const path of ["/", "/metrics", "/status", "/api/resources", "/resources", "/.well-known/mcp", "/sse"]) {
      const abort = new AbortController();
      const response = await fetch(new URL(path, server.url), {
        headers: { Authorization: `Bearer ${tokens.aki}`, Accept: "text/html" },
        signal: abort.signal,
      });
      if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream"))
        expect(await response.text(), path).not.toContain(canary);
      abort.abort();
    }
    const calls = [
      ["list_resources", { limit: 500 }],
      ["search_resources", { query: "kettle" }],
      ["search_resources", { query: canary }],
      ["gather_context", { task: `kettle ${canary}` }],
    ] as const;
    for (const [name, args] of calls) {
      const answer = await ask("aki", "tools/call", { name, arguments: args });
      expect(answer.replaceAll(`${args && "task" in args ? args.task : canary}`, ""), name).not.toContain(canary);
    }
    expect(await ask("aki", "tools/list")).not.toContain(canary);
    expect(await ask("aki", "server/discover")).not.toContain(canary);
    expect(await ask("aki", "resources/read", { uri: "pressmark://status" })).not.toContain(canary);
  });
});

async function complete(who: keyof typeof tokens, uri: string, name: string, value: string): Promise<string> {
  const answer = await ask(who, "completion/complete", {
    ref: { type: "ref/resource", uri },
    argument: { name, value },
  });
  // An error names the template that was sent.
  return answer.replaceAll(uri, "");
}

async function ask(who: keyof typeof tokens, method: string, params: Record<string, unknown> = {}): Promise<string> {
  const name = params["uri"] ?? params["name"];
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${tokens[who]}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" && { "Mcp-Name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  return response.text();
}

async function listAll(who: keyof typeof tokens): Promise<string> {
  let all = "";
  for (let cursor: string | undefined; ;) {
    const page = await ask(who, "resources/list", cursor === undefined ? {} : { cursor });
    all += page.replace(/"nextCursor":"[^"]*"/, "");
    cursor = /"nextCursor":"([^"]*)"/.exec(page)?.[1];
    if (cursor === undefined) return all;
  }
}

function urisIn(list: string): string[] {
  return [...list.matchAll(/"uri":"([^"]*)"/g)].map(([, uri]) => uri!);
}

function templatesIn(list: string): string[] {
  return [...list.matchAll(/"uriTemplate":"([^"]*)"/g)].map(([, uri]) => uri!);
}

function namesIn(template: string): string[] {
  return [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, names]) => names!.split(","));
}
