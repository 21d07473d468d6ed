/** What a page of another site can make a browser send: every path refuses it, and no answer is kept or taken for another type. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, ask, dial, head, initialize, modernBody, modernHeaders, rawPost, send } from "./attacker.ts";
import { open } from "./test-server.ts";
import { type Program, startProgram } from "./program.ts";

const token = "a-token-of-32-characters-for-test";
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

let program: Program;
let guarded: Program;
beforeAll(async () => {
  [program, guarded] = await Promise.all([startProgram(), startProgram({ env: { PRESSMARK_TOKEN: token } })]);
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
});

/** The head of the answer alone: some of these answers are streams and do not end. */
async function headOf(target: Program, method: string, path: string, lines: readonly string[] = [], body = "") {
  const line = await dial(
    target,
    head(
      `${method} ${path} HTTP/1.1`,
      "Host: localhost",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...lines,
    ) + body,
  );
  const text = await line.until("\r\n\r\n");
  line.hangUp();
  const [status = "", ...said] = text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n");
  const headers = new Map(said.map((header) => [header.slice(0, header.indexOf(":")).toLowerCase(), header]));
  return { status: Number(status.split(" ")[1]), headers, text };
}

/** Every path that answers, with the methods it knows. */
const routes = [
  ["GET", "/"],
  ["HEAD", "/"],
  ["GET", "/picker/style.css"],
  ["GET", "/mcp"],
  ["POST", "/mcp"],
  ["DELETE", "/mcp"],
  ["GET", "/sse"],
  ["POST", "/messages?sessionId=x"],
  ["GET", "/metrics"],
  ["HEAD", "/metrics"],
  ["POST", "/actions/served/none"],
  ["POST", "/none"],
  ["GET", "/nowhere"],
  ["OPTIONS", "/mcp"],
  ["PUT", "/mcp"],
] as const;

describe("a page of another site", () => {
  for (const site of ["cross-site", "same-site", "Cross-Site", "same-origin, cross-site", ""])
    it.each(routes)(`gets 403 for %s %s with Sec-Fetch-Site: ${site || "(empty)"}`, async (method, path) => {
      for (const target of [program, guarded]) {
        const lines = [`Sec-Fetch-Site: ${site}`, `Authorization: Bearer ${token}`];
        const { status, text } = await headOf(target, method, path, lines, method === "POST" ? ping : "");
        expect(status, text).toBe(403);
      }
    });

  it("opened no session and no stream by what it sent", async () => {
    const { text } = await send(program, { method: "GET", path: "/metrics" });
    expect(text).toMatch(/^pressmark_sessions 0$/m);
    expect(text).toMatch(/^pressmark_streams 0$/m);
  });

  const navigation = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];

  it("may link to the picker, which shows the linking page nothing", async () => {
    const { status, headers } = await headOf(program, "GET", "/", navigation);
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("cross-origin-opener-policy")).toContain("same-origin");
  });

  it.each(["/metrics", "/sse", "/mcp", "/picker/style.css", "/nowhere"])(
    "may not send a visitor to %s",
    async (path) => {
      expect((await headOf(program, "GET", path, navigation)).status).toBe(403);
    },
  );

  it.each(["iframe", "embed", "object", "image", "script", "empty"])(
    "may not load the picker as %s",
    async (destination) => {
      const lines = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", `Sec-Fetch-Dest: ${destination}`];
      expect((await headOf(program, "GET", "/", lines)).status).toBe(403);
    },
  );

  it("is served when its origin is one that may ask, as that of a local page", async () => {
    const lines = ["Origin: http://localhost:5173", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"];
    expect((await headOf(program, "GET", "/metrics", lines)).status).toBe(200);
    expect((await headOf(program, "OPTIONS", "/mcp", lines)).status).toBe(204);
  });

  it("is not confused with our own page, a typed address or a program", async () => {
    for (const lines of [["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"], []])
      expect((await headOf(program, "GET", "/metrics", lines)).status).toBe(200);
  });
});

describe("an answer", () => {
  it("of any status says that it is not to be kept, nor taken for another type", async () => {
    const session = await initialize(program);
    const inSession = { "Mcp-Session-Id": session };
    const uri = program.base + open.name;
    const seen = new Set<number>();
    const each: Parameters<typeof send>[1][] = [
      { headers: modernHeaders("ping"), body: JSON.stringify(modernBody("ping", {})) },
      { headers: modernHeaders("resources/read", uri), body: JSON.stringify(modernBody("resources/read", { uri })) },
      { headers: modernHeaders("resources/read", "x:y"), body: JSON.stringify(modernBody("resources/read", {})) },
      { headers: modernHeaders("tools/list"), body: JSON.stringify(modernBody("none", {})) },
      { headers: inSession, body: ping },
      { headers: inSession, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) },
      { headers: { ...inSession, Accept: "text/event-stream" }, body: ping },
      { headers: { "Mcp-Session-Id": "none" }, body: ping },
      { body: ping },
      { body: "{" },
      { body: "x".repeat(5 * 1024 * 1024) },
      { headers: { "Content-Type": "text/plain" }, body: ping },
      { headers: { Accept: "image/png" }, body: ping },
      { path: "/messages?sessionId=none", body: ping },
      { path: "/actions/served/none", body: "{}" },
      { path: "/actions/served/none", headers: { "Content-Type": "text/plain" }, body: "{}" },
      { path: "/none", body: "{}" },
      { path: `/mcp?${"x".repeat(3000)}`, body: ping },
      { headers: { Host: "evil.example" }, body: ping },
      { headers: { Origin: "https://evil.example" }, body: ping },
      { headers: { "Sec-Fetch-Site": "cross-site" }, body: ping },
      { method: "OPTIONS", headers: { Origin: "http://localhost:1" } },
      { method: "OPTIONS", path: "/metrics" },
      { method: "PUT" },
      { method: "GET" },
      { method: "GET", headers: { ...inSession, Accept: "application/json" } },
      { method: "GET", headers: { "MCP-Protocol-Version": "2026-07-28" } },
      { method: "POST", path: "/sse" },
      { method: "GET", path: "/messages" },
      { method: "GET", path: "/metrics" },
      { method: "HEAD", path: "/metrics" },
      { method: "POST", path: "/metrics" },
      { method: "GET", path: "/nowhere" },
      { method: "POST", path: "/" },
      { method: "GET", path: "/picker/nowhere.js" },
      { method: "DELETE", headers: { "Mcp-Session-Id": "none" } },
      { method: "DELETE", headers: inSession },
    ];
    for (const asked of each) {
      const answer = await send(program, asked);
      seen.add(answer.status);
      expectGuarded(answer, `${asked.method ?? "POST"} ${asked.path ?? "/mcp"} answered ${answer.status}`);
    }
    expect([...seen].sort((a, b) => a - b)).toEqual([200, 202, 204, 400, 403, 404, 405, 406, 413, 414, 415]);
  });

  it("to someone without the token says so as well", async () => {
    for (const [method, path] of routes) {
      if (method === "OPTIONS") continue;
      const { status, headers } = await headOf(guarded, method, path, [], method === "POST" ? ping : "");
      expect([method, path, status]).toEqual([method, path, 401]);
      expect(headers.get("x-content-type-options")).toMatch(/: nosniff$/);
      expect(headers.get("cache-control")).toMatch(/: no-store$/);
    }
    const code = /\?code=\S+/.exec(guarded.printed)?.[0] ?? "";
    const welcome = await send(guarded, { method: "GET", path: `/${code}` });
    expect(welcome.status).toBe(303);
    expectGuarded(welcome);
    const page = await send(guarded, { method: "GET", path: "/", headers: { Accept: "text/html" } });
    expect(page.status).toBe(401);
    expectGuarded(page);
  });

  it("that is a stream says so as well, in every era", async () => {
    const session = await initialize(program);
    const listen = JSON.stringify(
      modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }),
    );
    for (const asked of [
      rawPost("subscriptions/listen", listen),
      head("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream", `Mcp-Session-Id: ${session}`),
      head("GET /sse HTTP/1.1", "Host: localhost"),
    ]) {
      const line = await dial(program, asked);
      const said = await line.until("\r\n\r\n");
      line.hangUp();
      expect(said).toMatch(/^HTTP\/1.1 200 /);
      expect(said).toMatch(/^content-type: text\/event-stream\r$/im);
      expect(said).toMatch(/^x-content-type-options: nosniff\r$/im);
      expect(said).toMatch(/^cache-control: no-store, no-transform\r$/im);
    }
  });

  it("is never one that a shared cache may keep", async () => {
    const page = await send(program, { method: "GET", path: "/" });
    const parts = [...page.text.matchAll(/(?:src|href)="(\/picker\/[^"]+)"/g)].map(([, path]) => path!);
    expect(parts.length).toBeGreaterThan(0);
    for (const path of ["/", ...parts]) {
      const { status, headers } = await send(program, { method: "GET", path });
      expect(status).toBe(200);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["cache-control"]).not.toContain("public");
    }
    const { result } = await ask(program, "server/discover");
    expect(result?.["cacheScope"]).toBe("private");
  });
});

function expectGuarded({ headers }: Pick<Answer, "headers">, what?: string): void {
  expect(headers["x-content-type-options"], what).toBe("nosniff");
  expect(headers["cache-control"], what).toMatch(/^no-store(, no-transform)?$/);
  expect(headers["content-security-policy"], what).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
  expect(headers["referrer-policy"], what).toMatch(/^(?:no-referrer|same-origin)$/);
  expect(headers["cross-origin-opener-policy"], what).toBe("same-origin");
  expect(headers["cross-origin-resource-policy"], what).toBe("same-origin");
}
