import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createEmbeddings, type EmbeddingLimits } from "./embeddings.ts";

interface Asked {
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly body: { readonly model: string; readonly input: readonly string[]; readonly encoding_format: string };
}

type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | "hang up";

/** A fake embeddings endpoint: the vector of a text is its length and the number of its vowels. */
let server: Server;
let asked: Asked[];
/** Responses to send first, in order, before it behaves normally. */
let instead: Reply[];
let url: string;
const never = new AbortController().signal;
const key = "sk-secret-key";

beforeEach(async () => {
  asked = [];
  instead = [];
  server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Asked["body"];
    asked.push({ path: request.url, key: request.headers.authorization, body });
    const reply = instead.shift();
    if (reply === "hang up") return void request.socket.destroy();
    const data = body.input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }));
    response.writeHead(reply?.status ?? 200, { "content-type": "application/json", ...reply?.headers });
    // Only the index gives their order.
    const list = { object: "list", data: data.toReversed(), model: body.model };
    response.end(JSON.stringify(reply && "body" in reply ? reply.body : list));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function vectorOf(text: string): number[] {
  return [text.length, text.match(/[aeiou]/g)?.length ?? 0];
}

function open(limits: EmbeddingLimits = {}, apiKey: string | undefined = key) {
  const waits: number[] = [];
  const { runtime } = createClock();
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  return { waits, ...createEmbeddings({ url, model: "small", apiKey }, { ...runtime, wait }, limits) };
}

describe("embeddings", () => {
  it("are requested in the OpenAI format, and returned in the order of the texts", async () => {
    const vectors = await open().embed(["tea", "a cup of milk"], never);
    expect(vectors.map((vector) => [...vector])).toEqual(["tea", "a cup of milk"].map(vectorOf));
    expect(asked).toEqual([
      {
        path: "/v1/embeddings",
        key: `Bearer ${key}`,
        body: { model: "small", input: ["tea", "a cup of milk"], encoding_format: "float" },
      },
    ]);
  });

  it("need no key", async () => {
    await createEmbeddings({ url: `${url}/`, model: "small" }, createClock().runtime).embed(["tea"], never);
    expect(asked[0]).toMatchObject({ path: "/v1/embeddings", key: undefined });
  });

  it("of many texts are requested in batches, and long texts are cut", async () => {
    const texts = [...Array.from({ length: 150 }, (_, at) => `text ${at}`), "x".repeat(10_000), "", "\ud83d"];
    const vectors = await open().embed(texts, never);
    expect(vectors).toHaveLength(texts.length);
    expect(vectors[149]).toEqual(Float32Array.from(vectorOf("text 149")));
    expect(asked.length).toBeGreaterThan(2);
    for (const { body } of asked) for (const text of body.input) expect(text.length).toBeGreaterThan(0);
    expect(Math.max(...asked.flatMap(({ body }) => body.input.map(({ length }) => length)))).toBeLessThan(10_000);
  });

  it("are requested again, with growing delays, after a passing error", async () => {
    instead = [{ status: 429, headers: { "retry-after": "7" } }, { status: 503 }, "hang up"];
    const { embed, waits } = open();
    expect(await embed(["tea"], never)).toHaveLength(1);
    expect(asked).toHaveLength(4);
    expect(waits[0]).toBeGreaterThan(5000);
    expect(waits[1]).toBeLessThan(waits[2]!);
  });

  it.each([
    [{ status: 401 }, { kind: "denied", message: expect.stringContaining("search.embeddings.apiKey") }],
    [{ status: 404 }, { kind: "invalid", message: expect.stringContaining("search.embeddings.model") }],
    [{ status: 302, headers: { location: "http://127.0.0.1:1/" } }, { kind: "unavailable" }],
    [{ body: { data: [] } }, { kind: "unexpected" }],
    [{ body: { data: [{ index: 0, embedding: [1, "x"] }] } }, { kind: "unexpected" }],
    [{ body: { data: [{ index: 5, embedding: [1] }] } }, { kind: "unexpected" }],
    [{ body: null }, { kind: "unexpected" }],
    [{ body: "tea" }, { kind: "unexpected" }],
  ] as const)("are not to be had where the endpoint answers %j", async (reply, expected) => {
    instead = [reply];
    const failure: unknown = await open({ retries: 0 })
      .embed(["my secret text"], never)
      .catch((cause: unknown) => cause);
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/secret/);
  });

  it("fail for an endpoint that does not respond, and for one that does not exist", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const at = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const limits = { retries: 0, timeoutMs: 20 };
    const { runtime } = createClock();
    await expect(
      createEmbeddings({ url: at, model: "m" }, runtime, limits).embed(["tea"], never),
    ).rejects.toMatchObject({
      kind: "unavailable",
      message: "the embeddings endpoint cannot be reached; check search.embeddings.url",
    });
    silent.closeAllConnections();
    silent.close();
    await once(silent, "close");
    await expect(
      createEmbeddings({ url: at, model: "m" }, runtime, limits).embed(["tea"], never),
    ).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  it("are cancelled with the signal", async () => {
    await expect(open().embed(["tea"], AbortSignal.abort())).rejects.toMatchObject({ kind: "cancelled" });
  });
});
