/** The client, held to its promises through a gateway: client → server → source mcp → another server. */
import { z } from "zod";
import { openPolicy } from "../../src/access/policy.ts";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { withStandardLayers } from "../../src/layers/standard.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import { createReadingTools } from "../../src/protocol/tools/reading-tools.ts";
import { createResources, type LocalResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import mcp from "../../src/sources/mcp.ts";
import { resourcesContract } from "../../src/testing/resources-contract.ts";
import { listen, type Listening } from "../../src/transport/listen.ts";
import { greeting } from "../e2e/fixtures.ts";
import { base, openTestServer, type TestServer } from "../e2e/harness.ts";

const runtime = createRuntime({ write: () => true });
const format = (path: string) => encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F");
/** What stands before the path of the far URIs is one segment of ours. */
const root = `mcp://far/${encodeURIComponent(base.slice(0, -1)).replaceAll("%3A", ":")}/`;

for (const era of ["modern", "legacy"] as const) {
  let far: TestServer;
  let pressmark: LocalResources;
  let listening: Listening;
  let remote: RemoteServer | undefined;
  resourcesContract(`the client through a gateway, ${era},`, {
    async open(content) {
      far = await openTestServer({
        sampleContents: content as Record<string, string>,
        templates: [greeting],
        readingTools: true,
        pageSize: 7,
        http: { graceMs: 0 },
      });
      const mount = { name: "far", base: "mcp://far/" };
      const opened = await mcp.open(mcp.options(z).parse({ url: String(far.url) }), runtime);
      const source = withStandardLayers(opened, mount, runtime);
      const mounts = [{ ...mount, source }];
      pressmark = createResources({ mounts, policy: openPolicy, runtime, cursorKey: new Uint8Array(32), pageSize: 5 });
      const reading = createReadingTools({ resources: pressmark, server: "gateway", mounts: () => mounts });
      const edge = createProtocol({ resources: pressmark, server: { name: "gateway", version: "1" }, tools: reading });
      listening = await listen(edge, { port: 0, graceMs: 0 });
      remote = await connect(listening.url, { era });
      return remote;
    },
    uriOf: (path) => `${root}${format(path)}`.replace(/\/$/, ""),
    write: (path, text) => far.memory.set(path, text),
    remove: (path) => void far.memory.delete(path),
    async clear() {
      await remote?.close();
      listening.server.closeAllConnections();
      await listening.close();
      await pressmark.close();
      await far[Symbol.asyncDispose]();
    },
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
  });
}
