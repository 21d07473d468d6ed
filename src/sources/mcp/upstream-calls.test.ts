/** Calls that ask: how long they wait, for whom, and how they end. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { Call, ClientInput, RelayedQuestion } from "../../resources.ts";
import { createUpstreamCalls, type UpstreamCall } from "./upstream-calls.ts";

const able: ClientInput = { clientCapabilities: { elicitation: {}, sampling: {} } };
const form = { method: "elicitation/create", params: { message: "Sure?", requestedSchema: { type: "object" } } };
const accept = { action: "accept", content: {} };

/** Time passes when the test says so. */
function open(timeoutMs = 1000) {
  const timers = new Set<{ dueMs: number; fire(): void }>();
  let nowMs = 0;
  const calls = createUpstreamCalls(timeoutMs, {
    mount: "up",
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = { dueMs: nowMs + ms, fire: resolve };
        timers.add(timer);
        signal.addEventListener("abort", () => {
          timers.delete(timer);
          reject(signal.reason as Error);
        });
      }),
  });
  function pass(ms: number): void {
    nowMs += ms;
    for (const timer of timers) if (timer.dueMs <= nowMs) timer.fire();
  }
  return { ...calls, pass, timers };
}

function callOf(id: string, ended?: AbortSignal): Call {
  return { caller: { id, ...(ended && { ended }) }, signal: new AbortController().signal };
}

const answering = (state: string, inputResponses: Record<string, unknown> = { 1: accept }): ClientInput => ({
  ...able,
  requestState: state,
  inputResponses,
});

/** Asks, and returns the answers. */
const asks = ({ ask }: UpstreamCall) => ask({ sure: form });

function abortable<T>({ signal }: UpstreamCall, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    work.then(resolve, reject);
  });
}

const never = (upstream: UpstreamCall) => abortable(upstream, new Promise<never>(() => {}));

describe("a call that asks", () => {
  it("goes on with the answer, under the name that the server gave its question", async () => {
    const { run, timers } = open();
    const asked = (await run("tool a", able, callOf("ann"), asks)) as RelayedQuestion;
    expect(asked.inputRequests).toEqual({
      1: { method: "elicitation/create", params: { ...form.params, message: "up: Sure?" } },
    });
    expect(await run("tool a", answering(asked.requestState), callOf("ann"), never)).toEqual({ sure: accept });
    expect(timers.size).toBe(0);
  });

  it("ends at the other server if nobody answers in time", async () => {
    const { run, pass, timers } = open();
    const ended = Promise.withResolvers<unknown>();
    const asked = (await run("tool a", able, callOf("ann"), async (upstream) => {
      await asks(upstream).catch(ended.resolve);
      expect(upstream.signal.aborted).toBe(true);
    })) as RelayedQuestion;
    pass(10 * 60_000);
    expect(await ended.promise).toMatchObject({ kind: "cancelled" });
    const late = run("tool a", answering(asked.requestState), callOf("ann"), asks);
    await expect(late).rejects.toMatchObject({ kind: "invalid" });
    expect(timers.size).toBe(0);
  });

  it("ends with its caller", async () => {
    const { run } = open();
    const ended = new AbortController();
    const stopped = Promise.withResolvers<unknown>();
    await run("tool a", able, callOf("ann", ended.signal), async (upstream) => {
      await asks(upstream).catch(stopped.resolve);
    });
    ended.abort();
    expect(await stopped.promise).toMatchObject({ kind: "cancelled" });
  });

  it("that ended meanwhile gives its result to the caller who comes back", async () => {
    const { run } = open();
    const end = Promise.withResolvers<string>();
    const asked = (await run("tool a", able, callOf("ann"), (upstream) => {
      upstream.ask({ sure: form }).catch(() => undefined);
      return end.promise;
    })) as RelayedQuestion;
    end.resolve("too late");
    expect(await run("tool a", answering(asked.requestState), callOf("ann"), never)).toBe("too late");
  });

  it("for nothing goes on at once", async () => {
    const { run } = open();
    expect(await run("tool a", able, callOf("ann"), ({ ask }) => ask({}))).toEqual({});
  });

  it("without an answer to its question fails", async () => {
    const { run } = open();
    const asked = (await run("tool a", able, callOf("ann"), asks)) as RelayedQuestion;
    const call = run("tool a", answering(asked.requestState, { other: accept }), callOf("ann"), never);
    await expect(call).rejects.toMatchObject({ kind: "invalid" });
  });

  it("is refused when its caller has ten others that wait, and others are not", async () => {
    const { run } = open();
    for (let count = 0; count < 10; count += 1) await run("tool a", able, callOf("ann"), asks);
    await expect(run("tool a", able, callOf("ann"), asks)).rejects.toMatchObject({ kind: "busy" });
    expect(await run("tool a", able, callOf("ben"), asks)).toHaveProperty("requestState");
  });

  it.each([
    ["a form, without the capability", {}, form],
    ["a form, with URLs only", { elicitation: { url: {} } }, form],
    ["a URL", { elicitation: { url: {} } }, { ...form, params: { mode: "url", url: "https://example.org" } }],
    ["sampling with tools", { sampling: {} }, { method: "sampling/createMessage", params: { tools: [] } }],
    ["roots", { roots: {} }, { method: "roots/list" }],
  ])("for %s is refused", async (_what, clientCapabilities, request) => {
    const { run } = open();
    const call = run("tool a", { clientCapabilities }, callOf("ann"), ({ ask }) => ask({ x: request }));
    await expect(call).rejects.toMatchObject({ kind: "unsupported" });
  });
});

describe("a call", () => {
  it("has a time limit, which progress restarts", async () => {
    const { run, pass } = open(1000);
    const begun = Promise.withResolvers<UpstreamCall>();
    const told: unknown[] = [];
    const call = { ...callOf("ann"), progress: (...done: unknown[]) => void told.push(done) };
    const running = run("tool a", able, call, (upstream) => {
      begun.resolve(upstream);
      return never(upstream);
    });
    const refused = expect(running).rejects.toMatchObject({ kind: "unavailable" });
    const { progress, signal } = await begun.promise;
    pass(900);
    progress(1, 2, "half");
    await Promise.resolve();
    pass(900);
    await Promise.resolve();
    expect(signal.aborted).toBe(false);
    pass(100);
    await refused;
    expect(told).toEqual([[1, 2, "half"]]);
  });

  it("ends when the mount closes", async () => {
    const { run, close } = open();
    const running = run("tool a", able, callOf("ann"), never);
    close();
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("declares no more than forms and sampling", () => {
    const methods: string[] = [];
    const { prepare, capabilities } = open();
    prepare({ setRequestHandler: (method: string) => void methods.push(method) } as unknown as Client);
    expect(capabilities).toEqual({ elicitation: { form: {} }, sampling: {} });
    expect(methods).toEqual(["elicitation/create", "sampling/createMessage"]);
  });
});

/** A connection of the older era, and how its server asks. */
function openOlder() {
  const { prepare, ...calls } = open();
  type Handler = (request: { params: object }) => Promise<unknown>;
  const handlers = new Map<string, Handler>();
  const client = {
    getProtocolEra: () => "legacy",
    setRequestHandler: (method: string, handler: Handler) => void handlers.set(method, handler),
  } as unknown as Client;
  prepare(client);
  /** Starts a call that stays at the other server. */
  const start = (id: string, signal = new AbortController().signal) =>
    calls.run("tool a", able, { caller: { id }, signal }, (upstream) => {
      upstream.uses(client);
      return never(upstream);
    });
  return { ...calls, client, start, ask: () => handlers.get(form.method)!({ params: form.params }) };
}

describe("a question of a server of the older era", () => {
  it("is for the caller whose call runs", async () => {
    const { start, ask } = openOlder();
    const called = start("ann");
    ask().catch(() => undefined);
    expect(await called).toHaveProperty("requestState");
  });

  it("is for nobody while something else is done for another caller", async () => {
    const { start, ask, meanwhile } = openOlder();
    const called = start("ann");
    await meanwhile({ caller: { id: "ben" } }, () => expect(ask()).rejects.toThrow("not known who should answer"));
    await meanwhile({ caller: { id: "ann" } }, async () => {
      ask().catch(() => undefined);
      expect(await called).toHaveProperty("requestState");
    });
  });

  it("is for nobody if it may belong to a call that another caller cancelled", async () => {
    const { start, ask } = openOlder();
    const stop = new AbortController();
    const left = start("ann", stop.signal);
    stop.abort();
    await expect(left).rejects.toMatchObject({ kind: "cancelled" });
    start("ben").catch(() => undefined);
    await expect(ask()).rejects.toThrow("not known who should answer");
  });

  it("is for the next caller when a cancelled call was ten minutes ago", async () => {
    const { start, ask, pass } = openOlder();
    const stop = new AbortController();
    const left = start("ann", stop.signal);
    stop.abort();
    await expect(left).rejects.toMatchObject({ kind: "cancelled" });
    pass(10 * 60_000);
    await Promise.resolve();
    const called = start("ben");
    ask().catch(() => undefined);
    expect(await called).toHaveProperty("requestState");
  });

  it("is for nobody if the connection is of the newer era, whose servers ask in results", async () => {
    const { start, ask, client } = openOlder();
    client.getProtocolEra = () => "modern";
    start("ann").catch(() => undefined);
    await expect(ask()).rejects.toThrow("not known who should answer");
  });
});

it("a caller who cancels while another question waits gets no question, and holds no place", async () => {
  const { run, timers } = open();
  let askMore: (() => unknown) | undefined;
  const asked = (await run("tool a", able, callOf("ann"), (upstream) => {
    askMore = () => upstream.ask({ more: form }).catch(() => undefined);
    asks(upstream).catch(() => undefined);
    return never(upstream);
  })) as RelayedQuestion;
  askMore?.();
  const gone = { ...callOf("ann"), signal: AbortSignal.abort() };
  await expect(run("tool a", answering(asked.requestState, {}), gone, never)).rejects.toMatchObject({
    kind: "cancelled",
  });
  expect(timers.size).toBe(0);
});
