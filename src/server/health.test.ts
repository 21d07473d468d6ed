/** Readiness that a test of the whole server cannot reach: dates of the certificate, a server with nothing to serve, and the passage of time. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { lastingFailure } from "../errors.ts";
import type { Runtime, Source } from "../source.ts";
import { createHealth } from "./health.ts";
import type { ServedMount } from "./locate.ts";
import { createMountHealth } from "./mount-health.ts";
import { createRuntime } from "./runtime.ts";
import type { SharedHealthSource } from "./shared-health.ts";
import type { ServerIndex } from "./server-index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Nothing is searched. */
const index: Pick<ServerIndex, "ready" | "role" | "status"> = {
  ready: () => undefined,
  role: "starting",
  status: undefined,
};

const empty: Source = { list: async () => ({ items: [] }), read: async () => [] };
const mountOf = (source: Source): ServedMount => ({ name: "notes", base: "notes://", source });
const quiet = createRuntime({ write: () => true });

interface Given {
  readonly mounts?: readonly ServedMount[];
  readonly certificate?: { readonly validFrom: number; readonly validTo: number };
  readonly shared?: SharedHealthSource;
}

async function ready({ mounts = [mountOf(empty)], certificate, shared }: Given) {
  const runtime = { ...quiet, now: () => 1000 };
  const health = createHealth({
    server: {
      mounts,
      faulty: [],
      index: index as ServerIndex,
      health: createMountHealth({ mounts: () => mounts, runtime }),
      shared,
    },
    certificate: () => certificate,
    isOwner: async () => true,
    runtime,
  });
  const server = createServer((request, response) => health.find(request.url!)!(request, response, true));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { headers: { Connection: "close" } });
  const seen = (await response.json()) as { readonly state: string; readonly notReady: readonly { part: string }[] };
  return { status: response.status, ...seen };
}

const sharedWith = (isConnected: boolean, databaseProblem?: string): SharedHealthSource => ({
  instance: "ada:1:0",
  databaseProblem,
  bus: { status: { engine: "nats", isConnected, lag: 0, gaps: 0, published: 0, received: 0 } },
});

const sharedParts = ({ notReady }: Awaited<ReturnType<typeof ready>>) =>
  notReady.filter(({ part }) => part === "database" || part === "bus");

describe("readiness", () => {
  it("is degraded by a certificate that has expired or is not valid yet, because a balancer may not check it", async () => {
    expect(await ready({ certificate: { validFrom: 0, validTo: 1000 } })).toMatchObject({
      status: 200,
      state: "degraded",
      notReady: expect.arrayContaining([{ part: "certificate", state: "expired" }]) as unknown,
    });
    expect(await ready({ certificate: { validFrom: 1001, validTo: 2000 } })).toMatchObject({
      status: 200,
      state: "degraded",
      notReady: expect.arrayContaining([{ part: "certificate", state: "not valid yet" }]) as unknown,
    });
    expect(await ready({ certificate: { validFrom: 0, validTo: 2000 } })).toMatchObject({ state: "ready" });
  });

  it("is degraded while the shared database or the bus is away, and requests still come", async () => {
    const whole = await ready({ shared: sharedWith(true) });
    expect([whole, sharedParts(whole)]).toMatchObject([{ status: 200, state: "ready" }, []]);
    const away = await ready({ shared: sharedWith(false, "the database does not respond") });
    expect(away).toMatchObject({ status: 200, ready: true, state: "degraded" });
    expect(sharedParts(away)).toEqual([
      { part: "database", state: "failing", problem: "the database does not respond" },
      { part: "bus", state: "failing", problem: "NATS is not connected; clients are told of changes once it is" },
    ]);
  });

  it("ends when no mount is served", async () => {
    expect(await ready({ mounts: [] })).toEqual({
      status: 503,
      ready: false,
      state: "not ready",
      notReady: [{ part: "server", state: "nothing to serve" }],
    });
  });
});

describe("the health of mounts", () => {
  it("is checked again only when it is old, and not while a check runs", async () => {
    let nowMs = 0;
    const runtime: Runtime = { ...quiet, monotonicMs: () => nowMs };
    const answers: PromiseWithResolvers<{ items: [] }>[] = [];
    const source: Source = {
      ...empty,
      list() {
        answers.push(Promise.withResolvers());
        return answers.at(-1)!.promise;
      },
    };
    const mount = mountOf(source);
    const health = createMountHealth({ mounts: () => [mount], runtime });
    const heard = Promise.withResolvers<void>();
    const stop = new AbortController();
    health.follow(heard.resolve, stop.signal);
    for (nowMs of [0, 50, 100, 200]) health.refresh(100);
    expect(answers).toHaveLength(1);
    expect(health.stateOf(mount)).toEqual({ state: "checking" });
    answers[0]!.reject(lastingFailure("it is gone"));
    await heard.promise;
    stop.abort();
    expect(health.stateOf(mount)).toMatchObject({ state: "failing", problem: "it is gone" });
    for (nowMs of [250, 299, 300, 350]) health.refresh(100);
    expect(answers).toHaveLength(2);
  });
});
