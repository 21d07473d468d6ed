/** Lists and calls the tools of a server. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { answerIn } from "./remote-error.ts";
import type { Reconnecting } from "./reconnect.ts";

/** A tool as the server describes it, with its schemas and annotations. */
export type RemoteTool = Tool;
export type RemoteToolResult = CallToolResult;

export interface CallToolOptions {
  /** True if it does no harm to call the tool twice, when the first response was lost. Default: false. */
  readonly mayRepeat?: boolean;
  /** The resource that the call is about, for errors. */
  readonly uri?: string;
}

export interface RemoteTools {
  /** All tools; none if the server does not support tools. Leaves out tools with an invalid `x-mcp-header`, which must not be called. */
  listTools(call: Call): Promise<readonly RemoteTool[]>;
  /** Returns the result as the server sent it, also that of a failed tool. Throws "unsupported" if there is no such tool. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    call: Call,
    options?: CallToolOptions,
  ): Promise<RemoteToolResult>;
}

const headerMismatch = -32_020;
/** A tool that a list lacks is looked for again after this time: a search asks every server for one. */
const absentMs = 10_000;

/** `now` is in milliseconds and never goes back. */
export function createRemoteTools(link: Reconnecting, now: () => number): RemoteTools {
  /** As of the last list of this connection. */
  let known: ReadonlyMap<string, RemoteTool> = new Map();
  let listedMs = -Infinity;
  function forget(): void {
    known = new Map();
    listedMs = -Infinity;
  }
  link.onConnection(forget);

  async function listTools(call: Call): Promise<readonly RemoteTool[]> {
    const tools = await link.send(async (client, options) => {
      // Without tools the official client would write to standard output, which may belong to a protocol.
      if (!client.getServerCapabilities()?.tools) return [];
      return (await client.listTools(undefined, { ...options, cacheMode: "bypass" })).tools;
    }, call);
    known = new Map(tools.map((tool) => [tool.name, tool]));
    listedMs = now();
    return tools;
  }

  /** The newer era repeats parameters as HTTP headers, as the tool's definition says. The older needs no definition. */
  async function definitionOf(name: string, call: Call): Promise<RemoteTool | undefined> {
    const isNeeded = await link.send(async (client, _options, { era }) => {
      if (!client.getServerCapabilities()?.tools) throw noTool(name);
      return era === "modern";
    }, call);
    if (!isNeeded) return undefined;
    if (!known.has(name) && now() - listedMs >= absentMs) await listTools(call);
    const tool = known.get(name);
    if (!tool) throw noTool(name);
    // Schemas for results are not evaluated: a pattern of a hostile server could block this process.
    return { ...tool, outputSchema: undefined };
  }

  return {
    listTools,
    async callTool(name, args, call, { mayRepeat = false, uri } = {}) {
      const send = mayRepeat ? link.send : link.sendOnce;
      const attempt = async (): Promise<RemoteToolResult> => {
        const toolDefinition = await definitionOf(name, call);
        const params = { name, arguments: { ...args } };
        return send((client, options) => client.callTool(params, { ...options, toolDefinition }), call, uri);
      };
      try {
        return await attempt();
      } catch (cause) {
        if (!(cause instanceof ResourceError) || answerIn(cause.cause)?.code !== headerMismatch) throw cause;
        // The definition has changed. The server refused the call before it ran.
        forget();
        return attempt();
      }
    },
  };
}

export function noTool(name: string, cause?: unknown): ResourceError {
  return new ResourceError("unsupported", `the server has no tool ${name}`, { cause });
}
