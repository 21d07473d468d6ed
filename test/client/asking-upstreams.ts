/** Servers of both eras whose tools ask the user, report progress, wait to be cancelled, and change. */
import { createMcpHandler, inputRequired, McpServer as ModernServer } from "@modelcontextprotocol/server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { serveFetch, serveSessions } from "./peers.ts";

export interface AskingUpstream extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the call of "wait" was cancelled. */
  readonly cancelled: Promise<void>;
  /** Adds the tool and the prompt "late", and says so. */
  change(): void;
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }] });
const form = {
  message: "Which colour?",
  requestedSchema: { type: "object" as const, properties: { colour: { type: "string" as const } } },
};
const sample = {
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "A word, please." } }],
  maxTokens: 10,
};
const seen = { readOnlyHint: true };

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** The official SDK, version 1, with sessions. */
export async function openOlderAsking(): Promise<AskingUpstream> {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const { sessions, ...rest } = await serveSessions(() => {
    const mcp = new McpServer({ name: "asking", version: "1" });
    mcp.registerTool("ask", { annotations: seen }, async () => {
      const { action, content } = await mcp.server.elicitInput(form);
      return say(`${action} ${String(content?.["colour"])}`);
    });
    mcp.registerTool("think", { annotations: seen }, async () => {
      const { content } = await mcp.server.createMessage(sample);
      return say(JSON.stringify(content));
    });
    mcp.registerTool("wait", { annotations: seen }, async ({ signal, _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined)
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2, message: "half" },
        });
      await untilAborted(signal);
      resolve();
      return say("cancelled");
    });
    mcp.registerPrompt("hello", { argsSchema: { name: z.string() } }, ({ name }) => ({
      messages: [{ role: "user", content: { type: "text", text: `hello ${name}` } }],
    }));
    return mcp;
  });
  return {
    ...rest,
    cancelled,
    change() {
      for (const mcp of sessions()) {
        mcp.registerTool("late", { annotations: seen }, async () => say("late"));
        mcp.registerPrompt("late", {}, () => ({ messages: [] }));
      }
    },
  };
}

/** The official SDK, version 2, which has no sessions: a question is a result. */
export async function openNewerAsking(): Promise<AskingUpstream> {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  let isLate = false;
  const handler = createMcpHandler(() => {
    const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true } };
    const mcp = new ModernServer({ name: "asking", version: "1" }, { capabilities });
    mcp.registerTool("ask", { annotations: seen }, async ({ mcpReq }) => {
      const { colour } = (mcpReq.inputResponses ?? {}) as Record<string, { action: string; content?: unknown }>;
      if (!colour)
        return inputRequired({ inputRequests: { colour: inputRequired.elicit(form) }, requestState: "step 1" });
      const { colour: chosen } = (colour.content ?? {}) as { colour?: string };
      return say(`${colour.action} ${chosen}`);
    });
    mcp.registerTool("think", { annotations: seen }, async ({ mcpReq }) => {
      const { word } = (mcpReq.inputResponses ?? {}) as Record<string, { content: unknown }>;
      if (!word) return inputRequired({ inputRequests: { word: inputRequired.createMessage(sample) } });
      return say(JSON.stringify(word.content));
    });
    mcp.registerTool("wait", { annotations: seen }, async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2, message: "half" },
        });
      await untilAborted(mcpReq.signal);
      resolve();
      return say("cancelled");
    });
    mcp.registerResource("secret", "asking://secret", {}, async ({ href }, { mcpReq }) =>
      mcpReq.inputResponses
        ? { contents: [{ uri: href, text: JSON.stringify(mcpReq.inputResponses) }] }
        : inputRequired({ inputRequests: { colour: inputRequired.elicit(form) } }),
    );
    mcp.registerPrompt("hello", { argsSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
      messages: [{ role: "user", content: { type: "text", text: `hello ${name}` } }],
    }));
    if (isLate) {
      mcp.registerTool("late", { annotations: seen }, async () => say("late"));
      mcp.registerPrompt("late", {}, async () => ({ messages: [] }));
    }
    return mcp;
  });
  return {
    ...(await serveFetch(handler.fetch)),
    cancelled,
    change() {
      isLate = true;
      handler.notify.toolsChanged();
      handler.notify.promptsChanged();
    },
  };
}
