/** The gateway as it is served, with its index: what subscribers hear, and what becomes of a program that cannot start. */
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import type { Call } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { openNotes } from "../client/notes.ts";
import { serve, type Serving } from "../interop/command.ts";

const timeout = 60_000;

function caller(): Call {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { caller: { id: "test" }, signal: stop.signal };
}

/** A config with one mount, "far", and where its processes keep their state and their index. */
async function configure(options: object): Promise<{ config: string; state: string; folder: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "pressmark-gateway-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, "pressmark.config.json");
  await writeFile(config, JSON.stringify({ mounts: { far: { source: "mcp", ...options } } }));
  return { config, state: join(folder, "state"), folder };
}

async function started(served: { config: string; state: string }): Promise<Serving> {
  const serving = await serve(served);
  onTestFinished(() => serving.kill());
  return serving;
}

async function connected(serving: Serving, era: "modern" | "legacy" = "modern"): Promise<RemoteServer> {
  const pressmark = await connect(serving.url, { era });
  onTestFinished(() => pressmark.close());
  return pressmark;
}

/** Reads the status of the index again and again, until it is so. */
async function untilIndex(pressmark: RemoteServer, isSo: (status: Record<string, unknown>) => boolean): Promise<void> {
  for (const call = caller(); ;) {
    const [content] = (await pressmark.read("pressmark://index/status", call)).contents;
    const text = content && "text" in content.body ? content.body.text : "{}";
    if (isSo(JSON.parse(text) as Record<string, unknown>)) return;
    await new Promise(setImmediate);
  }
}

it(
  "subscribers of a gateway hear of updates before and after the index of their process watches",
  { timeout },
  async () => {
    await using notes = await openNotes({ a: "1", b: "1" });
    const served = await configure({ url: notes.url });
    const uri = `mcp://far/${notes.uriOf("a").replace(/^(\w+:)\/\//, "$1%2F%2F")}`;
    const first = await started(served);
    const second = await started(served);

    /** Each subscriber, and how often it has heard of an update. */
    const subscribers: { count(): number; more(than: number): Promise<void> }[] = [];
    async function subscribe(serving: Serving, era: "modern" | "legacy"): Promise<void> {
      const { heard, until } = collectChanges(
        await (await connected(serving, era)).watch({ uris: [uri], list: true }, caller()),
      );
      const isUpdate = (index: number) => heard[index]?.kind === "updated";
      subscribers.push({
        count: () => heard.length,
        more: (than) => until((_, index) => index >= than && isUpdate(index), `an update of ${uri}`),
      });
    }
    let version = 1;
    async function expectHeard(): Promise<void> {
      const before = subscribers.map(({ count }) => count());
      notes.set("a", String((version += 1)));
      await Promise.all(subscribers.map(({ more }, index) => more(before[index] as number)));
    }

    await subscribe(first, "modern");
    await expectHeard();
    await subscribe(second, "modern");
    await expectHeard();

    const [one, other] = [await connected(first), await connected(second)];
    await one.search({ text: "note", limit: 1 }, caller());
    await untilIndex(one, ({ state, keptHere }) => keptHere === true && state === "complete");
    await subscribe(first, "legacy");
    await expectHeard();

    await other.search({ text: "note", limit: 1 }, caller());
    await untilIndex(other, ({ state, keptHere }) => keptHere === false && state === "complete");
    await subscribe(second, "legacy");
    await expectHeard();

    // The index passes to the process that is left, which begins to watch for it.
    subscribers.splice(0);
    await first.kill();
    await subscribe(second, "modern");
    await untilIndex(other, ({ state, keptHere }) => keptHere === true && state === "complete");
    await expectHeard();
    await subscribe(second, "legacy");
    await expectHeard();
  },
);

/** Exits at once until a file says that it is fixed, and counts its starts in another. */
const program = `
  const fs = require("node:fs");
  const [starts, fixed] = process.argv.slice(1);
  fs.appendFileSync(starts, "x");
  if (!fs.existsSync(fixed)) process.exit(1);
  const list = { resources: [{ uri: "note://tea", name: "tea" }] };
  const read = { contents: [{ uri: "note://tea", text: "green tea" }] };
  const serverInfo = { name: "program", version: "1" };
  const answers = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo },
    "resources/list": list,
    "resources/read": read,
    "resources/templates/list": { resourceTemplates: [] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const error = { code: -32601, message: "Method not found" };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answers[method] ? { result: answers[method] } : { error }) }));
  });`;

/** How many attempts there can have been in this time: two at once, and then with 250 ms between them, 500, 1000 … */
function mostAttempts(ms: number): number {
  let attempts = 2;
  for (let [waitMs, atMs] = [250, 250]; atMs <= ms; atMs += waitMs = Math.min(waitMs * 2, 30_000)) attempts += 1;
  return attempts;
}

it.each([
  // It may have exited because of the request that detects the era, so it is started once more.
  { era: "auto", startsPerAttempt: 2 },
  { era: "legacy", startsPerAttempt: 1 },
])(
  "a program that exits at once is started by one supervisor, and is back when it is fixed ($era)",
  { timeout },
  async ({ era, startsPerAttempt }) => {
    const { folder, ...served } = await configure({});
    const [starts, fixed] = [join(folder, "starts"), join(folder, "fixed")];
    const far = { source: "mcp", command: process.execPath, args: ["-e", program, starts, fixed], era };
    await writeFile(served.config, JSON.stringify({ mounts: { far } }));
    const beganMs = performance.now();
    const pressmark = await connected(await started(served));
    const call = caller();
    await pressmark.search({ text: "tea", limit: 1 }, call);
    for (let round = 0; round < 10; round += 1) {
      const asked = Array.from({ length: 5 }, () => pressmark.list({}, call));
      const watch = pressmark.watch({ list: true }, call);
      for (const { failures } of await Promise.all(asked)) expect(failures).toMatchObject([{ mount: "far" }]);
      await pressmark.templates({}, call);
      await watch;
    }
    await untilIndex(pressmark, ({ mounts }) => JSON.stringify(mounts).includes("failing"));
    const count = (await readFile(starts, "utf8")).length;
    expect(count).toBeLessThanOrEqual(startsPerAttempt * mostAttempts(performance.now() - beganMs));

    await writeFile(fixed, "");
    const { until } = collectChanges(await pressmark.watch({ list: true }, call));
    await until(({ kind }) => kind === "list-changed", "that the list changed");
    let page = await pressmark.list({}, call);
    while (page.items.length === 0) page = await pressmark.list({}, call);
    expect(page.items.map(({ uri }) => uri)).toEqual(["mcp://far/note:%2F%2Ftea"]);
    await untilIndex(pressmark, ({ state }) => state === "complete");
    expect((await pressmark.search({ text: "tea", limit: 1 }, call)).hits).toHaveLength(1);
  },
);
