import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { textOf, visit } from "../visit.ts";

const client = await visit(fileURLToPath(new URL("server.ts", import.meta.url)));
const { resources } = await client.listResources();
assert.deepEqual(
  resources.map(({ uri }) => uri),
  ["calendar://events/2025", "calendar://events/2026"],
);
assert.deepEqual(JSON.parse(await textOf(client, "calendar://events/2024")), { year: "2024", events: [] });
await assert.rejects(textOf(client, "calendar://events/next"), /not found/i);

const heard = Promise.withResolvers<string>();
client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.resolve(params.uri));
await client.listen({ resourceSubscriptions: ["calendar://events/2026"] });
const { transport } = client;
assert(transport instanceof StdioClientTransport && transport.pid !== null);
process.kill(transport.pid, "SIGUSR2");
assert.equal(await heard.promise, "calendar://events/2026");
assert.match(await textOf(client, "calendar://events/2026"), /Everybody goes home/);

await client.close();
console.log("calendar: all is as it should be");
