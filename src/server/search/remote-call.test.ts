import { expect, it } from "vitest";
import { ResourceError } from "../../errors.ts";
import { createRemoteAnswerer, createRemoteCaller } from "./remote-call.ts";

const never = new AbortController().signal;

/** Both sides, with messages cloned as between threads. */
function connect(answer: (question: string, signal: AbortSignal) => Promise<unknown>) {
  const answerer = createRemoteAnswerer<string, unknown>((reply) => caller.hear(structuredClone(reply)), answer);
  const caller = createRemoteCaller<string, unknown>((message) => void answerer.hear(structuredClone(message)));
  return { caller, answerer };
}

it("answers each call with its own answer, in any order", async () => {
  const slow = Promise.withResolvers<void>();
  const { caller } = connect(async (question) => {
    if (question === "slow") await slow.promise;
    return `${question}!`;
  });
  const first = caller.call("slow", never);
  expect(await caller.call("fast", never)).toBe("fast!");
  slow.resolve();
  expect(await first).toBe("slow!");
});

it("passes on the kind and the message of an error, and nothing of an unexpected one", async () => {
  const { caller } = connect(async (question) => {
    if (question === "busy") throw new ResourceError("busy", "later", { passing: true, cause: () => 1 });
    if (question === "uncloneable") return () => 1;
    throw new TypeError("secret");
  });
  await expect(caller.call("busy", never)).rejects.toMatchObject({ kind: "busy", message: "later", passing: true });
  await expect(caller.call("other", never)).rejects.toMatchObject({ kind: "unexpected" });
  await expect(caller.call("other", never)).rejects.not.toThrow("secret");
  await expect(caller.call("uncloneable", never)).rejects.toMatchObject({ kind: "unexpected" });
});

it("cancels on the other side what is cancelled here, and asks nothing that already is", async () => {
  const asked: AbortSignal[] = [];
  const { caller } = connect(async (_, signal) => {
    asked.push(signal);
    return new Promise(() => undefined);
  });
  const stop = new AbortController();
  const call = caller.call("a", stop.signal);
  stop.abort();
  await expect(call).rejects.toMatchObject({ kind: "cancelled" });
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  await expect(caller.call("b", stop.signal)).rejects.toMatchObject({ kind: "cancelled" });
  expect(asked).toHaveLength(1);
});

it("rejects all calls when the other side is gone, and cancels all when this side is", async () => {
  const asked: AbortSignal[] = [];
  const { caller, answerer } = connect(async (_, signal) => {
    asked.push(signal);
    return new Promise(() => undefined);
  });
  const calls = [caller.call("a", never), caller.call("b", never)];
  answerer.cancelAll();
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, true]);
  caller.failAll(new ResourceError("unavailable", "gone"));
  for (const call of calls) await expect(call).rejects.toMatchObject({ kind: "unavailable" });
});
