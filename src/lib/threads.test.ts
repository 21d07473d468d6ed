import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { createThreads, ThreadOverrun, type ThreadsOptions } from "./threads.ts";

const module = new URL("./test-thread-worker.ts", import.meta.url);
const opened: { close(): void }[] = [];

function open(options: Partial<ThreadsOptions> = {}) {
  const threads = createThreads({ name: "test", max: 1, deadlineMs: 15_000, maxMiB: 64, ...options });
  opened.push(threads);
  return threads;
}

afterAll(() => opened.forEach((threads) => threads.close()));

describe("threads", () => {
  it("call an exported function and return its result", async () => {
    expect(await open().use(module, (call) => call("add", 1, 2))).toBe(3);
  });

  it("pass an error on with its message, and can be used again", async () => {
    const threads = open();
    await expect(threads.use(module, (call) => call("fail", "no such day"))).rejects.toThrow("no such day");
    expect(await threads.use(module, (call) => call("add", 1, 2))).toBe(3);
  });

  it("reserve one thread for one work until it settles", async () => {
    const threads = open();
    const first = threads.use(module, async (call) => {
      await call("count");
      return call("count");
    });
    const second = threads.use(module, (call) => call("count"));
    expect([await first, await second]).toEqual([2, 3]);
  });

  it("end a call that takes too long, and start a new thread for the next", async () => {
    const threads = open({ deadlineMs: 2000 });
    await expect(threads.use(module, (call) => call("neverEnd"))).rejects.toThrow(ThreadOverrun);
    expect(await threads.use(module, (call) => call("add", 1, 2))).toBe(3);
  });

  it("end a call that takes too much memory", async () => {
    await expect(open().use(module, (call) => call("hoard"))).rejects.toThrow(ThreadOverrun);
  });

  it("run several calls of one work in order", async () => {
    const counted = await open().use(module, (call) => Promise.all([call("count"), call("add", 1, 2), call("count")]));
    expect(counted).toEqual([1, 3, 2]);
  });

  it("release a cancelled caller immediately, and serve the next as soon as the deadline has ended the running call", async () => {
    const threads = open({ deadlineMs: 2000 });
    const stop = new AbortController();
    const running = threads.use(module, (call) => call("neverEnd"), stop.signal);
    const waiting = threads.use(module, (call) => call("add", 1, 2));
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(await waiting).toBe(3);
  });

  it("reject running calls when they are closed", async () => {
    const threads = open();
    const running = threads.use(module, (call) => call("neverEnd"));
    await Promise.resolve();
    threads.close();
    await expect(running).rejects.toThrow("closed");
  });

  it("do not keep the process alive while they are idle", () => {
    const script = `
      const { createThreads } = await import(${JSON.stringify(new URL("./threads.ts", import.meta.url).href)});
      const threads = createThreads({ name: "test", max: 1, deadlineMs: 15_000, maxMiB: 64, idleMs: 600_000 });
      console.log(await threads.use(new URL(${JSON.stringify(module.href)}), (call) => call("add", 1, 2)));
    `;
    const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      timeout: 20_000,
      encoding: "utf8",
    });
    expect({ stdout, signal }).toEqual({ stdout: "3\n", signal: null });
  });
});
