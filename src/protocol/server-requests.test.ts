import { afterEach, describe, expect, it, vi } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { createResources } from "../router/create-resources.ts";
import { createClock } from "../testing/clock.ts";
import { createProtocol } from "./create-protocol.ts";
import type { InputRequest, InputRequired } from "./input-required.ts";
import type { Reply, WireBytes } from "./protocol.ts";
import type { Tool, ToolCall, ToolResult } from "./tools.ts";

interface Message {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly result: unknown;
  readonly error: unknown;
}

const form: InputRequest = {
  method: "elicitation/create",
  params: { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } },
};
const link: InputRequest = {
  method: "elicitation/create",
  params: { mode: "url", message: "Sign in", url: "https://example.com/" },
};
const sample: InputRequest = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const useTools: InputRequest = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } };
const roots: InputRequest = { method: "roots/list" };
const accepted = { action: "accept", content: { name: "Ada" } };
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const say = (text: string): ToolResult => ({ content: [{ type: "text", text }] });

/** A protocol with one tool, which repeats what it was told. */
function serve(respond: (request: ToolCall) => ToolResult | InputRequired) {
  const call: Tool["call"] = async (_args, request) => respond(request);
  const resources = createResources({
    mounts: [],
    policy: openPolicy,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
  const edge = createProtocol({
    resources,
    server: { name: "test", version: "1" },
    tools: [{ name: "ask", description: "Asks", inputSchema: { type: "object" }, call }],
  });

  return function open(revision = "2025-11-25", capabilities: object = everything) {
    const peer = { caller: { id: "me" }, signal: new AbortController().signal, send: () => {} };
    const session = edge.session(peer, { modern: true });
    let lastId = 0;

    function send(body: unknown, own: Partial<Reply> = {}) {
      const said: Message[] = [];
      const answered = Promise.withResolvers<Message | Message[] | undefined>();
      const parse = (wire: WireBytes) => JSON.parse(wire.join("")) as Message;
      const reply: Reply = {
        notify: (wire) => void said.push(parse(wire)),
        end: (wire) => answered.resolve(wire && parse(wire)),
        ...own,
      };
      session.receive(body, reply);
      return { said, answer: answered.promise };
    }

    send({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: revision, capabilities } });
    return {
      session,
      send,
      call(own?: Partial<Reply>) {
        const id = ++lastId;
        const called = send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "ask" } }, own);
        return { ...called, id, result: called.answer.then((answer) => (answer as Message | undefined)?.result) };
      },
      respond: (id: unknown, response: object = { result: accepted }) => send({ jsonrpc: "2.0", id, ...response }),
    };
  };
}

/** Asks these in one round, then repeats the responses. */
const askOnce =
  (inputRequests: Record<string, InputRequest>) =>
  ({ inputResponses }: ToolCall) =>
    inputResponses ? say(JSON.stringify(inputResponses)) : { inputRequests };

/** Resolves as soon as this many messages were sent. */
async function until(said: readonly Message[], count: number): Promise<void> {
  await vi.waitFor(() => expect(said.length).toBeGreaterThanOrEqual(count), { interval: 1 });
}

const failed = (text: string) => ({ isError: true, content: [{ text: expect.stringContaining(text) as string }] });
const cancelled = (requestId: string) => ({
  method: "notifications/cancelled",
  params: { requestId, reason: expect.any(String) as string },
});

afterEach(() => void vi.useRealTimers());

describe("a tool that requires input in a session", () => {
  it("is called again with the responses under its keys and its own state", async () => {
    const seen: ToolCall[] = [];
    const client = serve((request) => {
      seen.push(request);
      if (request.inputResponses) return say("done");
      return { inputRequests: { who: form, where: roots }, requestState: "mine" };
    })();
    const { said, result } = client.call();
    await until(said, 2);
    expect(said).toMatchObject([form, roots]);
    client.respond(said[1]!.id, { result: { roots: [{ uri: "file:///a", extra: 1 }] } });
    client.respond(said[0]!.id, { error: null, result: { action: "decline", content: null } });
    expect(await result).toMatchObject(say("done"));
    expect(seen).toMatchObject([
      { inputResponses: undefined, requestState: undefined },
      {
        inputResponses: { who: { action: "decline" }, where: { roots: [{ uri: "file:///a", extra: 1 }] } },
        requestState: "mine",
      },
    ]);
    expect(new Set(said.map(({ id }) => id)).size).toBe(2);
  });

  it.each([
    ["fails to answer", everything, true],
    ["cannot answer", {}, false],
  ])("is told, by a cancelled call with its state, that the client %s", async (_why, capabilities, isAsked) => {
    const seen: ToolCall[] = [];
    const client = serve((request) => {
      seen.push(request);
      return { inputRequests: { who: form }, requestState: "held" };
    })(undefined, capabilities);
    const { said, answer } = client.call();
    if (isAsked) {
      await until(said, 1);
      client.respond(said[0]!.id, { error: { code: -32000, message: "no" } });
    }
    await answer;
    expect(seen).toMatchObject([{ requestState: undefined }, { requestState: "held", inputResponses: {} }]);
    expect(seen.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  });

  it("is called again with its state alone if it asks nothing", async () => {
    const client = serve(({ requestState }) => (requestState ? say(requestState) : { requestState: "later" }))();
    expect(await client.call().result).toMatchObject(say("later"));
  });

  it("that asks for ever is stopped after some rounds", async () => {
    const client = serve(() => ({ inputRequests: { again: form } }))();
    const { said, result } = client.call();
    for (let round = 1; round <= 8; round++) {
      await until(said, round);
      client.respond(said.at(-1)!.id);
    }
    expect(await result).toMatchObject(failed("after 8 rounds"));
    expect(said).toHaveLength(8);
  });
});

/** The requests that the client received, or the error. */
const asked = async (revision: string, capabilities: object, request: InputRequest, own?: Partial<Reply>) => {
  const client = serve(askOnce({ it: request }))(revision, capabilities);
  const { said, answer } = client.call(own);
  await Promise.race([answer, until(said, 1)]);
  return said[0] ? said[0].params : ((await answer) as Message).error;
};
const refusal = (name: string) => ({
  code: -32603,
  message: expect.stringContaining(`cannot give: ${name}`) as string,
});

describe("who is asked", () => {
  it.each([
    ["2025-06-18", { elicitation: {} }, form],
    ["2025-06-18", { elicitation: { url: {} } }, form],
    ["2025-11-25", { elicitation: {} }, form],
    ["2025-11-25", { elicitation: { form: {} } }, form],
    ["2025-11-25", { elicitation: { url: {} } }, link],
    ["2025-11-25", { sampling: { tools: {} } }, useTools],
    ["2025-03-26", { sampling: {} }, sample],
    ["2024-11-05", { sampling: {} }, sample],
  ])("in %s with %j: yes", async (revision, capabilities, request) => {
    const { mode, ...params } = request.params!;
    expect(await asked(revision, capabilities, request)).toEqual({
      ...params,
      ...(mode !== undefined && revision >= "2025-11-25" && { mode }),
      ...(mode === "url" && { elicitationId: expect.any(String) as string }),
    });
  });

  it.each([
    ["2025-11-25", {}, form, "elicitation"],
    ["2025-11-25", { elicitation: { url: {} } }, form, "elicitation"],
    ["2025-11-25", { elicitation: {} }, link, "elicitation"],
    ["2025-06-18", { elicitation: { url: {} } }, link, "elicitation"],
    ["2025-03-26", { elicitation: {} }, form, "elicitation"],
    ["2025-11-25", { sampling: {} }, useTools, "sampling"],
    ["2025-06-18", { sampling: { tools: {} } }, useTools, "sampling"],
    ["2025-11-25", { elicitation: {} }, roots, "roots"],
  ])("in %s with %j: no", async (revision, capabilities, request, name) => {
    expect(await asked(revision, capabilities, request)).toEqual(refusal(name));
  });

  it("not a client that takes nothing but the response", async () => {
    expect(await asked("2025-11-25", everything, form, { takesNotice: false })).toMatchObject({
      message: expect.stringContaining("text/event-stream") as string,
    });
  });
});

describe("a response", () => {
  it("of another session, to nothing, malformed or repeated is ignored", async () => {
    const open = serve(askOnce({ who: form }));
    const [client, stranger] = [open(), open()];
    const { said, result } = client.call();
    const other = stranger.call();
    await until(said, 1);
    await until(other.said, 1);
    const { id } = said[0]!;
    for (let count = 0; count < 1000; count++) expect(await stranger.respond(id).answer).toBeUndefined();
    for (const wrong of ["nobody", 1, null, {}]) expect(await client.respond(wrong).answer).toBeUndefined();
    expect(await client.respond(id, { result: { ...accepted, own: true } }).answer).toBeUndefined();
    client.respond(id);
    expect(await result).toMatchObject(say(JSON.stringify({ who: { ...accepted, own: true } })));
    client.respond(id);
    expect([said.length, other.said.length]).toEqual([1, 1]);
  });

  it("may come in a batch, where the revision has them", async () => {
    const client = serve(askOnce({ one: roots, two: roots }))("2025-03-26");
    const { said, result } = client.call();
    await until(said, 2);
    const batch = said.map(({ id }) => ({ jsonrpc: "2.0", id, result: { roots: [] } }));
    expect(await client.send(batch).answer).toBeUndefined();
    expect(await result).toMatchObject(say(JSON.stringify({ one: { roots: [] }, two: { roots: [] } })));
  });

  it.each<[string, InputRequest, object, string]>([
    [
      "an error",
      form,
      { error: { code: -1, message: "no\nthanks" } },
      String.raw`elicitation/create with an error: "no\nthanks"`,
    ],
    ["an error of any shape", form, { error: 7 }, "elicitation/create with an error"],
    ["no result", form, { result: null }, "malformed"],
    ["another action", form, { result: { action: "maybe" } }, "malformed"],
    ["nested content", form, { result: { action: "accept", content: { a: { b: 1 } } } }, "malformed"],
    ["a message without content", sample, { result: { role: "assistant", model: "m" } }, "malformed"],
    ["roots without URIs", roots, { result: { roots: [{ uri: 1 }] } }, "malformed"],
    ["too much", form, { result: { action: "accept", content: { a: "x".repeat(5e6) } } }, "4194304 characters"],
  ])("with %s ends the call, and what else was asked is cancelled", async (_what, request, response, message) => {
    const client = serve(askOnce({ it: request, other: roots }))();
    const { said, result } = client.call();
    await until(said, 2);
    client.respond(said[0]!.id, response);
    expect(await result).toMatchObject(failed(message));
    expect(said.slice(2)).toMatchObject([cancelled(said[1]!.id)]);
  });
});

describe("a client that does not answer", () => {
  it("is waited for ten minutes (LEG-32)", async () => {
    vi.useFakeTimers();
    const client = serve(askOnce({ who: form }))();
    const { said, result } = client.call();
    await vi.advanceTimersByTimeAsync(599_000);
    expect(said).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await result).toMatchObject(failed("did not answer elicitation/create within 10 minutes"));
    expect(said.slice(1)).toMatchObject([cancelled(said[0]!.id)]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has at most 16 requests to answer, and can still be served", async () => {
    const client = serve(askOnce({ who: form }))();
    const calls = Array.from({ length: 16 }, () => client.call());
    await Promise.all(calls.map(({ said }) => until(said, 1)));
    expect(await client.call().result).toMatchObject(failed("at most 16 requests"));
    client.respond(calls[0]!.said[0]!.id);
    expect(await calls[0]!.result).toMatchObject(say(JSON.stringify({ who: accepted })));
    await until(client.call().said, 1);
  });

  it("and cancels the call is told that the question is cancelled too", async () => {
    const client = serve(askOnce({ who: form }))();
    const { said, id, answer } = client.call();
    await until(said, 1);
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    expect(await answer).toBeUndefined();
    expect(said.slice(1)).toMatchObject([cancelled(said[0]!.id)]);
  });

  it("leaves nothing behind when its session ends", async () => {
    vi.useFakeTimers();
    const client = serve(askOnce({ who: form }))();
    const { said, answer } = client.call();
    await vi.advanceTimersByTimeAsync(0);
    expect(said).toHaveLength(1);
    client.session.close();
    expect(await answer).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("and whose stream is lost ends the call, before and after it was asked", async () => {
    const client = serve(askOnce({ who: form }))();
    const gone = new AbortController();
    const { said, result } = client.call({ lost: () => gone.signal });
    await until(said, 1);
    gone.abort();
    expect(await result).toMatchObject(failed("disconnected"));
    const late = client.call({ lost: () => gone.signal });
    expect(await late.result).toMatchObject(failed("disconnected"));
    expect(late.said).toEqual([]);
  });
});
