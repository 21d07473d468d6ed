/** A server that is told to stop finishes what it has received: no answer is cut, none is missing. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { head, modernBody, rawPost } from "../hostile/attacker.ts";
import { createScratch, portIsClosed, type Served, startPressmark, startServe } from "./pressmark-process.ts";

const fileBytes = 4 * 1024 * 1024;
const scratch = createScratch();
const files = join(scratch.folder, "files");
const uriOf = (name: string) => pathToFileURL(join(files, name)).href;
const large = rawRead("large.txt");
const small = rawRead("small.txt");
/** More than the system takes from the server for a client that does not read: the server is not done until the client reads on. */
const heldUp = 4;
let server: Served;

beforeAll(() => {
  mkdirSync(files);
  writeFileSync(join(files, "large.txt"), "x".repeat(fileBytes - 1) + "\n");
  writeFileSync(join(files, "small.txt"), "a few words\n");
});
afterAll(() => scratch.remove());

describe("serve, told to stop", () => {
  beforeEach(async () => {
    server = await startServe([files], { cwd: files, env: scratch.env });
  });
  afterEach(() => void server.child.kill("SIGKILL"));

  it("cuts no answer whose headers have arrived", async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => warmClient(server.port)));
    for (const client of clients) client.send(large);
    await Promise.all(clients.map((client) => client.received(1000)));
    for (const client of clients) client.socket.pause();
    server.child.kill("SIGTERM");
    await portIsClosed(server.port);
    for (const client of clients) client.socket.resume();
    for (const client of clients) expect((await client.closed).map(lengthOf)).toEqual([smallAnswer, largeAnswer]);
    expect(await server.exited).toBe(0);
    expect(server.errors).toBe("");
  });

  it("answers every request that warm connections sent before the signal", async () => {
    const clients = await Promise.all(Array.from({ length: 28 }, () => warmClient(server.port)));
    await Promise.all(clients.map((client, index) => client.send(index % 14 === 0 ? large : small)));
    server.child.kill("SIGTERM");
    for (const [index, client] of clients.entries())
      expect((await client.closed).map(lengthOf)).toEqual([smallAnswer, index % 14 === 0 ? largeAnswer : smallAnswer]);
    expect(await server.exited).toBe(0);
  });

  it("answers all requests that one connection sent without waiting", async () => {
    const client = await warmClient(server.port);
    await client.send(large + small + large + small);
    server.child.kill("SIGTERM");
    expect((await client.closed).map(lengthOf)).toEqual([
      smallAnswer,
      largeAnswer,
      smallAnswer,
      largeAnswer,
      smallAnswer,
    ]);
    expect(await server.exited).toBe(0);
  });

  it("says on its last answers that the connection closes", async () => {
    const clients = await Promise.all(Array.from({ length: 2 }, () => warmClient(server.port)));
    const [slow, late] = clients as [Client, Client];
    await slow.send(large.repeat(heldUp));
    await slow.received(1000);
    slow.socket.pause();
    server.child.kill("SIGTERM");
    await portIsClosed(server.port);
    await late.send(small);
    expect((await late.closed).map(({ headers }) => /^Connection: (.*)$/im.exec(headers)?.[1])).toEqual([
      "keep-alive",
      "close",
    ]);
    slow.socket.resume();
    expect((await slow.closed).map(lengthOf)).toEqual([smallAnswer, ...Array(heldUp).fill(largeAnswer)]);
    expect(await server.exited).toBe(0);
  });

  it("does not let a request that comes too late cut the answer before it", async () => {
    const [first, client] = (await Promise.all([warmClient(server.port), warmClient(server.port)])) as [Client, Client];
    await first.send(large.repeat(heldUp));
    await first.received(1000);
    first.socket.pause();
    server.child.kill("SIGTERM");
    await portIsClosed(server.port);
    await client.send(large);
    await client.received(1000);
    client.socket.pause();
    await client.send(small);
    client.socket.resume();
    first.socket.resume();
    expect((await client.closed).slice(0, 2).map(lengthOf)).toEqual([smallAnswer, largeAnswer]);
    expect(await server.exited).toBe(0);
  });

  it("ends listens with their result, and streams whole", async () => {
    const listen = await warmClient(server.port);
    const body = JSON.stringify(modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }));
    await listen.send(rawPost("subscriptions/listen", body, ["Accept: application/json, text/event-stream"]));
    await listen.until("acknowledged");
    const sse = await dialed(server.port, head("GET /sse HTTP/1.1", "Host: localhost", "Accept: text/event-stream"));
    await sse.until("sessionId=");
    const idle = await warmClient(server.port);
    server.child.kill("SIGTERM");
    await listen.closed;
    expect(listen.text()).toMatch(/"resultType":"complete"[^]*\r\n0\r\n\r\n$/);
    await sse.closed;
    expect(sse.text()).toMatch(/\r\n0\r\n\r\n$/);
    expect((await idle.closed).map(lengthOf)).toEqual([smallAnswer]);
    expect(await server.exited).toBe(0);
    expect(server.errors).toBe("");
  });

  it("exits at once when told again", async () => {
    const client = await warmClient(server.port);
    await client.send(large.repeat(heldUp));
    await client.received(1000);
    client.socket.pause();
    server.child.kill("SIGINT");
    await portIsClosed(server.port);
    // A signal that follows at once may be the same Ctrl-C, passed on by npm: it is sent until it counts as another.
    const again = setInterval(() => server.child.kill("SIGINT"), 20);
    expect(["SIGINT", 130]).toContain(await server.exited);
    clearInterval(again);
    client.socket.destroy();
  });
});

describe("stdio, told to stop", () => {
  it.each(["SIGTERM", "end of input"])("answers everything it has received, and in full (%s)", async (how) => {
    const { child, exited } = startPressmark(["stdio", files], { cwd: files, env: scratch.env });
    // The first answer shows that it runs; it is not read on, so that answers and questions have to wait.
    child.stdin.write(ask(1, "large.txt"));
    await once(child.stdout, "readable");
    const questions = Array.from({ length: 100 }, (_, index) =>
      ask(index + 2, index % 14 === 0 ? "large.txt" : "small.txt"),
    );
    await new Promise((written) => child.stdin.write(questions.join(""), written));
    if (how === "SIGTERM") child.kill("SIGTERM");
    else child.stdin.end();
    const lines = (await readText(child.stdout)).split("\n");
    expect(lines.pop()).toBe("");
    expect(new Set(lines.map((line) => (JSON.parse(line) as { id: number }).id)).size).toBe(101);
    expect(await exited).toBe(0);
  });
});

function ask(id: number, name: string): string {
  return `${JSON.stringify(modernBody("resources/read", { uri: uriOf(name) }, id))}\n`;
}

interface Answered {
  readonly headers: string;
  readonly body: string;
}

interface Client {
  readonly socket: Socket;
  /** Resolves when the bytes have been handed to the system. */
  send(text: string): Promise<void>;
  /** Resolves once so many bytes have come since the last request was sent. */
  received(bytes: number): Promise<void>;
  until(sign: string): Promise<void>;
  text(): string;
  /** All answers, whole or not, once the server has closed the connection; rejects where the connection was reset. */
  readonly closed: Promise<Answered[]>;
}

const [smallAnswer, largeAnswer] = ["a few words", `${fileBytes} bytes`];

function lengthOf({ headers, body }: Answered): string {
  const length = Number(/^Content-Length: (\d+)/im.exec(headers)?.[1]);
  if (body.length !== length) return `cut after ${body.length} of ${length} bytes`;
  if (!headers.startsWith("HTTP/1.1 200 ")) return headers + body;
  return body.includes("a few words") ? smallAnswer! : body.length > fileBytes ? largeAnswer! : body;
}

/** A connection that has been answered once, and is kept alive. */
async function warmClient(port: number): Promise<Client> {
  const client = await dialed(port, small);
  await client.until("a few words");
  return client;
}

async function dialed(port: number, first: string): Promise<Client> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  const chunks: string[] = [];
  let count = 0;
  let sentAt = 0;
  let look: (() => void) | undefined;
  const all = () => chunks.join("");
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    chunks.push(chunk);
    count += chunk.length;
    look?.();
  });
  const closed = new Promise<Answered[]>((resolve, reject) => {
    socket.on("error", reject).on("close", () => resolve(answersIn(all())));
  });
  closed.catch(() => look?.());
  const when = (isTrue: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      closed.catch(reject);
      look = () => void (isTrue() && resolve());
      look();
    });
  const client: Client = {
    socket,
    async send(bytes) {
      sentAt = count;
      await new Promise<void>((sent, reject) => socket.write(bytes, (error) => (error ? reject(error) : sent())));
    },
    received: (bytes) => when(() => count >= sentAt + bytes),
    until: (sign) => when(() => all().includes(sign)),
    text: all,
    closed,
  };
  await client.send(first);
  return client;
}

function answersIn(text: string): Answered[] {
  const found: Answered[] = [];
  for (let at = 0; at < text.length;) {
    const begin = text.indexOf("\r\n\r\n", at) + 4;
    const headers = text.slice(at, begin === 3 ? undefined : begin);
    const length = begin === 3 ? Infinity : Number(/^Content-Length: (\d+)/im.exec(headers)?.[1] ?? Infinity);
    found.push({ headers, body: begin === 3 ? "" : text.slice(begin, begin + length) });
    at = begin === 3 ? text.length : begin + length;
  }
  return found;
}

function rawRead(name: string): string {
  const uri = uriOf(name);
  return rawPost("resources/read", JSON.stringify(modernBody("resources/read", { uri })), [], uri);
}
