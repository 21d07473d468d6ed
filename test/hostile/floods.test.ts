/** Very many of what one alone would be harmless: each is served, slowed or turned away with a word, and afterwards nothing is left of it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  askIn,
  dial,
  expectServed,
  head,
  initialize,
  type Line,
  modernBody,
  rawPost,
  type Rpc,
  send,
} from "./attacker.ts";
import { memoryBase, open, openTestServer } from "./test-server.ts";
import type { FromListeners } from "./listeners.ts";
import { type ServerProcess, megabyte, startServerProcess, stirredAt } from "./process.ts";

/** The same file, spelled in one of many ways. */
function spelled(base: string, number: number): string {
  const name = "shelf/page-10.txt";
  return (
    base +
    Array.from(name, (letter, at) =>
      letter !== "/" && (number >> at) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
    ).join("")
  );
}

/** Weighs again until it is light enough, for a bounded time: sockets close and finalizers run in their own time. */
async function weighUntil(
  pressmark: ServerProcess,
  light: (weight: Awaited<ReturnType<ServerProcess["weigh"]>>) => boolean,
) {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const weight = await pressmark.weigh();
    if (light(weight) || performance.now() > deadline) return weight;
  }
}

describe("a flood", () => {
  it("of 20,000 subscriptions in one session is slowed, and told so", async () => {
    await using pressmark = await openTestServer({ watchQuota: { burst: 2000, perSecond: 200, maxWaitMs: 1 } });
    const session = await initialize(pressmark, "2025-03-26");
    const codes = new Map<number | "ok", number>();
    for (let batch = 0; batch < 20; batch++) {
      const messages = Array.from({ length: 1000 }, (_, at) => {
        const params = { uri: spelled(pressmark.base, batch * 1000 + at) };
        return { jsonrpc: "2.0", id: at, method: "resources/subscribe", params };
      });
      const { text } = await send(pressmark, {
        headers: { "Mcp-Session-Id": session },
        body: JSON.stringify(messages),
      });
      for (const { error } of JSON.parse(text) as Rpc[]) {
        codes.set(error?.code ?? "ok", (codes.get(error?.code ?? "ok") ?? 0) + 1);
        if (error)
          expect(error).toMatchObject({
            message: /^too many watches started/,
            data: { reason: "busy", retryAfterMs: /\d/ },
          });
      }
      await expectServed(pressmark);
    }
    const [ok = 0, busy = 0] = [codes.get("ok"), codes.get(-32603)];
    expect(ok + busy).toBe(20_000);
    expect(ok).toBeGreaterThanOrEqual(2000);
    expect(busy).toBeGreaterThan(10_000);
    // What was taken is kept, and heard.
    const stream = await dial(
      pressmark,
      head("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream", `Mcp-Session-Id: ${session}`),
    );
    await stream.until("text/event-stream");
    await appendFile(join(pressmark.folder, "shelf", "page-10.txt"), "more\n");
    await stream.until(JSON.stringify(spelled(pressmark.base, 0)));
    stream.hangUp();
  });

  it("of 2,000 sessions takes no more room than a few, and keeps those that are in use", async () => {
    // Those that were opened and never used may go at once.
    await using pressmark = await openTestServer({ listen: { maxSessions: 100, unusedSessionMs: 0 } });
    const used = await initialize(pressmark);
    const stream = await dial(
      pressmark,
      head("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream", `Mcp-Session-Id: ${used}`),
    );
    await stream.until("text/event-stream");
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 100 }, () => initialize(pressmark)));
      expect(pressmark.listening.http.counts.sessions).toBeLessThanOrEqual(100);
    }
    expect((await askIn(pressmark, used, "ping")).result).toEqual({});
    await expectServed(pressmark);
    stream.hangUp();
  });

  it("of sessions that are all in use is turned away with a word", async () => {
    await using pressmark = await openTestServer({ listen: { maxSessions: 20 } });
    const lines: Line[] = [];
    for (let at = 0; at < 20; at++) {
      const session = await initialize(pressmark);
      const line = await dial(
        pressmark,
        head("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream", `Mcp-Session-Id: ${session}`),
      );
      await line.until("text/event-stream");
      lines.push(line);
    }
    const params = { protocolVersion: "2025-11-25", capabilities: {} };
    const { status, headers, text } = await send(pressmark, {
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
    });
    expect([status, headers["retry-after"]]).toEqual([503, "30"]);
    expect(text).toContain("too many sessions are open; try again later");
    await expectServed(pressmark);
    const sse = await Promise.all(
      Array.from({ length: 30 }, () => dial(pressmark, head("GET /sse HTTP/1.1", "Host: localhost"))),
    );
    const said = await Promise.all(sse.map((line) => line.until("\r\n\r\n")));
    expect(said.filter((answer) => answer.startsWith("HTTP/1.1 200 "))).toHaveLength(20);
    expect(said.filter((answer) => answer.startsWith("HTTP/1.1 503 "))).toHaveLength(10);
    for (const line of [...lines, ...sse]) line.hangUp();
  });

  it("of questions in one stream's session is turned away while its answers are not read", async () => {
    await using pressmark = await openTestServer();
    pressmark.memory.set("large.txt", "x".repeat(1024 * 1024));
    const stream = await dial(pressmark, head("GET /sse HTTP/1.1", "Host: localhost"));
    const path = /data: (\/messages\S+)/.exec(await stream.until(/data: \/messages\S+\n/))?.[1] ?? "";
    const say = (message: object) => send(pressmark, { path, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    await say({ id: 0, method: "initialize", params: { protocolVersion: "2024-11-05", capabilities: {} } });
    await stream.until('"protocolVersion"');
    stream.socket.pause();
    const codes = new Set<number>();
    for (let id = 1; id < 400 && !codes.has(503); id++)
      codes.add((await say({ id, method: "resources/read", params: { uri: `${memoryBase}large.txt` } })).status);
    expect(codes).toEqual(new Set([202, 503]));
    await expectServed(pressmark);
    stream.hangUp();
  });

  it("of changes leaves one word for each thing to a reader that does not read", async () => {
    await using pressmark = await startServerProcess();
    const count = 1000;
    await pressmark.stir(count);
    const uris = Array.from({ length: count }, (_, at) => memoryBase + stirredAt(at));
    const notifications = { resourceSubscriptions: uris, resourcesListChanged: true };
    const listen = rawPost(
      "subscriptions/listen",
      JSON.stringify(modernBody("subscriptions/listen", { notifications })),
    );
    const session = await initialize(pressmark, "2025-03-26");
    const subscribe = uris.map((uri, id) => ({ jsonrpc: "2.0", id, method: "resources/subscribe", params: { uri } }));
    await send(pressmark, { headers: { "Mcp-Session-Id": session }, body: JSON.stringify(subscribe) });
    const get = head("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream", `Mcp-Session-Id: ${session}`);
    const attentive = await dial(pressmark, listen);
    await attentive.until(/acknowledged[^]*\n\n/);
    const lines = await Promise.all([
      ...Array.from({ length: 10 }, () => dial(pressmark, listen)),
      dial(pressmark, get),
    ]);
    await Promise.all(lines.map((line) => line.until("text/event-stream")));
    for (const line of lines) line.socket.pause();
    let settled = 0;
    // Each round is announced to the one who reads before the next begins: 3 megabytes for each who does not.
    let heard = 0;
    attentive.socket.on("data", (chunk) => (heard += chunk.length));
    for (let round = 1; round <= 4; round++) {
      const enough = Promise.withResolvers<void>();
      const look = (): void => (heard >= round * count * 3000 ? enough.resolve() : undefined);
      attentive.socket.on("data", look);
      await pressmark.stir(count);
      await enough.promise;
      attentive.socket.off("data", look);
      await expectServed(pressmark);
      // By then every buffer on the way is full, and everything that may wait does.
      if (round === 2) settled = (await pressmark.weigh()).held;
    }
    const after = await pressmark.weigh();
    expect(after.held - settled).toBeLessThan(16 * megabyte);
    for (const line of [...lines, attentive]) line.hangUp();
    const left = await weighUntil(pressmark, ({ streams }) => streams === 0);
    expect(left.streams).toBe(0);
    expect([pressmark.alive, pressmark.said]).toEqual([true, ""]);
  });

  it(
    "of 10,000 listens from other processes is heard by each, and leaves nothing behind",
    { timeout: 60_000 },
    async () => {
      await using pressmark = await startServerProcess({ listen: { maxConnections: 12_000 } });
      const before = await pressmark.weigh();
      const uri = pressmark.base + open.name;
      const crowds = Array.from({ length: 4 }, () =>
        fork(join(import.meta.dirname, "listeners.ts"), [String(pressmark.port), uri, "2500"], {
          stdio: ["ignore", "ignore", "inherit", "ipc"],
        }),
      );
      const told = () =>
        Promise.all(crowds.map(async (crowd) => ((await once(crowd, "message")) as [FromListeners])[0]));
      expect(await told()).toEqual(crowds.map(() => ({ open: 2500 })));
      await expectServed(pressmark);
      const during = await pressmark.weigh();
      expect(during.streams).toBe(10_000);
      expect((during.rss - before.rss) / 10_000).toBeLessThan(64 * 1024);

      const heard = told();
      await appendFile(join(pressmark.folder, open.name), "");
      await appendFile(join(pressmark.folder, open.name), "one more line\n");
      expect(await heard).toEqual(crowds.map(() => ({ heard: 2500 })));

      const gone = Promise.all(crowds.map((crowd) => once(crowd, "exit")));
      for (const crowd of crowds) crowd.send("hang up");
      await gone;
      const after = await weighUntil(
        pressmark,
        ({ streams, held }) => streams === 0 && held - before.held < 8 * megabyte,
      );
      expect(after.streams).toBe(0);
      expect(after.held - before.held).toBeLessThan(8 * megabyte);
      expect([pressmark.alive, pressmark.said]).toEqual([true, ""]);
    },
  );
});
