/** Whether the reader of a response is still there to answer a request of the server. */
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Reply } from "../protocol/protocol.ts";
import { beginSession } from "./test-session.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import { type FakeServer, serveFake } from "./test-server.ts";

const call = { jsonrpc: "2.0", id: 7, method: "tools/call" };
const asking = wireOf({ jsonrpc: "2.0", id: "ask", method: "elicitation/create" });

/** A server whose next request is not answered, and the reply to it. */
async function serveCall(returnMs: number): Promise<{ served: FakeServer; called: Promise<Reply> }> {
  const called = Promise.withResolvers<Reply>();
  const served = await serveFake(
    {
      receive: (message, reply) =>
        message.method === "initialize" ? reply.end(resultOf(message)) : called.resolve(reply),
    },
    { returnMs },
  );
  return { served, called: called.promise };
}

const lostOf = (reply: Reply): AbortSignal => reply.lost?.() ?? AbortSignal.abort("no signal");
const untilAborted = async (signal: AbortSignal) => void (signal.aborted || (await once(signal, "abort")));

afterEach(() => void vi.useRealTimers());

describe("a response that may carry requests of the server", () => {
  it("is not one to a client that accepts nothing but JSON", async () => {
    const { served, called } = await serveCall(1);
    const { headers } = await beginSession(served);
    const answered = served.ask({ headers: { ...headers, Accept: "application/json" }, body: call });
    const reply = await called;
    expect([reply.takesNotice, lostOf(reply).aborted]).toEqual([false, true]);
    reply.end(resultOf(call));
    expect((await answered).headers["content-type"]).toBe("application/json");
  });

  it("is lost when its reader has left, and found again when the reader is back", async () => {
    const { served, called } = await serveCall(1);
    const session = await beginSession(served, "2025-11-25");
    const opening = served.listen({ headers: session.headers, body: call });
    const reply = await called;
    const lost = lostOf(reply);
    const reader = await opening;
    const first = await reader.next();
    expect([reply.takesNotice, lost.aborted]).toEqual([true, false]);
    reader.hangUp();
    await untilAborted(lost);
    expect(lostOf(reply).aborted).toBe(true);

    const back = await session.listen(first?.id);
    const again = lostOf(reply);
    expect(again.aborted).toBe(false);
    back.hangUp();
    await untilAborted(again);
  });

  it("is not lost while its reader is away for a moment: the request is sent again", async () => {
    const { served, called } = await serveCall(60_000);
    const session = await beginSession(served, "2025-11-25");
    const opening = served.listen({ headers: session.headers, body: call });
    const reply = await called;
    const lost = lostOf(reply);
    void reply.notify(asking);
    const reader = await opening;
    const first = await reader.next();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    reader.hangUp();
    while (vi.getTimerCount() === 0) await new Promise(setImmediate);
    const back = await session.listen(first?.id);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(JSON.parse((await back.next())?.data ?? "")).toMatchObject({ id: "ask" });
    expect(lost.aborted).toBe(false);
    reply.end(resultOf(call));
    expect(await back.rest()).toHaveLength(1);
  });
});
