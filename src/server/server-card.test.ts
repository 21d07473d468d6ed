import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditFolder, readAuditLog } from "./audit-log.ts";
import { cardNameOf } from "./server-card.ts";
import { type HttpServer, startHttp } from "./start-http.ts";

const token = "0123456789abcdef";
let root: string;
let server: HttpServer | undefined;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-card-")));
  mkdirSync(join(root, "payroll"));
  writeFileSync(join(root, "payroll/a.md"), "A");
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

async function serve(settings: string, more = ""): Promise<void> {
  const config = join(root, "team.yaml");
  writeFileSync(config, `mounts: { payroll: { source: file, root: payroll } }\nserver: { ${settings} }\n${more}`);
  const env = { XDG_STATE_HOME: join(root, "state"), HOME: root };
  const places = { folders: [], from: root, config, env, allowedHosts: [] };
  server = await startHttp({ ...places, port: 0, err: { write: () => true }, version: "1.2.3" });
}

function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return fetch(new URL(path, server!.url), { method, headers, redirect: "manual" });
}

/** `fetch` does not let a program choose its Host. */
function statusAs(host: string, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = request(new URL(path, server!.url), { headers: { Host: host } }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  sent.on("error", reject).end();
  return promise;
}

const card = "/mcp/server-card";
const catalog = "/.well-known/ai-catalog.json";

describe("a server with a public URL", () => {
  it("shows its card to everyone, and nothing about its mounts", async () => {
    await serve(`token: "${token}", publicUrl: "https://docs.example.com"`);
    const response = await get(card);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/mcp-server-card+json");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(await response.json()).toEqual({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "com.example.docs/pressmark",
      version: "1.2.3",
      title: "Pressmark",
      description: "Files, history, databases and other sources as MCP resources",
      remotes: [
        {
          type: "streamable-http",
          url: "https://docs.example.com/mcp",
          supportedProtocolVersions: [
            "2026-07-28",
            "2025-11-25",
            "2025-06-18",
            "2025-03-26",
            "2024-11-05",
            "2024-10-07",
          ],
        },
      ],
    });
    expect(server!.card).toBe("https://docs.example.com/mcp/server-card");
  });

  it("names the card in the catalog of the domain", async () => {
    await serve(`token: "${token}", publicUrl: "https://docs.example.com"`);
    const response = await get(catalog);
    expect(response.headers.get("content-type")).toBe("application/ai-catalog+json");
    expect(await response.json()).toEqual({
      specVersion: "1.0",
      entries: [
        {
          identifier: "urn:air:docs.example.com:mcp:pressmark",
          type: "application/mcp-server-card+json",
          url: "https://docs.example.com/mcp/server-card",
        },
      ],
    });
  });

  it("answers 304 to a client that has the card, and HEAD without a body", async () => {
    await serve(`publicUrl: "https://docs.example.com"`);
    const head = await get(card, {}, "HEAD");
    const tag = head.headers.get("etag")!;
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(await head.text()).toBe("");
    expect(Number(head.headers.get("content-length"))).toBe((await (await get(card)).text()).length);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const again = await get(card, { "If-None-Match": known });
      expect([again.status, again.headers.get("etag")]).toEqual([304, tag]);
    }
    expect((await get(card, { "If-None-Match": '"other"' })).status).toBe(200);
    expect((await get(card, {}, "POST")).status).toBe(405);
  });

  it("lets pages of any origin read these documents, and nothing else", async () => {
    await serve(`token: "${token}", publicUrl: "https://docs.example.com"`);
    const elsewhere = { Origin: "https://stranger.example", "Sec-Fetch-Site": "cross-site" };
    for (const path of [card, catalog]) {
      expect((await get(path, elsewhere)).status).toBe(200);
      const asked = await get(path, elsewhere, "OPTIONS");
      expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    }
    for (const path of ["/mcp", "/metrics", "/", `${card}/`, `${card}/more`, "/mcp/server-card.json"]) {
      expect((await get(path, elsewhere)).status, path).toBe(403);
      expect((await get(path)).status, path).toBe(401);
    }
    expect((await get("/.well-known/other.json")).status).toBe(404);
  });

  it("checks the host", async () => {
    await serve(`publicUrl: "https://docs.example.com"`);
    expect(await statusAs("docs.example.com", card)).toBe(200);
    expect(await statusAs("rebound.example", card)).toBe(403);
    expect(await statusAs("rebound.example", catalog)).toBe(403);
  });

  it("limits how often a machine may ask", async () => {
    await serve(`publicUrl: "https://docs.example.com"`, "quotas: { anyone: { requestsPerMinute: 2 } }\n");
    const statuses = [];
    for (let times = 0; times < 3; times += 1) statuses.push((await get(card)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("counts visitors apart from callers: neither metrics nor the audit log name them", async () => {
    const settings = `token: "${token}", audit: true, publicUrl: "https://docs.example.com"`;
    await serve(settings, "quotas: { anyone: { requestsPerMinute: 1 } }\n");
    await get(card);
    expect((await get(card)).status).toBe(429);
    const metrics = await (await get("/metrics", { Authorization: `Bearer ${token}` })).text();
    expect(metrics).toContain("pressmark_");
    expect(metrics).not.toContain("visitor");
    await server!.close();
    server = undefined;
    const recorded = readAuditLog(auditFolder(join(root, "state", "pressmark"), join(root, "team.yaml")));
    for await (const entry of recorded) expect(entry.what).not.toBe("quota");
  });
});

it("a server without a public URL has neither document", async () => {
  await serve(`token: "${token}"`);
  expect(server!.card).toBeUndefined();
  for (const [path, unknown] of [
    [card, "/mcp/other-path1"],
    [catalog, "/.well-known/ai-catalog.jso1"],
  ] as const) {
    const [found, other] = [await get(path), await get(unknown)];
    expect([found.status, (await found.text()).replace(path, "")]).toEqual([
      other.status,
      (await other.text()).replace(unknown, ""),
    ]);
    const signed = await get(path, { Authorization: `Bearer ${token}` });
    expect(signed.status).toBe(404);
  }
});

describe("the name of a card", () => {
  it.each([
    ["https://docs.example.com", "com.example.docs/pressmark"],
    ["https://example.com/team/docs", "com.example/pressmark-team-docs"],
    ["https://example.com:8443", "com.example/pressmark-8443"],
    ["http://localhost:7357", "localhost/pressmark-7357"],
    ["http://192.0.2.1", "192.0.2.1/pressmark"],
    ["http://[2001:db8::1]", "2001-db8--1/pressmark"],
    ["https://example.com/%E6%96%87", "com.example/pressmark--E6-96-87"],
  ])("of %s is %s", (publicUrl, name) => {
    expect(cardNameOf(new URL(publicUrl))).toBe(name);
    expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  });
});
