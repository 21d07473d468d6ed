/** The client, held to its promises through a gateway: client → house → source mcp → another server. */
import { z } from "zod";
import { openPolicy } from "../../src/access/policy.ts";
import { connect, type RemoteHouse } from "../../src/client/connect.ts";
import { withStandardLayers } from "../../src/layers/standard.ts";
import { createEdge } from "../../src/protocol/create-edge.ts";
import { createReadingTools } from "../../src/protocol/tools/reading-tools.ts";
import { createResources, type House } from "../../src/router/create-resources.ts";
import { createTools } from "../../src/server/tools.ts";
import mcp from "../../src/sources/mcp.ts";
import { resourcesContract } from "../../src/testing/resources-contract.ts";
import { listen, type Listening } from "../../src/transport/listen.ts";
import { greeting } from "../e2e/furniture.ts";
import { base, openHouse, type TestHouse } from "../e2e/harness.ts";

const tools = createTools({ write: () => true });
const spell = (path: string) => encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F");
/** What stands before the path of the far URIs is one segment of ours. */
const root = `mcp://far/${encodeURIComponent(base.slice(0, -1)).replaceAll("%3A", ":")}/`;

for (const era of ["modern", "legacy"] as const) {
  let far: TestHouse;
  let house: House;
  let listening: Listening;
  let remote: RemoteHouse | undefined;
  resourcesContract(`the client through a gateway, ${era},`, {
    async open(content) {
      far = await openHouse({
        rooms: content as Record<string, string>,
        templates: [greeting],
        readingTools: true,
        pageSize: 7,
        http: { graceMs: 0 },
      });
      const mount = { name: "far", base: "mcp://far/" };
      const opened = await mcp.open(mcp.options(z).parse({ url: String(far.url) }), tools);
      const source = withStandardLayers(opened, mount, tools);
      const mounts = [{ ...mount, source }];
      house = createResources({ mounts, policy: openPolicy, tools, cursorKey: new Uint8Array(32), pageSize: 5 });
      const reading = createReadingTools({ resources: house, server: "gateway", mounts: () => mounts });
      const edge = createEdge({ resources: house, server: { name: "gateway", version: "1" }, tools: reading });
      listening = await listen(edge, { port: 0, graceMs: 0 });
      remote = await connect(listening.url, { era });
      return remote;
    },
    uriOf: (path) => `${root}${spell(path)}`.replace(/\/$/, ""),
    write: (path, text) => far.memory.set(path, text),
    remove: (path) => void far.memory.delete(path),
    async clear() {
      await remote?.close();
      listening.server.closeAllConnections();
      await listening.close();
      await house.close();
      await far[Symbol.asyncDispose]();
    },
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
  });
}
