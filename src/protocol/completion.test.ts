import { expect, it } from "vitest";
import { createProtocol } from "./create-protocol.ts";
import { createResources } from "../router/create-resources.ts";
import { openPolicy } from "../access/policy.ts";
import { createClock } from "../testing/clock.ts";

it("suggestions that are left out of a response set hasMore, whatever their source reports", async () => {
  const values = Array.from({ length: 150 }, (_, at) => `value ${at}`);
  const { runtime } = createClock();
  const edge = createProtocol({
    resources: createResources({ mounts: [], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) }),
    server: { name: "test", version: "1" },
    prompts: [
      {
        name: "ask",
        get: () => Promise.resolve({ messages: [] }),
        complete: () => Promise.resolve({ values, more: false }),
      },
    ],
  });
  const params = {
    ref: { type: "ref/prompt", name: "ask" },
    argument: { name: "what", value: "" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const body = { jsonrpc: "2.0", id: 1, method: "completion/complete", params };
  const peer = { caller: { id: "me" }, signal: new AbortController().signal };
  const wire = await new Promise<unknown>((end) => edge.exchange(body, undefined, peer, { notify: () => {}, end }));
  const { result } = JSON.parse(String(wire)) as { result: unknown };
  expect(result).toMatchObject({ completion: { values: values.slice(0, 100), hasMore: true } });
});

it("a prompt gets the caller and the signal for its suggestions", async () => {
  const { runtime } = createClock();
  const edge = createProtocol({
    resources: createResources({ mounts: [], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) }),
    server: { name: "test", version: "1" },
    prompts: {
      list: async () => [],
      find: async (name, { caller }) => ({
        name,
        get: async () => ({ messages: [] }),
        complete: async (argument, value, given, call) => ({
          values: [argument, value, String(given["city"]), call.caller.id, caller.id, String(call.signal.aborted)],
        }),
      }),
    },
  });
  const params = {
    ref: { type: "ref/prompt", name: "ask" },
    argument: { name: "what", value: "w" },
    context: { arguments: { city: "kyoto" } },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const body = { jsonrpc: "2.0", id: 1, method: "completion/complete", params };
  const peer = { caller: { id: "ada" }, signal: new AbortController().signal };
  const wire = await new Promise<unknown>((end) => edge.exchange(body, undefined, peer, { notify: () => {}, end }));
  const { result } = JSON.parse(String(wire)) as { result: unknown };
  expect(result).toMatchObject({ completion: { values: ["what", "w", "kyoto", "ada", "ada", "false"] } });
});
