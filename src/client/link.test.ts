import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ResourceError } from "../errors.ts";
import { createReconnecting } from "./reconnect.ts";

const patience = { firstMs: 100, longestMs: 1000 };
const call = { caller: { id: "test" }, signal: new AbortController().signal };

interface Program {
  /** Number of starts. */
  starts: number;
  /** Number of requests that detect the era. */
  probes: number;
  /** True if it exits as soon as it is started. */
  isBroken: boolean;
  /** Ends the running one; resolves when the client knows. */
  exit(): Promise<void>;
}

/** A connection to a server of the older era, as over the pipes of a program, with a clock moved by hand. */
function start(isBroken = true, era: "auto" | "legacy" = "legacy") {
  let nowMs = 0;
  const program: Program = { starts: 0, probes: 0, isBroken, exit: async () => undefined };
  function open(): Transport {
    program.starts += 1;
    const transport: Transport = {
      start: async () => undefined,
      async send(message) {
        if ("method" in message && message.method === "server/discover") program.probes += 1;
        if (program.isBroken) return exit();
        if ("method" in message && "id" in message) answer({ ...message, id: message.id });
      },
      close: async () => exit(),
    };
    function exit(): void {
      transport.onclose?.();
    }
    function answer({ id }: { readonly id: string | number }): void {
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { resources: {} },
        serverInfo: { name: "program", version: "1" },
      };
      transport.onmessage?.({ jsonrpc: "2.0", id, result } satisfies JSONRPCMessage);
    }
    program.exit = async () => {
      exit();
      await new Promise(setImmediate);
    };
    return transport;
  }
  const link = createReconnecting({
    ways: [{ open }],
    era,
    client: { name: "test", version: "1" },
    timeoutMs: 1000,
    patience,
    now: () => nowMs,
  });
  const ask = () =>
    link
      .send(async () => "answered", call)
      .catch((cause: ResourceError) => [cause.kind, cause.details?.["retryAfterMs"]] as const);
  return { program, link, ask, pass: (ms: number) => (nowMs += ms) };
}

it("the era is detected again only after a connection failed", async () => {
  const { program, ask, pass } = start(false, "auto");
  await ask();
  pass(5000);
  await program.exit();
  expect(await ask()).toBe("answered");
  expect([program.starts, program.probes]).toEqual([2, 1]);
  program.isBroken = true;
  pass(5000);
  await program.exit();
  await ask();
  program.isBroken = false;
  pass(1000);
  expect(await ask()).toBe("answered");
  const { probes } = program;
  expect(probes).toBeGreaterThan(1);
  pass(5000);
  await program.exit();
  expect(await ask()).toBe("answered");
  expect(program.probes).toBe(probes);
});

describe("a server that cannot be reached", () => {
  it("is tried twice, and then with growing delays, however many requests there are", async () => {
    const { program, ask, pass } = start();
    const [first] = await Promise.all(Array.from({ length: 20 }, ask));
    expect(first).toEqual(["unavailable", 100]);
    expect(program.starts).toBe(2);
    for (const [index, waitMs] of [100, 200, 400, 800, 1000, 1000].entries()) {
      pass(waitMs - 1);
      expect(await ask()).toEqual(["unavailable", 1]);
      expect(program.starts).toBe(2 + index);
      pass(1);
      const [, retryAfterMs] = (await Promise.all(Array.from({ length: 20 }, ask)))[0] as readonly unknown[];
      expect(retryAfterMs).toBe(Math.min(waitMs * 2, 1000));
      expect(program.starts).toBe(3 + index);
    }
  });

  it("gives the last failure immediately meanwhile", async () => {
    const { link, ask } = start();
    await ask();
    const failure = await link.send(async () => "answered", call, "note://a").catch((cause: ResourceError) => cause);
    expect(failure).toMatchObject({ kind: "unavailable", message: "the server cannot be reached", passing: true });
  });

  it("is used again when it is back, without further action", async () => {
    const { program, ask, pass } = start();
    await ask();
    program.isBroken = false;
    expect(await ask()).toEqual(["unavailable", 100]);
    pass(100);
    expect(await ask()).toBe("answered");
    expect(program.starts).toBe(3);
  });
});

describe("a connection that is lost", () => {
  it("is restored immediately if it had lasted", async () => {
    const { program, ask, pass } = start(false);
    for (let count = 1; count <= 5; count += 1) {
      expect(await ask()).toBe("answered");
      expect(program.starts).toBe(count);
      pass(5000);
      await program.exit();
    }
  });

  it("is restored with growing delays if it had not", async () => {
    const { program, ask, pass } = start(false);
    await ask();
    await program.exit();
    await ask();
    await program.exit();
    expect(await ask()).toEqual(["unavailable", 100]);
    pass(100);
    expect(await ask()).toBe("answered");
    await program.exit();
    expect(await ask()).toEqual(["unavailable", 200]);
    expect(program.starts).toBe(3);
  });
});

it("a request that fails after its call was cancelled leaves no unhandled rejection", async () => {
  const { link } = start(false);
  const unhandled: unknown[] = [];
  const note = (cause: unknown): void => void unhandled.push(cause);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const stop = new AbortController();
  const request = async () => {
    stop.abort();
    throw new Error("too late");
  };
  await expect(link.send(request, { ...call, signal: stop.signal })).rejects.toMatchObject({ kind: "cancelled" });
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
