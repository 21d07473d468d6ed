import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Source, Runtime } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { collectChanges } from "../../testing/listen.ts";
import gdrive from "../gdrive.ts";

const pollMs = 123_456;
const renewMs = 60_000;
const quietMs = 200;

let fake: FakeDrive;
let source: Source;
let proxy: Server;
let stop: AbortController;
let endpointPort = Promise.withResolvers<number>();
/** Ends a wait of this length, as soon as there is one. */
let pass: (ms: number) => Promise<void>;
let nowMs: number;

/** Stands for the proxy between Google and this machine, and forwards every notification. */
async function startProxy(): Promise<string> {
  proxy = createServer((request, response) => {
    void endpointPort.promise.then((port) => {
      const { url = "/", method, headers } = request;
      const inner = ask({ host: "127.0.0.1", port, path: url, method, headers }, (result) => {
        response.writeHead(result.statusCode ?? 500);
        result.pipe(response);
      });
      inner.on("error", () => response.writeHead(502).end());
      request.pipe(inner);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/calls`;
}

function createWorld(): Runtime {
  const waits = new Set<{ readonly ms: number; end(): void }>();
  pass = async (ms) => {
    const found = () => [...waits].find((wait) => wait.ms === ms);
    while (!found()) await new Promise((resolve) => setImmediate(resolve));
    found()!.end();
  };
  return {
    env: process.env,
    now: () => nowMs,
    monotonicMs: () => nowMs,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        const wait = {
          ms,
          end() {
            waits.delete(wait);
            resolve();
          },
        };
        const leave = (): void => {
          waits.delete(wait);
          reject(signal.reason);
        };
        if (signal.aborted) return leave();
        waits.add(wait);
        signal.addEventListener("abort", leave, { once: true });
      }),
    log(_level, message, facts) {
      if (message === "receiving notifications of Google Drive") endpointPort.resolve(Number(facts?.["port"]));
    },
  };
}

beforeEach(async () => {
  nowMs = Date.now();
  stop = new AbortController();
  endpointPort = Promise.withResolvers();
  fake = await startFakeDrive();
  fake.addDrive("team", "Team");
  fake.put("a", { content: "1" });
  fake.put("t", { content: "1", driveId: "team" });
  const url = await startProxy();
  const options = gdrive
    .options(z)
    .parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl, push: { url, port: 0 } });
  source = await gdrive.open({ ...options, pollMs }, createWorld());
});
afterEach(async () => {
  stop.abort();
  await source.close?.();
  await fake.close();
  proxy.close();
  proxy.closeAllConnections();
});

const watch = async () => collectChanges(await source.watch!({ caller: { id: "test" }, signal: stop.signal }));
const looks = () => fake.asked.filter((line) => line.startsWith("GET /drive/v3/changes?")).length;

/** Resolves when Drive has confirmed the channels of all logs. */
async function opened(): Promise<void> {
  while (fake.webhooks.channels.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(await fake.webhooks.settled()).toEqual([204, 204]);
}

describe("a Drive with notifications", () => {
  it("has each log's changes reported immediately, without polling, and its channels closed in the end", async () => {
    const heard = await watch();
    await opened();
    const before = looks();
    fake.put("a", { content: "2" });
    await pass(quietMs);
    await heard.until((change) => change.kind === "changed" && change.path === "file/a", "what changed");
    fake.put("t", { content: "2" });
    await pass(quietMs);
    await heard.until((change) => change.kind === "changed" && change.path === "file/t", "what changed in the team");
    // One for each log, for each of the two notifications.
    expect(looks() - before).toBe(4);
    stop.abort();
    await source.close?.();
    expect(fake.webhooks.channels).toEqual([]);
  });

  it("is checked once for a hundred notifications", async () => {
    const heard = await watch();
    await opened();
    const before = looks();
    for (let count = 0; count < 100; count += 1) fake.put(`n${count}`, { content: "x" });
    const answers = await fake.webhooks.settled();
    expect(answers).toHaveLength(102);
    expect(new Set(answers)).toEqual(new Set([204]));
    await pass(quietMs);
    for (let count = 0; count < 100; count += 1)
      await heard.until((change) => change.kind === "appeared" && change.path === `file/n${count}`, `n${count}`);
    // In each log.
    expect(looks() - before).toBe(2);
  });

  it.each(["twice", "reorder"] as const)("that notifies %s still has each change reported", async (how) => {
    const heard = await watch();
    await opened();
    fake.webhooks.treat(how);
    for (const id of ["x", "y"]) fake.put(id, { content: "1" });
    await fake.webhooks.settled();
    await pass(quietMs);
    for (const id of ["x", "y"])
      await heard.until((change) => change.kind === "appeared" && change.path === `file/${id}`, id);
  });

  it("that sends none is polled anyway", async () => {
    const heard = await watch();
    await opened();
    fake.webhooks.treat("drop");
    fake.put("a", { content: "2" });
    await pass(pollMs);
    await heard.until((change) => change.kind === "changed" && change.path === "file/a", "what changed");
  });

  it("is distinguished from other callers", async () => {
    await watch();
    await opened();
    const before = looks();
    const { token } = fake.webhooks.channels[0]!;
    const url = `http://127.0.0.1:${await endpointPort.promise}`;
    const headers = { "X-Goog-Resource-State": "change" };
    const call = async (path: string, init: RequestInit) => (await fetch(url + path, init)).status;
    expect(await call("/calls", { method: "POST", headers })).toBe(404);
    expect(await call("/calls", { method: "POST", headers: { ...headers, "X-Goog-Channel-Token": `${token}x` } })).toBe(
      404,
    );
    expect(await call("/calls", { headers: { ...headers, "X-Goog-Channel-Token": token } })).toBe(404);
    expect(await call("/", { method: "POST", headers: { ...headers, "X-Goog-Channel-Token": token } })).toBe(404);
    expect(looks()).toBe(before);
    expect(token).toHaveLength(43);
  });

  it("gets a channel for every log that accepts one", async () => {
    fake.fail([403, "pushNotSupported"], { where: "/changes/watch" });
    await watch();
    while (fake.webhooks.channels.length < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(fake.webhooks.channels.map(({ log }) => log)).toEqual(["team"]);
    await pass(renewMs);
    while (fake.webhooks.channels.length < 2) await new Promise((resolve) => setImmediate(resolve));
  });

  it("gets new channels before the old ones expire", async () => {
    await watch();
    await opened();
    const before = fake.webhooks.channels.map(({ id }) => id);
    nowMs += 6 * 86_400_000 - 1_800_000;
    await pass(renewMs);
    while (fake.webhooks.channels.some(({ id }) => before.includes(id)))
      await new Promise((resolve) => setImmediate(resolve));
    expect(fake.webhooks.channels.map(({ log }) => log).sort()).toEqual(["", "team"]);
  });
});
