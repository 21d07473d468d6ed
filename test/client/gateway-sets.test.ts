/** Sets of a server behind a gateway: what is in them, under the rules of the gateway. */
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { Policy } from "../../src/access/policy.ts";
import { gather } from "../../src/context/gather.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Resources } from "../../src/resources.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { base, callOf, createSetServer } from "../../src/server/sets/test-sets.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import mcp from "../../src/sources/mcp.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { listen } from "../../src/transport/listen.ts";

const sampleContents = {
  "docs/house.md": "What stands where.\n",
  "docs/style.md": "How.\n",
  "secrets/key.md": "hidden\n",
};
const resources = ["docs/style.md", "secrets/key.md", "docs/house.md"].map((path) => base + path);
const uri = "mcp://far/set:%2F%2Fonboarding";
const there = (path: string) => `mcp://far/memory:%2F%2Fm/${path}`;
const discreet: Policy = { maySee: ({ id }, _mount, { path }) => id === "owner" || !path.includes("/secrets") };

let gateway: Resources;
beforeEach(async () => {
  const sets = [
    { name: "onboarding", resources },
    { name: "closed", resources: [`${base}secrets/key.md`] },
  ];
  const pressmark = createSetServer({ sampleContents, sets, zed: true });
  const edge = createProtocol({ resources: pressmark.resources, server: { name: "far", version: "1" } });
  const listening = await listen(edge, { port: 0, graceMs: 0 });
  const runtime = createRuntime({ write: () => true });
  const source = await mcp.open(mcp.options(z).parse({ url: listening.url }), runtime);
  const near = createResources({
    mounts: [{ name: "far", base: "mcp://far/", source }],
    policy: discreet,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  onTestFinished(async () => {
    await near.close();
    listening.server.closeAllConnections();
    await listening.close();
    await pressmark[Symbol.asyncDispose]();
  });
  gateway = near;
});

it("gathering puts in what is in it, also where the task names it", async () => {
  const packed = await gather(gateway, { include: [uri], budget: 2000 }, callOf("reader"));
  expect(packed.items.map((item) => item.uri)).toEqual([there("docs/style.md"), there("docs/house.md")]);
  expect(JSON.stringify(packed)).not.toContain("secrets");
  const { receipt } = await gather(gateway, { task: `read ${uri} first`, budget: 2000 }, callOf("owner"));
  expect(receipt.included.filter(({ why }) => why.includes(`is in ${uri}, which was requested`))).toHaveLength(3);
});

it("nothing of it names what the caller may not see", async () => {
  const { contents } = await gateway.read(uri, callOf("reader"));
  expect(contents.map((content) => content.uri)).toEqual([there("docs/style.md"), there("docs/house.md")]);
  expect((await gateway.read(uri, callOf("owner"))).contents).toHaveLength(3);
  await refusal(gateway.read("mcp://far/zed:%2F%2Fprompt-library", callOf("owner")), ["not-found"], "zed");
  const { items } = await gateway.list({}, callOf("owner"));
  expect(items.map((item) => item.uri)).not.toContain("mcp://far/zed:%2F%2Fprompt-library");
});
