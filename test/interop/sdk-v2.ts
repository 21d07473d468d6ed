/** The official client of the second line, as a visitor. */
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Start } from "./command.ts";
import { createHeard } from "./heard.ts";
import type { Visitor } from "./visitor.ts";

export interface V2Visitor extends Visitor {
  readonly client: Client;
}

export const overStdio = (start: Start): Transport => new StdioClientTransport({ ...start, stderr: "inherit" });
export const overHttp = (url: URL): Transport => new StreamableHTTPClientTransport(url);
export const overSse = (url: URL): Transport => new SSEClientTransport(url);

export async function visitV2(transport: Transport, mode: VersionNegotiationMode): Promise<V2Visitor> {
  const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
  const heard = createHeard();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.hear(`updated ${params.uri}`));
  client.setNotificationHandler("notifications/resources/list_changed", () => heard.hear("list-changed"));
  await client.connect(transport);

  return {
    client,
    heard,
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name,
    async pages() {
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const params = cursor === undefined ? {} : { cursor };
        // Its own listResources() gives all pages as one.
        const page = await client.request({ method: "resources/list", params });
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
      if (client.getProtocolEra() === "modern") {
        await client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
        return;
      }
      await client.subscribeResource({ uri });
      // Once a list is answered, every later change of it is announced.
      await client.listResources();
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
