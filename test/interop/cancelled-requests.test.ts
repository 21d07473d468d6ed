/** Official clients cancel a request of a session over HTTP: they see no error, and do not come back for the response. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { createGate } from "../e2e/fixtures.ts";
import { base, openTestServer } from "../e2e/harness.ts";

/** How much of the official clients the scenarios use. */
interface OfficialClient {
  readResource(params: { uri: string }, options?: object): Promise<unknown>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const info = { name: "interop", version: "1.0.0" };
const clients: Record<string, (url: URL, fetch: typeof globalThis.fetch) => Promise<OfficialClient>> = {
  async v1(url, fetch) {
    const client = new ClientV1(info);
    await client.connect(new HttpV1(url, { fetch }));
    return client;
  },
  async v2(url, fetch) {
    const client = new ClientV2(info, { versionNegotiation: { mode: "legacy" } });
    await client.connect(new HttpV2(url, { fetch }));
    return client;
  },
};

describe.for(Object.entries(clients))("SDK client %s", ([, open]) => {
  async function visit() {
    const gate = createGate();
    const pressmark = await openTestServer({ templates: [gate.template], http: { retryMs: 1 } });
    const resumed: number[] = [];
    const answers: string[] = [];
    const errors: string[] = [];
    const client = await open(new URL(pressmark.url), async (url, init) => {
      const response = await fetch(url, init);
      const text = typeof init?.body === "string" ? init.body : "";
      if (new Headers(init?.headers).has("last-event-id")) resumed.push(response.status);
      if (text.includes("resources/read")) answers.push(`${response.status} ${response.headers.get("content-type")}`);
      return response;
    });
    Object.assign(client, { onerror: (error: Error) => errors.push(String(error)) });
    /** Long enough for a client to come back several times. */
    const pingOften = async () => {
      for (let count = 0; count < 50; count += 1) await client.ping();
    };
    const dispose = async () => {
      await client.close();
      await pressmark[Symbol.asyncDispose]();
    };
    return { gate, client, resumed, answers, errors, pingOften, [Symbol.asyncDispose]: dispose };
  }

  it("cancels a request before anything was sent", async () => {
    await using visited = await visit();
    const { gate, client, errors, answers, resumed, pingOften } = visited;
    const controller = new AbortController();
    const reading = client.readResource({ uri: `${base}gated/a` }, { signal: controller.signal });
    const refused = expect(reading).rejects.toThrow();
    await gate.entered("a");
    controller.abort();
    await refused;
    await gate.cancelled("a");
    await pingOften();
    expect({ errors, resumed }).toEqual({ errors: [], resumed: [] });
    // A client may also have closed its connection.
    for (const answer of answers) expect(answer).toBe("200 text/event-stream");
  });

  it("cancels a request after progress was sent", async () => {
    await using visited = await visit();
    const { gate, client, errors, resumed, pingOften } = visited;
    const controller = new AbortController();
    const heard = Promise.withResolvers<void>();
    const options = { signal: controller.signal, onprogress: () => heard.resolve() };
    const reading = client.readResource({ uri: `${base}gated/a` }, options);
    const refused = expect(reading).rejects.toThrow();
    await heard.promise;
    controller.abort();
    await refused;
    await gate.cancelled("a");
    await pingOften();
    expect(errors).toEqual([]);
    expect([[], [204]]).toContainEqual(resumed);
  });
});
