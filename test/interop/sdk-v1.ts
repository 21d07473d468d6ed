/** The official client of the first line, as a visitor. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Start } from "./command.ts";
import { createHeard } from "./heard.ts";
import type { Visitor } from "./visitor.ts";

export interface V1Visitor extends Visitor {
  readonly client: Client;
}

export const overStdio = (start: Start): Transport => new StdioClientTransport({ ...start, stderr: "inherit" });
export const overHttp = (url: URL): Transport => new StreamableHTTPClientTransport(url);
export const overSse = (url: URL): Transport => new SSEClientTransport(url);

export async function visitV1(transport: Transport): Promise<V1Visitor> {
  const client = new Client({ name: "interop", version: "1.0.0" });
  const heard = createHeard();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.hear(`updated ${params.uri}`));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => heard.hear("list-changed"));
  let revision: string | undefined;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  await client.connect(transport);

  return {
    client,
    heard,
    revision,
    server: client.getServerVersion()?.name,
    async pages() {
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listResources(cursor === undefined ? {} : { cursor });
        pages.push(page.resources.map(({ uri }) => uri));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return pages;
    },
    read: async (uri) => (await client.readResource({ uri })).contents,
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    async complete(uri, name, value) {
      const { completion } = await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } });
      return completion.values;
    },
    async watch(uri) {
      await client.subscribeResource({ uri });
      // Once a list is answered, every later change of it is announced.
      await client.listResources();
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
