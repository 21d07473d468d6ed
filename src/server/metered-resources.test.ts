import { expect, it, vi } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { createQuotas, type Quotas } from "../access/quotas.ts";
import { createRulesPolicy } from "../access/rules.ts";
import { cancelled } from "../errors.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import { createResources } from "../router/create-resources.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createMeteredResources } from "./metered-resources.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "pressmark/list-filters": {} } },
};

/** What each request costs a caller who may not see what is below "secret". */
async function costsOf(files: Readonly<Record<string, string>>, requests: readonly (readonly [string, object])[]) {
  const { runtime } = createClock();
  const quotas = createQuotas(runtime);
  quotas.reload({ anyone: { bytesPerMinute: 1e9, entriesPerMinute: 1e9 } });
  let spent: unknown[] = [];
  const counting = {
    ...quotas,
    charge(...cost: Parameters<typeof quotas.charge>) {
      spent.push(cost);
      quotas.charge(...cost);
    },
  };
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source: createMemory(files).source }],
    policy: createRulesPolicy([{ allow: ["anyone"] }, { deny: ["anyone"], paths: ["secret"] }]),
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const protocol = createProtocol({
    resources: createMeteredResources(resources, counting),
    server: { name: "test", version: "1" },
    quotas: counting,
  });
  const costs: unknown[] = [];
  for (const [method, params] of requests) {
    spent = [];
    const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } };
    const peer = { caller: { id: "aki" }, signal: new AbortController().signal };
    await new Promise<void>((end) => {
      protocol.exchange(body, undefined, peer, { notify: () => undefined, end: () => end() });
    });
    costs.push(spent);
  }
  return costs;
}

it("what a caller may not see costs as much as what does not exist", async () => {
  const open = { a: "text", "b/c": "text" };
  const hidden = { ...open, "secret/d": "x".repeat(5000), "secret/e": "y" };
  const requests = [
    ["resources/list", {}],
    ["resources/list", { filter: { namePatterns: ["c"] } }],
    ["resources/directory/read", { uri: "m://" }],
    ["resources/read", { uri: "m://secret/d" }],
    ["resources/directory/read", { uri: "m://secret" }],
    ["resources/templates/list", {}],
  ] as const;
  const costs = await costsOf(hidden, requests);
  expect(costs).toEqual(await costsOf(open, requests));
  expect(costs[0]).toEqual([
    [{ id: "aki" }, "entries", 2],
    [{ id: "aki" }, "bytes", expect.any(Number)],
  ]);
  // What a filter leaves out was examined, too.
  expect(costs[1]).toContainEqual([{ id: "aki" }, "entries", 2]);
});

it("a filtered list that is cancelled costs what was examined", async () => {
  const { runtime } = createClock();
  const { source } = createMemory(Object.fromEntries(Array.from("abcdefgh", (name) => [name, ""])));
  const cancelling = new AbortController();
  let pages = 0;
  const list: Source["list"] = async (request, call) => {
    pages += 1;
    if (pages === 3) {
      cancelling.abort();
      throw cancelled();
    }
    return source.list({ ...request, limit: 2 }, call);
  };
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source: { ...source, list } }],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const charge = vi.fn<Quotas["charge"]>();
  const call = { caller: { id: "aki" }, signal: cancelling.signal };
  const listed = createMeteredResources(resources, { charge }).list({ filter: { namePatterns: ["b", "none"] } }, call);
  await expect(listed).rejects.toMatchObject({ kind: "cancelled" });
  const charged = charge.mock.calls.map(([caller, unit, amount]) => [caller.id, unit, amount]);
  expect(charged).toEqual([["aki", "entries", 4]]);
});
