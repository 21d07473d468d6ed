/** Connections that are slow, cut, doubled or contradict themselves: each is answered or closed, and the next is served. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  dial,
  expectDiscreet,
  expectRpc,
  expectServed,
  head,
  initialize,
  modernBody,
  modernHeaders,
  rawPost,
  rawRead,
  send,
} from "./attacker.ts";
import { type TestServer, memoryBase, open, openTestServer } from "./test-server.ts";

const json = "Content-Type: application/json";
const host = "Host: localhost";
const close = "Connection: close";

describe("a connection that takes its time", () => {
  let pressmark: TestServer;
  beforeAll(async () => {
    pressmark = await openTestServer({ listen: { headersTimeoutMs: 60, requestTimeoutMs: 120 } });
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  const slow: Readonly<Record<string, string>> = {
    "says nothing": "",
    "stops within the first line": "POST /mc",
    "stops within its headers": `POST /mcp HTTP/1.1\r\n${host}\r\nX-A: `,
    "stops before its body": head("POST /mcp HTTP/1.1", host, json, "Content-Length: 100"),
    "stops within its body": `${head("POST /mcp HTTP/1.1", host, json, "Content-Length: 100")}{"jsonrpc"`,
    "stops within a chunk": `${head("POST /mcp HTTP/1.1", host, json, "Transfer-Encoding: chunked")}ff\r\n{"jsonrpc"`,
    "stops before its last chunk": `${head("POST /mcp HTTP/1.1", host, json, "Transfer-Encoding: chunked")}2\r\n{}\r\n`,
    "stops within a body that is not wanted": `${head("POST /nowhere HTTP/1.1", host, json, "Content-Length: 100")}{`,
  };
  for (const [name, text] of Object.entries(slow)) {
    it(`is closed when it ${name}`, async () => {
      const lines = await Promise.all(Array.from({ length: 20 }, () => dial(pressmark, text)));
      await expectServed(pressmark);
      for (const said of await Promise.all(lines.map((line) => line.over))) {
        expect(said).toMatch(/^(HTTP\/1.1 (408|404) |$)/);
        expectDiscreet(said, pressmark);
      }
      await expectServed(pressmark);
    });
  }

  it("is closed when it sends a header a byte at a time", async () => {
    const line = await dial(pressmark, `GET /mcp HTTP/1.1\r\n${host}\r\nX-Slow: `);
    for (let sent = 0; !line.socket.closed && sent < 100_000; sent++) {
      line.write("a");
      await Promise.race([new Promise(setImmediate), line.over]);
    }
    expect(await line.over).toMatch(/^(HTTP\/1.1 (408|431) |$)/);
  });

  it("keeps its stream as long as it likes", async () => {
    const body = JSON.stringify(modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }));
    const line = await dial(pressmark, rawPost("subscriptions/listen", body));
    await line.until("acknowledged");
    // Others come and go past every limit meanwhile.
    expect(await (await dial(pressmark, "POST /mc")).over).toMatch(/^HTTP\/1.1 408/);
    expect(await (await dial(pressmark, "POST /mc")).over).toMatch(/^HTTP\/1.1 408/);
    pressmark.memory.set("another/note.txt", "new\n");
    await line.until("list_changed");
    line.hangUp();
  });
});

describe("a connection that is cut", () => {
  let pressmark: TestServer;
  beforeAll(async () => {
    pressmark = await openTestServer();
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  it("at any byte of a request harms no one", async () => {
    const whole = rawRead(pressmark);
    for (let at = 0; at < whole.length; at += 11) {
      const line = await dial(pressmark, whole.slice(0, at));
      if (at % 2) line.socket.resetAndDestroy();
      else line.hangUp();
    }
    await expectServed(pressmark);
  });

  it("in the middle of an answer harms no one", async () => {
    pressmark.memory.set("large.txt", "x".repeat(4 * 1024 * 1024));
    const uri = `${memoryBase}large.txt`;
    const asked = rawPost("resources/read", JSON.stringify(modernBody("resources/read", { uri })), [], uri);
    for (let round = 0; round < 20; round++) {
      const line = await dial(pressmark, asked);
      await line.until("HTTP/1.1 200");
      line.socket.resetAndDestroy();
    }
    await expectServed(pressmark);
  });

  it("in the middle of a stream, of either era, leaves nothing open", async () => {
    const session = await initialize(pressmark);
    const listen = JSON.stringify(
      modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }),
    );
    for (let round = 0; round < 5; round++) {
      const modern = await dial(pressmark, rawPost("subscriptions/listen", listen));
      await modern.until("acknowledged");
      const old = await dial(
        pressmark,
        head("GET /mcp HTTP/1.1", host, "Accept: text/event-stream", `Mcp-Session-Id: ${session}`),
      );
      await old.until("text/event-stream");
      const oldest = await dial(pressmark, head("GET /sse HTTP/1.1", host));
      await oldest.until("sessionId=");
      for (const line of [modern, old, oldest]) line.socket.resetAndDestroy();
    }
    await until(() => pressmark.listening.http.counts.streams === 0);
    expect(pressmark.listening.http.counts).toEqual({ sessions: 1, streams: 0 });
    await expectServed(pressmark);
  });

  it("on one side only is answered, or closed", async () => {
    for (const text of [
      rawRead(pressmark),
      rawRead(pressmark).slice(0, -5),
      "GET /mcp",
      head("GET /sse HTTP/1.1", host),
    ]) {
      const line = await dial(pressmark);
      line.socket.end(text);
      const said = await line.over;
      expect(said).toMatch(/^(HTTP\/1.1 (200|400) |$)/);
      expectDiscreet(said, pressmark, text);
    }
    await until(() => pressmark.listening.http.counts.streams === 0);
    await expectServed(pressmark);
  });

  it("after many requests at once, in order, is answered in order", async () => {
    const count = 500;
    const all = Array.from({ length: count }, (_, id) => {
      const uri = id % 2 ? pressmark.base + open.name : `${memoryBase}room-10/note.txt`;
      return rawPost("resources/read", JSON.stringify(modernBody("resources/read", { uri }, id)), [], uri);
    });
    const line = await dial(pressmark, all.join(""));
    const said = await line.until(`"id":${count - 1},`);
    expect([...said.matchAll(/"id":(\d+),/g)].map(([, id]) => Number(id))).toEqual(
      Array.from({ length: count }, (_, id) => id),
    );
    line.hangUp();
  });

  it("behind a stream holds back what was asked after it, and is not fed without end", async () => {
    const listen = JSON.stringify(
      modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }),
    );
    const line = await dial(pressmark, rawPost("subscriptions/listen", listen));
    await line.until("acknowledged");
    const burst = rawRead(pressmark).repeat(500);
    const bursts = 100;
    const taken = { bursts: 0 };
    for (let at = 0; at < bursts; at++) line.socket.write(burst, () => taken.bursts++);
    // Others are served a hundred times and nothing more is taken: it is no longer read.
    for (
      let still = 0, before = -1;
      still < 20 && taken.bursts < bursts;
      still = taken.bursts === before ? still + 1 : 0
    ) {
      before = taken.bursts;
      for (let served = 0; served < 5; served++) await expectServed(pressmark);
    }
    expect(taken.bursts).toBeLessThan(bursts);
    line.hangUp();
    await line.over;
    await expectServed(pressmark);
  });
});

describe("a request that contradicts itself", () => {
  let pressmark: TestServer;
  beforeAll(async () => {
    pressmark = await openTestServer();
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

  const shapes: Readonly<Record<string, (whole: string) => string>> = {
    "a length and chunks": (whole) => whole.replace(json, `${json}\r\nTransfer-Encoding: chunked`),
    "chunks and a length": (whole) => whole.replace(host, `${host}\r\nTransfer-Encoding: chunked`),
    "two lengths": (whole) => whole.replace(json, `${json}\r\nContent-Length: 5`),
    "two lengths in one": (whole) => whole.replace(/Content-Length: (\d+)/, "Content-Length: $1, $1"),
    "a length with a sign": (whole) => whole.replace("Content-Length: ", "Content-Length: +"),
    "a length that is negative": (whole) => whole.replace("Content-Length: ", "Content-Length: -"),
    "a length in another base": (whole) => whole.replace("Content-Length: ", "Content-Length: 0x"),
    "a length beyond all numbers": (whole) => whole.replace("Content-Length: ", "Content-Length: 99999999999999999999"),
    "a space before the colon": (whole) => whole.replace("Content-Length:", "Content-Length :"),
    "a folded header": (whole) => whole.replace(json, `${json}\r\n X-Folded: y`),
    "a coding that is none": (whole) => whole.replace(/Content-Length: \d+/, "Transfer-Encoding: xchunked"),
    "a coding after chunks": (whole) => whole.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked, identity"),
    "a vertical tab in a header": (whole) => whole.replace(json, "Content-Type:\vapplication/json"),
    "a NUL in a header": (whole) => whole.replace(json, `${json}\0`),
    "a carriage return in a header": (whole) => whole.replace(json, `${json}\rX-A: b`),
    "line feeds alone": (whole) => whole.replaceAll("\r\n", "\n"),
    "no host": (whole) => whole.replace(`${host}\r\n`, ""),
    "a space in a name": (whole) => whole.replace("Content-Length", "Content Length"),
    "another protocol": (whole) => whole.replace("HTTP/1.1", "HTTP/2.0"),
    "no protocol": (whole) => whole.replace(" HTTP/1.1", ""),
    "a method of its own": (whole) => whole.replace("POST", "STEAL"),
    "a negative chunk": (whole) =>
      `${whole.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked").split("\r\n\r\n")[0]}\r\n\r\n-1\r\n`,
    "a chunk without end": (whole) =>
      `${whole.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked").split("\r\n\r\n")[0]}\r\n\r\nffffffffffffffffff\r\n`,
  };
  for (const [name, bend] of Object.entries(shapes)) {
    it(`is refused with all that follows it: ${name}`, async () => {
      const line = await dial(pressmark, bend(rawRead(pressmark)) + smuggled);
      const said = await line.over;
      expect(said).toMatch(/^HTTP\/1.1 4\d\d /);
      expect(said).not.toContain("smuggled");
      expect(said).not.toContain(open.text.trim());
      expectDiscreet(said, pressmark);
      await expectServed(pressmark);
    });
  }

  it("is refused when it has more headers than anyone needs", async () => {
    const many = Array.from({ length: 5000 }, (_, at) => `X-${at}: 1`);
    expect(await (await dial(pressmark, head("GET /mcp HTTP/1.1", host, ...many))).over).toMatch(/^HTTP\/1.1 431 /);
    expect(await (await dial(pressmark, head("GET /mcp HTTP/1.1", host, `X: ${"y".repeat(20_000)}`))).over).toMatch(
      /^HTTP\/1.1 431 /,
    );
    const line = await dial(pressmark, `GET /mcp HTTP/1.1\r\n${host}\r\n`);
    for (let sent = 0; sent < 1000 && !line.socket.closed; sent++) {
      line.write(`X-${sent}: ${"y".repeat(100)}\r\n`);
      await Promise.race([new Promise(setImmediate), line.over]);
    }
    expect(await line.over).toMatch(/^HTTP\/1.1 431 /);
    await expectServed(pressmark);
  });

  const strangers = [
    "evil.example",
    "localhost.evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "localhost@evil.example",
    "evil.example#localhost",
    "local host",
    "localhost, evil.example",
    "[::1",
    "[::1].evil.example",
    "[::1]evil",
    "localhost:80:80",
    "localhost:x",
    "localhost:123456",
    "0x7f000001",
    "2130706433",
    "127.1",
    "localhost.",
    "\tlocalhost.evil",
    "*",
    "__proto__",
    "0.0.0.0",
    "xn--lcalhost-b8a",
    "ⓛocalhost",
  ];
  it.each(strangers)("is refused by a name that is not ours: %j", async (name) => {
    const line = await dial(pressmark, rawRead(pressmark, [close]).replace(host, `Host: ${name}`));
    const said = await line.over;
    expect(said).toMatch(/^HTTP\/1.1 40[03] /);
    expect(said).not.toContain(open.text.trim());
    expectDiscreet(said, pressmark);
  });

  it("is served under the names that are ours, in any case", async () => {
    for (const name of [
      "localhost",
      "LOCALHOST",
      `localhost:${pressmark.port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      "[::1]:80",
    ]) {
      const line = await dial(pressmark, rawRead(pressmark, [close]).replace(host, `Host: ${name}`));
      expect(await line.over).toMatch(/^HTTP\/1.1 200 /);
    }
  });

  const origins = [
    "null",
    "",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://evil.example:80",
    "http://localhost@evil.example",
    "http://localhost:80@evil.example",
    "http://localhost/",
    "http://localhost#.evil.example",
    "http://localhost, http://evil.example",
    "file://",
    "file://localhost",
    "chrome-extension://abc",
    "javascript:alert(1)",
    "http://127.0.0.1.evil.example",
    "http://[::1].evil.example",
    "//localhost",
    "localhost",
    "http:localhost",
    "http://",
    "https:///localhost",
    "http://localhost\\.evil.example",
  ];
  it.each(origins)("is refused from a page that is not ours: %j", async (origin) => {
    for (const asked of [
      rawRead(pressmark, [close]),
      head("OPTIONS /mcp HTTP/1.1", host, close),
      head("GET /sse HTTP/1.1", host, close),
    ]) {
      const line = await dial(pressmark, asked.replace(host, `${host}\r\nOrigin: ${origin}`));
      const said = await line.over;
      expect(said).toMatch(/^HTTP\/1.1 403 /);
      expect(said).not.toMatch(/access-control-allow-origin/i);
      expect(said).not.toContain(open.text.trim());
    }
  });

  it("is refused when two pages ask at once", async () => {
    const both = `${host}\r\nOrigin: http://localhost\r\nOrigin: https://evil.example`;
    expect(await (await dial(pressmark, rawRead(pressmark, [close]).replace(host, both))).over).toMatch(
      /^HTTP\/1.1 403 /,
    );
  });

  it("is not served in a form that is meant for proxies", async () => {
    for (const target of [
      "http://evil.example/mcp",
      "http://localhost/mcp",
      "//localhost/mcp",
      "*",
      "localhost:80",
      "/mcp#x",
      "mcp",
    ]) {
      const line = await dial(pressmark, rawRead(pressmark, [close]).replace("POST /mcp", `POST ${target}`));
      const said = await line.over;
      expect(said).toMatch(/^(HTTP\/1.1 40[04] |$)/);
      expect(said).not.toContain(open.text.trim());
    }
    expect(
      await (
        await dial(pressmark, head("CONNECT evil.example:443 HTTP/1.1", "Host: evil.example:443"))
      ).over,
    ).toBe("");
    await expectServed(pressmark);
  });

  it("is told at once when it listens and takes no stream", async () => {
    const body = JSON.stringify(modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }));
    const headers = { ...modernHeaders("subscriptions/listen"), Accept: "application/json" };
    expect((await send(pressmark, { headers, body })).status).toBe(406);
    expect(pressmark.listening.http.counts.streams).toBe(0);
  });

  it("does not get a header of its own into the answer", async () => {
    const trick = "x%0d%0aSet-Cookie:%20a=b";
    for (const [path, headers] of [
      [`/${trick}`, {}],
      [`/messages?sessionId=${trick}`, {}],
      ["/mcp", { "Mcp-Session-Id": trick, "Last-Event-ID": trick }],
    ] as const) {
      const answered = await send(pressmark, { path, headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
      expect(answered.headers["set-cookie"]).toBeUndefined();
      expect(expectRpc(answered.text).error).toBeDefined();
    }
  });

  it("is refused when it asks for another protocol, or for a method there is none of", async () => {
    for (const method of ["PUT", "PATCH", "TRACE", "HEAD", "PROPFIND", "QUERY"]) {
      const line = await dial(pressmark, head(`${method} /mcp HTTP/1.1`, host, close));
      expect(await line.over).toMatch(/^HTTP\/1.1 405 /);
    }
    const upgrade = await dial(pressmark, head("GET /mcp HTTP/1.1", host, "Connection: Upgrade", "Upgrade: websocket"));
    expect(await upgrade.until("\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
    upgrade.hangUp();
    expect(await (await dial(pressmark, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).over).toMatch(/^HTTP\/1.1 400 /);
    expect(await (await dial(pressmark, Buffer.from("160301020001000001fc0303", "hex"))).over).toMatch(
      /^HTTP\/1.1 400 /,
    );
    await expectServed(pressmark);
  });
});

/** Looks again each time a connection of this process closes or the event loop turns, for at most ten seconds. */
async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error("this never came true");
    await new Promise(setImmediate);
  }
}
