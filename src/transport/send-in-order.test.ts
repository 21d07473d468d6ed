import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { FakeMessage } from "./test-protocol.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import { serveFake } from "./test-server.ts";

function rawQuestion(id: number, pad = ""): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: "resources/list", pad });
  return [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    "MCP-Protocol-Version: 2026-07-28",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

const questions = (count: number) => Array.from({ length: count }, (_, id) => rawQuestion(id)).join("");
const numbers = (count: number) => Array.from({ length: count }, (_, id) => id);

/** Ids of all responses, as soon as there are this many. */
async function idsIn(socket: Socket, count: number): Promise<number[]> {
  let text = "";
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString();
    const ids = [...text.matchAll(/"id":(\d+),"result"/g)].map(([, id]) => Number(id));
    if (ids.length >= count) return ids;
  }
  throw new Error(`hung up after ${text}`);
}

/** Responds to each request only on demand. */
function held() {
  const put: FakeMessage[] = [];
  const answers: (() => void)[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    put,
    exchange(message: FakeMessage, reply: { end(wire: ReturnType<typeof wireOf>): void }) {
      put.push(message);
      answers.push(() => reply.end(resultOf(message)));
      arrived.resolve();
    },
    async next(): Promise<() => void> {
      while (answers.length === 0) {
        await arrived.promise;
        arrived = Promise.withResolvers();
      }
      return answers.shift() as () => void;
    },
  };
}

describe("requests that come before the answers to earlier ones have left", () => {
  it("are put one after the other, and answered in order", async () => {
    const { exchange, next, put } = held();
    const { raw, listening } = await serveFake({ exchange });
    let arrived = 0;
    const all = new Promise<void>((resolve) => {
      listening.server.on("request", () => ++arrived === 12 && resolve());
    });
    const socket = await raw(questions(12));
    const ids = idsIn(socket, 12);
    await all;
    for (const id of numbers(12)) {
      const answer = await next();
      expect(put.map((message) => message.id)).toEqual(numbers(id + 1));
      answer();
    }
    expect(await ids).toEqual(numbers(12));
    socket.destroy();
  });

  it("are not put while the answer before waits for its reader", async () => {
    const put: FakeMessage[] = [];
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const { raw } = await serveFake({
      exchange(message, reply) {
        put.push(message);
        reply.end(resultOf(message, "x".repeat(32 * 1024 * 1024)));
        (message.id === 0 ? first : second).resolve();
      },
    });
    const socket = await raw(questions(2));
    socket.pause();
    await first.promise;
    // Another connection is served meanwhile; this one is not.
    const other = await raw(rawQuestion(9));
    await once(other, "data");
    expect(put.map(({ id }) => id)).toEqual([0, 9]);
    socket.resume();
    await second.promise;
    socket.destroy();
    other.destroy();
  });

  it("are no longer read when many wait, and read on when those have had their turn", async () => {
    const count = 5000;
    const { exchange, next } = held();
    let isHeld = true;
    const { raw, ask, listening } = await serveFake({
      exchange: (message, reply) =>
        isHeld && message.id !== 9999 ? exchange(message, reply) : reply.end(resultOf(message)),
    });
    const requested = once(listening.server, "request") as Promise<[IncomingMessage]>;
    const sockets: unknown[] = [];
    listening.server.on("request", (request) => sockets.push(request.socket));
    const socket = await raw(questions(count));
    const ids = idsIn(socket, count);
    const [request] = await requested;
    const answer = await next();
    // Other connections are served many times meanwhile.
    for (let turn = 0; turn < 50; turn++)
      await ask({ headers: { "MCP-Protocol-Version": "2026-07-28" }, body: { id: 9999 } });
    // Limited to one read of the socket, not to what the client sends.
    expect(sockets.filter((other) => other === request.socket).length).toBeLessThan(1000);
    isHeld = false;
    answer();
    expect(await ids).toEqual(numbers(count));
    socket.destroy();
  });

  it("are read on when the last that waited had come whole", async () => {
    const { exchange, next } = held();
    let isHeld = true;
    const { raw, listening } = await serveFake({
      exchange: (message, reply) => (isHeld ? exchange(message, reply) : reply.end(resultOf(message))),
    });
    const requested = once(listening.server, "request") as Promise<[IncomingMessage]>;
    const socket = await raw(questions(40));
    const ids = idsIn(socket, 41);
    const [request] = await requested;
    const answer = await next();
    while (!request.socket.isPaused()) await new Promise((resolve) => setImmediate(resolve));
    socket.write(rawQuestion(40));
    isHeld = false;
    answer();
    expect(await ids).toEqual(numbers(41));
    socket.destroy();
  });

  it("go with their connection", async () => {
    const { exchange, next, put } = held();
    const { raw, ask, listening } = await serveFake({ exchange });
    const requested = once(listening.server, "request") as Promise<[IncomingMessage]>;
    const socket = await raw(questions(3));
    const [request] = await requested;
    const answer = await next();
    const gone = once(request.socket, "close");
    socket.destroy();
    await gone;
    answer();
    const last = ask({ headers: { "MCP-Protocol-Version": "2026-07-28" }, body: { id: 7 } });
    (await next())();
    await last;
    expect(put.map(({ id }) => id)).toEqual([0, 7]);
  });

  it("may be of any kind, with bodies that come later", async () => {
    const { raw } = await serveFake();
    const whole = rawQuestion(1, "x".repeat(100_000));
    const socket = await raw(
      `GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n${rawQuestion(0)}${whole.slice(0, 5000)}`,
    );
    const ids = idsIn(socket, 2);
    socket.write(whole.slice(5000));
    expect(await ids).toEqual([0, 1]);
    socket.destroy();
  });
});
