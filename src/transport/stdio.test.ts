import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Reply } from "../protocol/protocol.ts";
import type { Script } from "./test-protocol.ts";
import { createFakeProtocol, resultOf, wireOf } from "./test-protocol.ts";
import type { StdioOptions } from "./stdio.ts";
import { serveStdio } from "./stdio.ts";

const question = (id: number | string, method = "resources/list") => JSON.stringify({ jsonrpc: "2.0", id, method });

function start(script: Script = {}, options: StdioOptions = {}) {
  const edge = createFakeProtocol(script);
  const input = new PassThrough();
  const output = new PassThrough();
  const over = serveStdio(edge, { input, output, ...options });
  const [session] = edge.sessions;
  if (!session) throw new Error("no session");
  return {
    edge,
    session,
    input,
    output,
    over,
    /** Everything that was written, one message per line. */
    async messages(): Promise<unknown[]> {
      const written = output.toArray();
      await over;
      output.end();
      const text = Buffer.concat(await written).toString();
      expect(text === "" || text.endsWith("\n")).toBe(true);
      return text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown);
    },
  };
}

const echoOf = (id: number | string) => ({ jsonrpc: "2.0", id, result: { echo: "resources/list" } });
const errorOf = (code: number) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code, message: expect.any(String) as string },
});

describe("stdio", () => {
  it("answers each line with a line, and ends with its input (LEG-35, MOD-52, MOD-54)", async () => {
    const { input, messages, session } = start();
    input.end(`${question(1)}\n${question("two")}\n`);
    expect(await messages()).toEqual([echoOf(1), echoOf("two")]);
    expect([session.closed, session.peer.signal.aborted]).toEqual([true, true]);
  });

  it("takes lines however they are cut, with CRLF, blank ones between, and the last without an end", async () => {
    const { input, messages } = start();
    for (const byte of Buffer.from(`${question(1)}\r\n\n  \r\n${question("é")}\n\n${question(3)}`))
      input.write(Buffer.from([byte]));
    input.end();
    expect(await messages()).toEqual([echoOf(1), echoOf("é"), echoOf(3)]);
  });

  it("answers what is not JSON or not UTF-8 with a parse error, and goes on (LEG-36)", async () => {
    const { input, messages } = start();
    input.write("{\nnope\n");
    input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    input.write(`${"[".repeat(100_000)}\n`);
    input.end(`${question(1)}\n`);
    expect(await messages()).toEqual([errorOf(-32700), errorOf(-32700), errorOf(-32700), errorOf(-32700), echoOf(1)]);
  });

  it("skips a line that is too long, reports it once, and continues", async () => {
    const { input, messages } = start({}, { maxMessageBytes: 100 });
    for (let count = 0; count < 100; count++) input.write("x".repeat(1000));
    input.end(`\n${question(1)}\n${"y".repeat(101)}`);
    expect(await messages()).toEqual([errorOf(-32600), echoOf(1), errorOf(-32600)]);
  });

  it("takes and gives messages of several MiB, in pieces of text and bytes", async () => {
    const text = "é".repeat(700_000);
    const { input, messages } = start({
      receive: ({ params }, reply) =>
        reply.end(['{"text":"', Buffer.from(String(params?.text)), '","more":"', text, '"}']),
    });
    input.end(`${JSON.stringify({ id: 1, params: { text } })}\n`);
    expect(await messages()).toEqual([{ text, more: text }]);
  });

  it("sends notifications within and outside requests", async () => {
    const { input, output, session, messages } = start({
      receive(message, reply) {
        void reply.notify(wireOf({ on: "the way" }));
        reply.end(resultOf(message));
        void reply.notify(wireOf({ too: "late" }));
        reply.end(wireOf({ too: "late" }));
      },
    });
    input.write(`${question(1)}\n`);
    await once(output, "readable");
    void session.peer.send(wireOf({ unasked: true }));
    input.end();
    expect(await messages()).toEqual([{ on: "the way" }, { jsonrpc: "2.0", id: 1, result: {} }, { unasked: true }]);
  });

  it("gives notifications no answer", async () => {
    const { input, messages } = start();
    input.end('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    expect(await messages()).toEqual([]);
  });

  it("finishes running requests when the input ends", async () => {
    const asked = Promise.withResolvers<() => void>();
    const { input, messages, session } = start({
      receive: (message, reply) => asked.resolve(() => reply.end(resultOf(message))),
    });
    input.end(`${question(1)}\n`);
    const answer = await asked.promise;
    await once(input, "close");
    expect(session.closed).toBe(false);
    answer();
    expect(await messages()).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  });

  it("finishes a request that has sent a notification when the input ends", async () => {
    const asked = Promise.withResolvers<() => void>();
    const { input, output, messages, session } = start({
      receive(message, reply) {
        void reply.notify(wireOf({ on: "the way" }));
        asked.resolve(() => reply.end(resultOf(message)));
      },
    });
    input.end(`${question(1)}\n`);
    const answer = await asked.promise;
    await once(input, "close");
    // Without waiting, the session ends within a few turns.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([session.closed, output.readableLength > 0]).toEqual([false, true]);
    answer();
    expect(await messages()).toEqual([{ on: "the way" }, { jsonrpc: "2.0", id: 1, result: {} }]);
  });

  it("does not wait for answers that can no longer come", async () => {
    const { input, messages } = start(
      {
        receive: (message, reply) =>
          reply.lost?.().addEventListener("abort", () => reply.end(resultOf(message, { echo: message.method }))),
      },
      { graceMs: 1_000_000 },
    );
    input.end(`${question(1)}\n`);
    expect(await messages()).toEqual([echoOf(1)]);
  });

  it("waits neither for a listen nor for ever", async () => {
    const listening = start(
      { receive: (_message, reply) => void reply.notify(wireOf({ listening: true })) },
      { graceMs: 1_000_000 },
    );
    listening.input.end(`${question(1, "subscriptions/listen")}\n`);
    expect(await listening.messages()).toEqual([{ listening: true }]);
    const never = start({ receive: () => {} }, { graceMs: 5 });
    never.input.end(`${question(1)}\n`);
    expect(await never.messages()).toEqual([]);
    expect(never.session.closed).toBe(true);
  });

  it("ends when the signal does", async () => {
    const controller = new AbortController();
    const { input, output, messages, session } = start({}, { signal: controller.signal });
    input.write(`${question(1)}\n`);
    await once(output, "readable");
    controller.abort();
    expect(await messages()).toEqual([echoOf(1)]);
    expect(session.closed).toBe(true);
  });

  it.each([true, false])("ends quietly when nobody reads any more (closes: %s)", async (autoDestroy) => {
    const output = new Writable({
      autoDestroy,
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    const { input, over, session } = start({}, { output });
    input.write(`${question(1)}\n${question(2)}\n`);
    await over;
    expect(session.closed).toBe(true);
    expect(session.peer.send(wireOf({ late: true }))).toBeUndefined();
  });
});

function slowOutput() {
  const held: (() => void)[] = [];
  let bytes = 0;
  let free = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (free) done();
      else held.push(done);
    },
  });
  return {
    output,
    bytes: () => bytes,
    read() {
      free = true;
      held.shift()?.();
    },
  };
}

describe("a slow reader of stdio", () => {
  it("gets no more requests accepted until it reads", async () => {
    const { output, read, bytes } = slowOutput();
    let received = 0;
    const { input, over } = start(
      {
        receive(message, reply) {
          received++;
          reply.end(resultOf(message, "x".repeat(1000)));
        },
      },
      { output, highWaterBytes: 10_000 },
    );
    const paused = once(input, "pause");
    input.write(lines(0, 500));
    await paused;
    expect(received).toBeLessThan(12);
    read();
    input.end();
    await over;
    expect(received).toBe(500);
    expect(bytes()).toBeGreaterThan(500_000);
  });

  it("makes senders wait", async () => {
    const { output, read } = slowOutput();
    const replies: Reply[] = [];
    const { input, over, session } = start(
      { receive: (_message, reply) => void replies.push(reply) },
      { output, highWaterBytes: 10_000 },
    );
    input.write(`${question(1)}\n`);
    while (replies.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const wire = wireOf("x".repeat(4000));
    const said = [session.peer.send(wire), replies[0]?.notify(wire), session.peer.send(wire), replies[0]?.notify(wire)];
    expect(said.map((promise) => promise instanceof Promise)).toEqual([false, false, true, true]);
    read();
    await Promise.all(said);
    replies[0]?.end();
    input.end();
    await over;
  });

  it("gets all its responses, though it ended its input first", async () => {
    const { output, read, bytes } = slowOutput();
    const count = 500;
    // As with a pipe, the end is known when the last bytes are read.
    const input = new Readable({
      read() {
        this.push(Array.from({ length: count }, (_, id) => `${question(id)}\n`).join("") + question("last"));
        this.push(null);
      },
    });
    let received = 0;
    const { over } = start(
      {
        receive(message, reply) {
          received++;
          reply.end(resultOf(message, "x".repeat(1000)));
        },
      },
      { input, output, highWaterBytes: 10_000 },
    );
    await once(input, "close");
    expect(received).toBeLessThan(12);
    read();
    await over;
    expect(received).toBe(count + 1);
    expect(bytes()).toBeGreaterThan(count * 1000);
  });

  it("that takes nothing at all is not waited for once it has ended its input", async () => {
    const { output } = slowOutput();
    const { input, over, session } = start(
      { receive: (message, reply) => reply.end(resultOf(message, "x".repeat(1000))) },
      { output, highWaterBytes: 10_000, graceMs: 5 },
    );
    input.end(Array.from({ length: 100 }, (_, id) => `${question(id)}\n`).join(""));
    await over;
    expect(session.closed).toBe(true);
  });

  it("that goes away releases waiting senders", async () => {
    const { output } = slowOutput();
    const { over, session } = start({}, { output, highWaterBytes: 10 });
    const waiting = session.peer.send(wireOf("x".repeat(100)));
    expect(waiting).toBeInstanceOf(Promise);
    output.destroy();
    await waiting;
    await over;
  });
});

function lines(from: number, count: number, method?: string): string {
  return Array.from({ length: count }, (_, at) => `${question(from + at, method)}\n`).join("");
}

describe("questions over stdio", () => {
  it("are put a bounded number at a time, each as soon as another is answered", async () => {
    const open: (() => void)[] = [];
    let put = 0;
    const { input, messages } = start({
      receive(message, reply) {
        put++;
        open.push(() => reply.end(resultOf(message)));
      },
    });
    const paused = once(input, "pause");
    input.end(lines(0, 1000));
    await paused;
    expect([put, open.length]).toEqual([64, 64]);
    open.shift()?.();
    expect([put, open.length]).toEqual([65, 64]);
    const all = messages();
    while (open.length > 0) open.shift()?.();
    expect(await all).toHaveLength(1000);
  });

  it("are not held up by any number of listens", async () => {
    const { input, messages } = start({
      receive(message, reply) {
        if (message.method === "subscriptions/listen") void reply.notify(wireOf({ listening: message.id }));
        else reply.end(resultOf(message));
      },
    });
    input.end(lines(0, 500, "subscriptions/listen") + lines(500, 500));
    expect(await messages()).toHaveLength(1000);
  });

  it("that are answered at once may be many in one piece", async () => {
    const { input, messages } = start();
    input.end(lines(0, 20_000));
    expect(await messages()).toHaveLength(20_000);
  });
});
