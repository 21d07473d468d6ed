/** Bodies that are no message: each gets one clear error, whatever is in it, and no one else notices. */
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveStdio } from "../../src/transport/stdio.ts";
import {
  ask,
  askIn,
  dial,
  expectDiscreet,
  expectRpc,
  expectServed,
  head,
  initialize,
  modernBody,
  modernHeaders,
  type Rpc,
  send,
} from "./attacker.ts";
import { type TestServer, memoryBase, open, openTestServer } from "./test-server.ts";

const maxBodyBytes = 256 * 1024;
const valid = JSON.stringify(modernBody("resources/list", {}));

const texts: Readonly<Record<string, string | Uint8Array>> = {
  "nothing at all": "",
  "white space alone": " \r\n\t ",
  "an object that is cut off": valid.slice(0, -1),
  "a string that is cut off": '{"jsonrpc":"2.0","method":"resour',
  "an escape that is cut off": '{"jsonrpc":"2.0","method":"\\u00',
  "two messages side by side": `${valid}${valid}`,
  "trailing garbage": `${valid}]`,
  "a trailing comma": '{"jsonrpc":"2.0","id":1,"method":"ping",}',
  "NaN for an id": '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
  "Infinity for an id": '{"jsonrpc":"2.0","id":Infinity,"method":"ping"}',
  "a hexadecimal id": '{"jsonrpc":"2.0","id":0x10,"method":"ping"}',
  comments: `/* hello */ ${valid} // there`,
  "single quotes": "{'jsonrpc':'2.0','id':1,'method':'ping'}",
  "a byte order mark": `\ufeff${valid}`,
  "UTF-16": Buffer.from(valid, "utf16le"),
  "a raw line break in a string": '{"jsonrpc":"2.0","id":1,"method":"a\nb"}',
  "a raw NUL": `${valid.slice(0, 20)}\0${valid.slice(20)}`,
  "a lone continuation byte": Buffer.concat([Buffer.from(valid.slice(0, -1)), Buffer.of(0x80), Buffer.from("}")]),
  "an overlong slash": Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","method":"'),
    Buffer.of(0xc0, 0xaf),
    Buffer.from('"}'),
  ]),
  "an encoded surrogate": Buffer.concat([Buffer.from('{"method":"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]),
  "a form": "jsonrpc=2.0&method=ping",
  "a page": "<!doctype html><script>alert(1)</script>",
};

const nested: Readonly<Record<string, string>> = {
  "100,000 arrays": "[".repeat(100_000) + "]".repeat(100_000),
  "100,000 arrays that never close": "[".repeat(100_000),
  "30,000 objects as params": `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}}`,
  "100,000 closing brackets": "]".repeat(100_000),
  "50,000 arrays and objects in turn, as the id": `{"jsonrpc":"2.0","method":"ping","id":${'[{"a":'.repeat(25_000)}1${"}]".repeat(25_000)}}`,
  "50,000 arrays behind a string that is full of brackets": `["${"]".repeat(50_000)}",${"[".repeat(50_000)}`,
};

describe("a body that is no message", () => {
  let pressmark: TestServer;
  let session: string;
  beforeAll(async () => {
    pressmark = await openTestServer({ listen: { maxBodyBytes } });
    session = await initialize(pressmark);
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  async function expectParseError(body: string | Uint8Array, headers: Record<string, string>): Promise<void> {
    const { status, text } = await send(pressmark, { body, headers });
    expect(status).toBe(400);
    expect(expectRpc(text)).toMatchObject({ id: null, error: { code: -32700 } });
    expect(text.length).toBeLessThan(1024);
    expectDiscreet(text, pressmark);
  }

  for (const [name, body] of Object.entries({ ...texts, ...nested })) {
    it(`is a parse error in both eras: ${name}`, async () => {
      await expectParseError(body, modernHeaders("resources/list"));
      await expectParseError(body, { "Mcp-Session-Id": session });
      await expectServed(pressmark);
    });
  }

  it("is none when it nests 500 levels deep, in any param: it is answered", async () => {
    const deep = JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`) as unknown;
    for (const method of ["resources/list", "resources/read", "tools/call", "prompts/get", "completion/complete"]) {
      const { result, error } = await ask(pressmark, method, {
        uri: deep as string,
        name: "count",
        arguments: deep,
        cursor: deep,
      });
      expect(result ?? error).toBeDefined();
    }
  });

  it("is posted to a stream's own place, and answered there", async () => {
    const stream = await dial(pressmark, head("GET /sse HTTP/1.1", "Host: localhost"));
    const path = /data: (\/messages\S+)/.exec(await stream.until(/data: \/messages\S+\n/))?.[1] ?? "";
    for (const body of [...Object.values(texts), ...Object.values(nested)]) {
      const { status, text } = await send(pressmark, { path, body });
      expect([status, expectRpc(text).error?.code]).toEqual([400, -32700]);
    }
    const answered = await send(pressmark, { path, body: '{"jsonrpc":"2.0","id":"alive","method":"ping"}' });
    expect(answered.status).toBe(202);
    expect(await stream.until('"alive"')).toContain('{"jsonrpc":"2.0","id":"alive","result":{}}');
    stream.hangUp();
  });
});

describe("a body that is too large", () => {
  let pressmark: TestServer;
  beforeAll(async () => {
    pressmark = await openTestServer({ listen: { maxBodyBytes } });
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  const asked = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json"];

  it("is refused by its announced length, before it is sent", async () => {
    const line = await dial(pressmark, head(...asked, `Content-Length: ${10 ** 12}`));
    expect(await line.until("}}")).toMatch(/^HTTP\/1.1 413 [^]*a body may have 262144 bytes at most/);
    await expectServed(pressmark);
    line.hangUp();
  });

  it("is refused when it is announced one byte too long, and taken when it is just as long as it may be", async () => {
    const fits = valid + " ".repeat(maxBodyBytes - valid.length);
    const headers = modernHeaders("resources/list");
    expect((await send(pressmark, { headers, body: fits })).status).toBe(200);
    expect((await send(pressmark, { headers, body: `${fits} ` })).status).toBe(413);
  });

  it("is cut off when it comes in endless chunks", async () => {
    const line = await dial(pressmark, head(...asked, "Transfer-Encoding: chunked"));
    const chunk = Buffer.from(`8000\r\n${" ".repeat(0x8000)}\r\n`);
    let sent = 0;
    // Far more than any buffer on the way could hold.
    while (!line.socket.closed && sent < 256 * 1024 * 1024) {
      sent += chunk.length;
      const taken = Promise.withResolvers<void>();
      line.socket.write(chunk, () => taken.resolve());
      await Promise.race([taken.promise, line.over]);
    }
    expect(line.socket.closed).toBe(true);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    await expectServed(pressmark);
  });

  it("is cut off when it comes in chunks of one byte", async () => {
    await using small = await openTestServer({ listen: { maxBodyBytes: 32 * 1024 } });
    const line = await dial(small, head(...asked, "Transfer-Encoding: chunked"));
    const bytes = Buffer.from("1\r\n \r\n".repeat(32 * 1024));
    for (let round = 0; round < 64 && !line.socket.closed; round++) {
      const taken = Promise.withResolvers<void>();
      line.socket.write(bytes, () => taken.resolve());
      await Promise.race([taken.promise, line.over]);
    }
    expect(await line.over).toMatch(/^HTTP\/1.1 413 /);
    await expectServed(small);
  });

  it("does not let many of them fill the memory together", async () => {
    await using small = await openTestServer({
      listen: { maxBodyBytes: 1024 * 1024, maxArrivingBytes: 2 * 1024 * 1024 },
    });
    const begun = head(...asked, "Content-Length: 1000000");
    const lines = await Promise.all(Array.from({ length: 12 }, () => dial(small, begun)));
    for (const line of lines) line.write(" ".repeat(700_000));
    const refused = await Promise.any(lines.map((line) => line.until("\r\n\r\n")));
    expect(refused).toMatch(/^HTTP\/1.1 503 /);
    await expectServed(small);
    for (const line of lines) line.hangUp();
    await Promise.all(lines.map((line) => line.over));
    await expectServed(small);
  });

  it("may not be hidden in a content encoding", async () => {
    const { status } = await send(pressmark, {
      headers: { "Content-Encoding": "gzip" },
      body: Buffer.of(0x1f, 0x8b, 8, 0),
    });
    expect(status).toBe(415);
  });
});

describe("an id that is under way", () => {
  it("is refused a second time, and the first is not harmed", async () => {
    await using pressmark = await openTestServer();
    const input = new PassThrough();
    const output = new PassThrough();
    const served = serveStdio(pressmark.edge, { input, output });
    const heard = messagesIn(output);
    const say = (message: object): void => void input.write(`${JSON.stringify(message)}\n`);
    const uri = `${memoryBase}room-10/note.txt`;

    say(modernBody("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }, 7));
    expect(await heard.next()).toMatchObject({ value: { method: "notifications/subscriptions/acknowledged" } });
    for (const method of ["resources/read", "subscriptions/listen", "no/such/method", "__proto__"]) {
      say(modernBody(method, { uri, notifications: {} }, 7));
      expect(await heard.next()).toMatchObject({ value: { id: 7, error: { code: -32600 } } });
    }
    say(modernBody("resources/read", { uri }, "7"));
    expect(await heard.next()).toMatchObject({ value: { id: "7", result: { contents: [{ text: "note 0\n" }] } } });
    pressmark.memory.set("room-10/note.txt", "changed\n");
    expect(await heard.next()).toMatchObject({
      value: { params: { _meta: { "io.modelcontextprotocol/subscriptionId": 7 }, uri } },
    });
    input.end();
    await served;
  });

  it("is refused within one batch", async () => {
    await using pressmark = await openTestServer();
    const session = await initialize(pressmark, "2025-03-26");
    const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: pressmark.base + open.name } };
    const body = JSON.stringify([read, read, read, 7, null, [], [read], { id: 2 }]);
    const { text } = await send(pressmark, { headers: { "Mcp-Session-Id": session }, body });
    const answers = JSON.parse(text) as Rpc[];
    expect(answers).toHaveLength(8);
    expect(answers.filter(({ result }) => result)).toHaveLength(1);
    for (const { error } of answers.filter(({ result }) => !result)) expect(error?.code).toBe(-32600);
    expect((await askIn(pressmark, session, "ping")).result).toEqual({});
  });
});

async function* messagesIn(output: PassThrough): AsyncGenerator<unknown, undefined> {
  let rest = "";
  for await (const chunk of output.setEncoding("utf8")) {
    rest += chunk as string;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      yield JSON.parse(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
  }
  return undefined;
}
