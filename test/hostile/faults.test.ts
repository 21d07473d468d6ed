/** What an attacker got away with once. */
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openPolicy } from "../../src/access/policy.ts";
import { ResourceError } from "../../src/errors.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Source } from "../../src/source.ts";
import { serveStdio } from "../../src/transport/stdio.ts";
import { ask, askIn, dial, expectServed, head, initialize, modernBody, rawPost, rawRead, send } from "./attacker.ts";
import { open, openTestServer } from "./test-server.ts";
import { megabyte, startServerProcess } from "./process.ts";

describe("an attacker", () => {
  it("does not make the server hold a hundred large answers for one small batch", async () => {
    await using pressmark = await startServerProcess();
    const names = largeFiles(pressmark.folder, 60);
    const session = await initialize(pressmark, "2025-03-26");
    const reads = names.map((name, id) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/read",
      params: { uri: pressmark.base + name },
    }));
    const body = JSON.stringify(reads);
    const before = peakOf(pressmark.pid);
    const line = await dial(
      pressmark,
      head(
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        `Mcp-Session-Id: ${session}`,
        `Content-Length: ${body.length}`,
      ) + body,
    );
    await line.until("HTTP/1.1");
    line.hangUp();
    expect(peakOf(pressmark.pid) - before).toBeLessThan(200 * megabyte);
  });

  it("does not make the server hold a hundred large answers by asking for them all at once on one connection", async () => {
    await using pressmark = await startServerProcess();
    const asked = largeFiles(pressmark.folder, 100).map((name, id) => {
      const uri = pressmark.base + name;
      return rawPost("resources/read", JSON.stringify(modernBody("resources/read", { uri }, id)), [], uri);
    });
    const before = peakOf(pressmark.pid);
    const line = await dial(pressmark);
    line.socket.pause();
    line.write(asked.join(""));
    // Others are served meanwhile, behind whatever is read for the line that is not.
    for (let at = 0; at < 100; at++) await expectServed(pressmark);
    expect(peakOf(pressmark.pid) - before).toBeLessThan(96 * megabyte);
    line.hangUp();
  });

  it("pays for each thing that it listens to", async () => {
    await using pressmark = await openTestServer({ watchQuota: { burst: 100, perSecond: 1, maxWaitMs: 10 } });
    const uris = Array.from({ length: 5000 }, (_, at) => `${pressmark.base}${spelledIn(open.name, at)}`);
    const body = JSON.stringify(modernBody("subscriptions/listen", { notifications: { resourceSubscriptions: uris } }));
    const line = await dial(pressmark, rawPost("subscriptions/listen", body));
    const said = await line.until(/acknowledged|too many/);
    line.hangUp();
    expect(said).toContain("too many");
  });

  it("gets an answer to every line, though it ends its input before it reads", async () => {
    await using pressmark = await openTestServer();
    const count = 5000;
    // The end is known when the last bytes are read, as it is with a pipe.
    const input = new Readable({
      read() {
        this.push("{}\n".repeat(count));
        this.push(null);
      },
    });
    let answers = 0;
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        answers += chunk.toString("latin1").split("\n").length - 1;
        setImmediate(done);
      },
    });
    await serveStdio(pressmark.edge, { input, output });
    expect(answers).toBe(count);
  });

  it("does not take the session of another caller by opening many", async () => {
    await using pressmark = await openTestServer({
      listen: { maxSessions: 50, identify: ({ headers }) => ({ id: String(headers["x-caller"] ?? "attacker") }) },
    });
    const params = { protocolVersion: "2025-11-25", capabilities: {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const mine = await send(pressmark, { headers: { "X-Caller": "victim" }, body });
    const session = String(mine.headers["mcp-session-id"]);
    for (let at = 0; at < 60; at++) await initialize(pressmark);
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const { status } = await send(pressmark, {
      headers: { "X-Caller": "victim", "Mcp-Session-Id": session },
      body: ping,
    });
    expect(status).toBe(200);
  });

  it("cannot fill the memory with the first parts of many bodies", async () => {
    await using pressmark = await startServerProcess({ listen: { maxArrivingBytes: 4 * megabyte } });
    const before = await pressmark.weigh();
    const asked = head(
      "POST /mcp HTTP/1.1",
      "Host: localhost",
      "Content-Type: application/json",
      "Content-Length: 4000000",
    );
    const lines = await Promise.all(Array.from({ length: 400 }, () => dial(pressmark, asked + " ".repeat(60_000))));
    await expectServed(pressmark);
    await expectServed(pressmark);
    const during = await pressmark.weigh();
    for (const line of lines) line.hangUp();
    expect(during.held - before.held).toBeLessThan(12 * megabyte);
  });

  it("who may write names cannot give a list a cursor that is refused", async () => {
    await using pressmark = await openTestServer({ pageSize: 1 });
    const folder = join(pressmark.folder, "a", ...Array.from({ length: 14 }, () => "\u0001".repeat(250)));
    mkdirSync(folder, { recursive: true });
    for (const name of ["first", "second"]) writeFileSync(join(folder, name), "");
    let cursor: unknown;
    for (let page = 0; page < 100; page++) {
      const { result, error } = await ask(pressmark, "resources/list", cursor === undefined ? {} : { cursor });
      expect(error).toBeUndefined();
      cursor = result?.["nextCursor"];
      if (cursor === undefined) break;
    }
  });

  it("who uses up what a source needs does not make its resources look as if they were gone", async () => {
    const source: Source = {
      list: unavailable,
      read: unavailable,
      stat: unavailable,
      watch: async () => ({ async *[Symbol.asyncIterator]() {} }),
    };
    const resources = createResources({
      mounts: [{ name: "busy", base: "busy://", source }],
      policy: openPolicy,
      runtime: createRuntime({ write: () => true }),
      cursorKey: new Uint8Array(32),
    });
    const watched = resources.watch(
      { uris: ["busy://there"] },
      { caller: { id: "a" }, signal: AbortSignal.timeout(5000) },
    );
    await expect(watched)
      .rejects.toMatchObject({ kind: "unavailable" })
      .finally(() => resources.close());
  });

  it("that names two hosts is refused", async () => {
    await using pressmark = await openTestServer();
    const line = await dial(pressmark, rawRead(pressmark, ["Host: evil.example", "Connection: close"]));
    expect(await line.over).toMatch(/^HTTP\/1.1 400 /);
  });

  it("does not get 12 kilobytes of its own back in an error", async () => {
    await using pressmark = await openTestServer();
    const session = await initialize(pressmark);
    const answer = await askIn(pressmark, session, "resources/read", { uri: pressmark.base + "\u0001".repeat(1900) });
    expect(JSON.stringify(answer).length).toBeLessThan(4096);
  });
});

async function unavailable(): Promise<never> {
  throw new ResourceError("unavailable", "no descriptor is left; try again");
}

/** As large as a file may be that is read, and different ones, for the same is read only once. */
function largeFiles(folder: string, count: number): string[] {
  mkdirSync(join(folder, "large"));
  return Array.from({ length: count }, (_, at) => {
    const name = `large/${at}.bin`;
    writeFileSync(join(folder, name), "");
    truncateSync(join(folder, name), 5 * megabyte);
    return name;
  });
}

function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

/** One of the many spellings of a name. */
function spelledIn(name: string, number: number): string {
  const escaped = Array.from(`${name}`, (letter, at) =>
    (number >> at) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  ).join("");
  return number >> name.length ? escaped.replaceAll("%6f", "%6F") : escaped;
}
