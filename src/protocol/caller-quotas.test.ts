import { expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { createQuotas, type QuotaSettings } from "../access/quotas.ts";
import type { Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createProtocol } from "./create-protocol.ts";
import type { WireBytes } from "./protocol.ts";

const text = (wire: WireBytes | undefined) =>
  wire?.map((piece) => Buffer.from(piece as string).toString()).join("") ?? "";
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A protocol over one resource, with requests of one caller. */
function open(settings: QuotaSettings, own: Partial<Resources> = {}) {
  const clock = createClock();
  const quotas = createQuotas(clock.runtime);
  quotas.reload(settings);
  const local = createResources({
    mounts: [{ name: "m", base: "m://", source: createMemory({ a: "text" }).source }],
    policy: openPolicy,
    runtime: clock.runtime,
    cursorKey: new Uint8Array(32),
  });
  const protocol = createProtocol({
    resources: { ...local, ...own },
    server: { name: "test", version: "1" },
    quotas,
  });
  function send(body: object, signal = new AbortController().signal, id = "aki") {
    const answered = Promise.withResolvers<{ status?: number; retryAfterMs?: number; text: string }>();
    protocol.exchange(
      { jsonrpc: "2.0", id: 7, ...body },
      undefined,
      { caller: { id }, signal },
      {
        notify: () => undefined,
        end: (wire, status, retryAfterMs) => answered.resolve({ status, retryAfterMs, text: text(wire) }),
      },
    );
    return answered.promise;
  }
  const read = (signal?: AbortSignal, id?: string) =>
    send({ method: "resources/read", params: { uri: "m://a", _meta: meta } }, signal, id);
  return { protocol, quotas, clock, send, read, local };
}

it("a caller runs no more requests at the same time than allowed; a cancelled one makes room when its work has ended", async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const { read, local } = open(
    { anyone: { concurrentReads: 2 } },
    {
      async read(uri, call) {
        const turn = Promise.withResolvers<void>();
        begun.push(turn);
        await turn.promise;
        return local.read(uri, call);
      },
    },
  );
  const leaving = new AbortController();
  const [first, second] = [read(leaving.signal), read()];
  expect(await read()).toMatchObject({
    status: 429,
    retryAfterMs: 1000,
    text: expect.stringContaining("concurrentReads"),
  });
  const other = read(undefined, "bo");
  leaving.abort();
  // The work of the cancelled request still runs.
  expect(await read()).toMatchObject({ status: 429 });
  expect(begun).toHaveLength(3);
  begun[0]!.resolve();
  await first;
  const third = read();
  for (const turn of begun) turn.resolve();
  await Promise.all([second, other].map(async (each) => expect((await each).text).toContain('"text":"text"')));
  begun[3]!.resolve();
  expect((await third).text).toContain('"text":"text"');
});

it("a refused request reaches no handler, and the next one passes at the time that was said", async () => {
  let reads = 0;
  const { read, clock, local } = open(
    { anyone: { requestsPerMinute: 2 } },
    {
      read(uri, call) {
        reads += 1;
        return local.read(uri, call);
      },
    },
  );
  await read();
  await read();
  const refused = await read();
  expect(refused).toMatchObject({ status: 429, retryAfterMs: 30_000 });
  expect(JSON.parse(refused.text)).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: {
      code: -32603,
      message: "the quota of 2 requests per minute is used up; try again in 30 s",
      data: { reason: "quota", quota: "requestsPerMinute", retryAfterMs: 30_000 },
    },
  });
  expect(reads).toBe(2);
  await clock.advance(refused.retryAfterMs!);
  expect((await read()).status).toBeUndefined();
  expect(reads).toBe(3);
});

it("bytes are those of the response, whatever was read", async () => {
  const { read, send, quotas } = open({ anyone: { bytesPerMinute: 10_000 } });
  const answers = [await read(), await send({ method: "nonsense", params: { _meta: meta } })];
  const bytes = answers.reduce((sum, answer) => sum + Buffer.byteLength(answer.text), 0);
  // One byte must be left.
  quotas.charge({ id: "aki" }, "bytes", 10_000 - bytes - 1);
  expect(quotas.refusal({ id: "aki" })).toBeUndefined();
  quotas.charge({ id: "aki" }, "bytes", 1);
  expect(quotas.refusal({ id: "aki" })).toMatchObject({ quota: "bytesPerMinute" });
});
