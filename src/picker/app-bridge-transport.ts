/** A transport of the official client that reaches the server through a host: relays what hosts relay, and handles the rest locally. */
import type { App } from "@modelcontextprotocol/ext-apps";
import type { JSONRPCMessage, StandardSchemaV1, Transport } from "@modelcontextprotocol/client";

type Loose = Readonly<Record<string, unknown>>;

interface BridgeTransport extends Transport {
  /** Reports everything as changed: hosts relay no updates, so the person requests them. */
  reportAll(): void;
}

interface BridgeOptions {
  readonly app: Pick<App, "request">;
  /** The names of the server's tools. */
  tools(): Promise<readonly string[]>;
}

/** Methods that a host relays. https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx */
const relayed = new Set(["resources/list", "resources/templates/list", "resources/read", "tools/call"]);
export const completer = "complete_template";
const methodNotFound = -32601;
const internalError = -32603;

export function createBridgeTransport({ app, tools }: BridgeOptions): BridgeTransport {
  const watched = new Set<string>();

  async function answer(method: string, params: Loose): Promise<Loose> {
    switch (method) {
      case "initialize":
        return {
          protocolVersion: params["protocolVersion"],
          serverInfo: { name: "host", version: "1" },
          capabilities: { resources: { subscribe: true, listChanged: true }, tools: {}, completions: {} },
        };
      case "tools/list":
        return { tools: (await tools()).map((name) => ({ name, inputSchema: { type: "object" } })) };
      case "completion/complete":
        return { completion: await complete(params) };
      case "resources/subscribe":
        watched.add(String(params["uri"]));
        return {};
      case "resources/unsubscribe":
        watched.delete(String(params["uri"]));
        return {};
      case "ping":
        return {};
      default:
        if (!relayed.has(method)) throw Object.assign(new Error("Method not found"), { code: methodNotFound });
        return app.request({ method, params: { ...params } }, anyObject);
    }
  }

  /** Hosts relay no completions, so a tool of the server provides them. */
  async function complete({ ref, argument, context }: Loose): Promise<Loose> {
    const none = { values: [] };
    if (!(await tools()).includes(completer)) return none;
    const args = { uri: (ref as Loose)["uri"], ...(argument as Loose), ...(context as Loose | undefined) };
    const params = { name: completer, arguments: args };
    const { structuredContent } = await app.request({ method: "tools/call", params }, anyObject);
    return (structuredContent as Loose | undefined) ?? none;
  }

  function notify(method: string, params: Loose): void {
    transport.onmessage?.({ jsonrpc: "2.0", method, params } as JSONRPCMessage);
  }

  const transport: BridgeTransport = {
    start: async () => {},
    async send(message) {
      if (!("method" in message) || !("id" in message)) return;
      const { id, method, params = {} } = message;
      const response = await answer(method, params as Loose).then(
        (result) => ({ jsonrpc: "2.0" as const, id, result }),
        (cause: unknown) => ({ jsonrpc: "2.0" as const, id, error: toError(cause) }),
      );
      transport.onmessage?.(response as JSONRPCMessage);
    },
    close: async () => transport.onclose?.(),
    reportAll() {
      notify("notifications/resources/list_changed", {});
      for (const uri of watched) notify("notifications/resources/updated", { uri });
    },
  };
  return transport;
}

function toError(cause: unknown): { code: number; message: string; data?: unknown } {
  const { code, message, data } = cause as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly data?: unknown;
  };
  return {
    code: typeof code === "number" ? code : internalError,
    message: typeof message === "string" ? message : "the host did not respond",
    data,
  };
}

/** The client that sent the request validates the response. */
const anyObject: StandardSchemaV1<unknown, Loose> = {
  "~standard": {
    version: 1,
    vendor: "pressmark",
    validate: (value) =>
      typeof value === "object" && value !== null ? { value: value as Loose } : { issues: [{ message: "no object" }] },
  },
};
