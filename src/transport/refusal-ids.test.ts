import fc from "fast-check";
import { expect, it } from "vitest";
import { QuotaError } from "../errors.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import type { CallerQuotas } from "../protocol/caller-quotas.ts";
import type { Resources } from "../resources.ts";
import { listen } from "./listen.ts";
import type { ListenOptions } from "./listen.ts";
import { createWireClient, modernHeaders } from "./test-client.ts";
import type { HttpAnswer, HttpRequest } from "./test-client.ts";

interface Refusal {
  readonly status: number;
  readonly options?: Partial<ListenOptions>;
  readonly quotas?: CallerQuotas;
  readonly ask: Omit<HttpRequest, "body">;
  readonly method?: string;
  readonly params?: object;
}

const exhausted = (): never => {
  throw new QuotaError("requests", "too many requests", 1000);
};
const quotas = { refusal: () => undefined, begin: exhausted, listen: exhausted, charge: () => {} };
const denied = { status: 403, message: "this needs the scope files:read", headers: {} };
const session = (id: string) => ({ "Mcp-Session-Id": id });

const refusals: Record<string, Refusal> = {
  "no session": { status: 400, ask: {} },
  "unknown session": { status: 404, ask: { headers: session("gone") } },
  "unsupported revision": {
    status: 400,
    ask: { headers: { ...session("gone"), "MCP-Protocol-Version": "1999-01-01" } },
  },
  "no envelope": { status: 400, ask: { headers: modernHeaders } },
  "wrong method header": { status: 400, ask: { headers: { ...modernHeaders, "Mcp-Method": "tools/list" } } },
  "unacceptable response": { status: 406, ask: { headers: { Accept: "text/html" } } },
  "no scope": { status: 403, options: { authorize: () => denied }, ask: {} },
  "no scope, found out later": { status: 403, options: { authorize: async () => denied }, ask: {} },
  "failed authorization": { status: 500, options: { authorize: () => Promise.reject(new Error("down")) }, ask: {} },
  "no quota": { status: 429, quotas, ask: { headers: modernHeaders } },
  "too many sessions": { status: 503, options: { maxSessions: 0 }, ask: {}, method: "initialize" },
  "too many streams": {
    status: 503,
    options: { maxStreams: 0 },
    ask: { headers: modernHeaders },
    method: "subscriptions/listen",
  },
  "unknown stream of 2024-11-05": { status: 404, ask: { path: "/messages?sessionId=gone" } },
};

const anyId = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "grapheme", maxLength: 40 }));

it.for(Object.entries(refusals))("a refusal has the id of its request: %s", async ([, refusal]) => {
  await using served = await serve(refusal);
  const { method = "resources/list", params = {}, ask, status } = refusal;
  await fc.assert(
    fc.asyncProperty(anyId, async (id) => {
      const answer = await served.ask({ ...ask, body: { jsonrpc: "2.0", id, method, params } });
      expect([answer.status, idIn(answer)]).toEqual([status, id]);
    }),
    { numRuns: 10 },
  );
});

it("a refusal of a notification, a response or a batch has no id", async () => {
  await using served = await serve({ status: 400, ask: {} });
  const bodies = [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    // The id is one that the server gave; the client may have a request of its own with the same.
    { jsonrpc: "2.0", id: 5, result: {} },
    { jsonrpc: "2.0", id: 5, error: { code: 1, message: "" } },
    [{ jsonrpc: "2.0", id: 5, method: "ping" }],
    { jsonrpc: "2.0", id: { not: "an id" }, method: "ping" },
  ];
  for (const body of bodies) {
    const answer = await served.ask({ body });
    expect([answer.status, idIn(answer)]).toEqual([400, null]);
  }
});

function idIn(answer: HttpAnswer): unknown {
  return (answer.json() as { readonly id: unknown }).id;
}

/** No refusal gets as far as the resources. */
async function serve({ options, quotas: limits }: Refusal) {
  const resources = {} as Resources;
  const protocol = createProtocol({ resources, server: { name: "test", version: "1" }, quotas: limits });
  const listening = await listen(protocol, { port: 0, graceMs: 0, quotas: limits, log: () => {}, ...options });
  const client = createWireClient(listening.port);
  return {
    ask: client.ask,
    async [Symbol.asyncDispose]() {
      client.close();
      await listening.close();
    },
  };
}
