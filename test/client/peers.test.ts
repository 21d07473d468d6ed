/** The client with servers that others built. */
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, type ConnectOptions, type RemoteServer } from "../../src/client/connect.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import { walkPages } from "../../src/client/walk-pages.ts";
import { openPolicy } from "../../src/access/policy.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import mcp from "../../src/sources/mcp.ts";
import type { Call, Page, PageRequest } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { everything, openFastmcp, openSdkV1, openSdkV2, type Peer } from "./peers.ts";

let stop = new AbortController();
const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

async function all<T>(page: (ask: PageRequest, call: Call) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of walkPages((ask) => page(ask, call()))) items.push(item);
  return items;
}

async function textOf(pressmark: RemoteServer, uri: string): Promise<unknown> {
  const [content] = (await pressmark.read(uri, call())).contents;
  return content?.body;
}

interface Leg {
  readonly name: string;
  readonly options: ConnectOptions;
  readonly revision: string;
  open(): Promise<Peer>;
  readonly watches: boolean;
}

const legs: readonly Leg[] = [
  { name: "the SDK v1", open: openSdkV1, options: {}, revision: "2025-11-25", watches: true },
  { name: "the SDK v2", open: openSdkV2, options: {}, revision: "2026-07-28", watches: true },
  {
    name: "the SDK v2 in the older era",
    open: openSdkV2,
    options: { era: "legacy" },
    revision: "2025-11-25",
    // It has no sessions there: it takes subscriptions, and has no stream to tell of changes on.
    watches: false,
  },
  { name: "fastmcp", open: openFastmcp, options: {}, revision: "2025-11-25", watches: true },
];

for (const { name, open, options, revision, watches } of legs)
  describe(`a server built with ${name}`, () => {
    it("is listed, read and completed, and says what is not there", async () => {
      await using peer = await open();
      const pressmark = await connect(peer.url, options);
      expect(pressmark.server).toMatchObject({ revision, instructions: "Greet." });
      expect((await all(pressmark.list)).map(({ uri }) => uri)).toEqual(["greeting://world"]);
      const [template] = await all(pressmark.templates);
      expect(template).toMatchObject({ uriTemplate: "greeting://planets/{planet}" });
      expect(await textOf(pressmark, "greeting://world")).toEqual({ text: "hello" });
      expect(await textOf(pressmark, "greeting://planets/mars")).toEqual({ text: "hello mars" });
      const ask = { template: "greeting://planets/{planet}", variable: "planet", value: "m", given: {} };
      expect((await pressmark.complete(ask, call())).values).toEqual(["mars", "mercury"]);
      expect(await pressmark.stat("greeting://world", call())).toMatchObject({ name: "world", mimeType: "text/plain" });
      await refusal(pressmark.read("greeting://nowhere", call()), ["not-found"], "greeting://nowhere");
      await refusal(pressmark.stat("greeting://nowhere", call()), ["not-found"], "greeting://nowhere");
      await refusal(pressmark.search({ text: "hello", limit: 1 }, call()), ["unsupported"], "search");
      await pressmark.close();
    });

    if (watches)
      it("is heard when something changes", async () => {
        await using peer = await open();
        const pressmark = await connect(peer.url, options);
        const { until } = collectChanges(await pressmark.watch({ uris: ["greeting://world"] }, call()));
        peer.change?.("good morning");
        await until(({ kind }) => kind === "updated", "that the greeting changed");
        expect(await textOf(pressmark, "greeting://world")).toEqual({ text: "good morning" });
        await pressmark.close();
      });
    else
      it("is not said to be watched, because it does not say when something changes", async () => {
        await using peer = await open();
        const pressmark = await connect(peer.url, options);
        await refusal(pressmark.watch({ uris: ["greeting://world"] }, call()), ["unsupported"], "watch");
        await pressmark.close();
      });
  });

describe("the reference server", () => {
  it("is started as a program, listed as a tree, completed and watched", async () => {
    const pressmark = await connectProgram(everything);
    const listed = await all(pressmark.list);
    expect(listed.map(({ uri }) => uri)).toContain("demo://resource/static/document/extension.md");
    const { items } = await pressmark.children("demo://resource/static", {}, call());
    expect(items).toEqual([{ uri: "demo://resource/static/document", name: "document", mimeType: "inode/directory" }]);
    await refusal(pressmark.read("demo://resource/nowhere", call()), ["not-found"], "demo://resource/nowhere");
    const ask = {
      template: "demo://resource/dynamic/text/{resourceId}",
      variable: "resourceId",
      value: "7",
      given: {},
    };
    expect((await pressmark.complete(ask, call())).values).toEqual(["7"]);
    const uri = "demo://resource/dynamic/text/1";
    expect((await pressmark.watch({ uris: [uri] }, call())).uris).toEqual([uri]);
    await pressmark.close();
  });
});

describe("the reference server behind a gateway", () => {
  it("is listed, read, completed and watched under the gateway's URIs", async () => {
    const runtime = createRuntime({ write: () => true });
    const options = mcp.options(z).parse({ command: everything.command, args: everything.args });
    const mount = { name: "far", base: "mcp://far/", source: await mcp.open(options, runtime) };
    const pressmark = createResources({ mounts: [mount], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
    const start = "mcp://far/demo:%2F%2Fresource/";
    const uris = (await all(pressmark.list)).map(({ uri }) => uri);
    expect(uris).toContain(`${start}static/document/extension.md`);
    for (const uri of uris) expect((await pressmark.read(uri, call())).contents[0]?.uri).toBe(uri);
    const template = `${start}dynamic/text/{resourceId}`;
    expect((await all(pressmark.templates)).map(({ uriTemplate }) => uriTemplate)).toContain(template);
    const ask = { template, variable: "resourceId", value: "7", given: {} };
    expect((await pressmark.complete(ask, call())).values).toEqual(["7"]);
    await refusal(pressmark.read(`${start}nowhere`, call()), ["not-found"], "nowhere");
    const uri = `${start}dynamic/text/7`;
    expect((await pressmark.watch({ uris: [uri] }, call())).uris).toEqual([uri]);
    await pressmark.close();
  });
});
