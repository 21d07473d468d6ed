/** What one client takes is not another's: each connection and each session has limits of its own. */
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askIn, dial, expectServed, head, type Line, modernBody, rawPost, type Rpc } from "./attacker.ts";
import { open } from "./test-server.ts";
import { type Program, startProgram } from "./program.ts";

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "flood", version: "0" } },
});

function rawLegacy(body: string, ...extra: readonly string[]): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return head("POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", length, ...extra) + body;
}

function rawListen(uris: readonly string[]): string {
  const notifications = { resourceSubscriptions: uris };
  return rawPost("subscriptions/listen", JSON.stringify(modernBody("subscriptions/listen", { notifications })));
}

function rawStream(session: string, lastEventId?: string): string {
  const last = lastEventId === undefined ? [] : [`Last-Event-ID: ${lastEventId}`];
  const accept = "Accept: text/event-stream";
  return head("GET /mcp HTTP/1.1", "Host: localhost", accept, `Mcp-Session-Id: ${session}`, ...last);
}

/** A session over a connection of its own, which hangs up. */
async function begin(target: Program): Promise<string> {
  const line = await dial(target, rawLegacy(initialize, "Connection: close"));
  const said = await line.over;
  const id = /^mcp-session-id: (\S+)/im.exec(said)?.[1];
  if (id === undefined) throw new Error(`no session was opened: ${said}`);
  const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  await (
    await dial(target, rawLegacy(initialized, "Connection: close", `Mcp-Session-Id: ${id}`))
  ).over;
  return id;
}

/** Statuses of the answers to so many requests, sent over so many connections one after the other. */
async function flood(target: Program, count: number, connections: number): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  const each = Math.ceil(count / connections);
  let left = connections;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const last = rawLegacy(initialize, "Connection: close");
      const line = await dial(target, rawLegacy(initialize).repeat(each - 1) + last);
      for (const [, status, headers] of (await line.over).matchAll(/HTTP\/1\.1 (\d+) [^]*?\r\n([^]*?)\r\n\r\n/g)) {
        statuses.set(status!, (statuses.get(status!) ?? 0) + 1);
        if (status === "503") expect(headers).toMatch(/^retry-after: \d+\r?$/im);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, 32) }, work));
  return statuses;
}

describe("10,100 initialize requests, which once ended another client's subscribed session,", () => {
  it.each([1, 64, 10_100])(
    "end no session of others, over %s connections",
    { timeout: 180_000 },
    async (connections) => {
      await using program = await startProgram();
      const uri = program.base + open.name;
      const subscribed = await begin(program);
      expect((await askIn(program, subscribed, "resources/subscribe", { uri })).result).toEqual({});
      const idle = await begin(program);

      const statuses = await flood(program, 10_100, connections);
      expect([...statuses.keys()].filter((status) => status !== "200" && status !== "503")).toEqual([]);
      expect([...statuses.values()].reduce((sum, each) => sum + each)).toBeGreaterThanOrEqual(10_100);

      expect((await askIn(program, idle, "ping")).result).toEqual({});
      expect((await askIn(program, subscribed, "ping")).result).toEqual({});
      const stream = await dial(program, rawStream(subscribed));
      await stream.until("text/event-stream");
      await appendFile(join(program.folder, open.name), "more\n");
      await stream.until("notifications/resources/updated");
      stream.hangUp();

      const newcomer = await (await dial(program, rawLegacy(initialize, "Connection: close"))).over;
      // A connection that holds more than a tenth of all makes room, and no other.
      if (connections === 1) expect(newcomer).toMatch(/^HTTP\/1\.1 200 /);
      else expect(newcomer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: \d+\r\n/i);
    },
  );
});

const many = (program: Program, name: string) =>
  Array.from({ length: 10_000 }, (_, at) => `${program.base}${name}-${at}.txt`);

async function expectListens(program: Program, lines: Line[], count: number): Promise<void> {
  const own = [program.base + open.name, ...many(program, "own").slice(1, count)];
  const line = await dial(program, rawListen(own));
  lines.push(line);
  expect(await line.until(/\n\n|"error"/)).toContain(`"resourceSubscriptions":["${program.base}${open.name}"]`);
}

describe("listens of 10,000 resources, which once made another client's listen busy,", () => {
  it("leave it its own", { timeout: 180_000 }, async () => {
    await using program = await startProgram();
    const lines: Line[] = [];
    let refused = "";
    for (let at = 0; at < 13 && refused === ""; at++) {
      const line = await dial(program, rawListen(many(program, String(at))));
      lines.push(line);
      const said = await line.until(/acknowledged[^]*\n\n|"error"/);
      if (said.includes('"error"')) refused = said;
      if (at === 1) await expectListens(program, lines, 1000);
    }
    // There is an end to it for those who take so many, and none for the others.
    expect(refused).toMatch(/"reason":"busy","retryAfterMs":\d+/);
    await expectListens(program, lines, 50);
    const session = await begin(program);
    const uri = program.base + open.name;
    expect((await askIn(program, session, "resources/subscribe", { uri })).result).toEqual({});
    await expectServed(program);
    for (const line of lines) line.hangUp();
  });

  it("give back what they held when they end", { timeout: 180_000 }, async () => {
    await using program = await startProgram();
    for (let at = 0; at < 13; at++) {
      const line = await dial(program, rawListen(many(program, String(at))));
      expect(await line.until(/acknowledged[^]*\n\n|"error"/)).not.toContain('"error"');
      line.hangUp();
      await line.over;
    }
  });
});

describe("sessions that keep much for readers who are away", () => {
  it("do not make another session forget its own", { timeout: 180_000 }, async () => {
    await using program = await startProgram();
    await writeFile(join(program.folder, "large.txt"), "x".repeat(900_000));
    await writeFile(join(program.folder, "medium.txt"), "y".repeat(600_000));
    /** The answer is read as a stream, which can be caught up on. */
    const read = async (session: string, name: string): Promise<void> => {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "resources/read",
        params: { uri: program.base + name },
      });
      const asked = rawLegacy(body, `Mcp-Session-Id: ${session}`, "Accept: text/event-stream", "Connection: close");
      expect(await (await dial(program, asked)).over).toMatch(/^HTTP\/1\.1 200 [^]*"result"/);
    };
    const others = await Promise.all(Array.from({ length: 80 }, () => begin(program)));
    for (const session of others) await read(session, "large.txt");
    const own = await begin(program);
    await read(own, "medium.txt");
    for (const session of others) await read(session, "large.txt");

    const again = await dial(program, rawStream(own, "1-0"));
    await again.until("y".repeat(600_000));
    again.hangUp();
  });
});

describe("slow questions of one client", () => {
  const slow = `export default {
    name: "slow", summary: "Answers late", scheme: "slow",
    options: (z) => z.object({}),
    async open() {
      return {
        list: async () => ({ items: [] }),
        read: ({ path }, { signal }) => path === "quick"
          ? Promise.resolve([{ body: { text: "quick" } }])
          : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      };
    },
  };`;
  const files = {
    "slow.mjs": slow,
    "pressmark.yaml": "mounts:\n  slow:\n    source: ./slow.mjs\n    limits: { timeoutMs: 3000 }\n",
  };

  it("leave room for another's, although they fill the queue of a mount", { timeout: 180_000 }, async () => {
    await using program = await startProgram({ files });
    // Each of these streams may have 64 questions under way: more than the mount takes, in all.
    const lines = await Promise.all(
      Array.from({ length: 20 }, () => dial(program, head("GET /sse HTTP/1.1", "Host: localhost"))),
    );
    for (const [at, line] of lines.entries()) {
      const path = /data: (\/messages\S+)/.exec(await line.until(/data: \/messages\S+\n/))?.[1] ?? "";
      const posted = (message: object) =>
        rawLegacy(JSON.stringify({ jsonrpc: "2.0", ...message })).replace("POST /mcp", `POST ${path}`);
      const params = { protocolVersion: "2024-11-05", capabilities: {} };
      const poster = await dial(program, posted({ id: 0, method: "initialize", params }));
      await line.until('"protocolVersion"');
      const asked = Array.from({ length: 60 }, (_, id) =>
        posted({ id: id + 1, method: "resources/read", params: { uri: `slow://slow/${at}/${id}` } }),
      );
      poster.write(asked.join(""));
      await poster.until((said) => said.split("HTTP/1.1 202 ").length === asked.length + 2);
      poster.hangUp();
    }
    const uri = "slow://slow/quick";
    const body = JSON.stringify(modernBody("resources/read", { uri }));
    const line = await dial(program, rawPost("resources/read", body, ["Connection: close"], uri));
    const said = await line.over;
    const rpc = JSON.parse(said.slice(said.indexOf("\r\n\r\n") + 4)) as Rpc;
    expect(rpc.error).toBeUndefined();
    expect(rpc.result?.["contents"]).toMatchObject([{ text: "quick" }]);
    for (const each of lines) each.hangUp();
  });
});
