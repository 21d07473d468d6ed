/**
 * A server of the older era over stdio. It writes its process id into a file at each start.
 * Arguments: that file, and how it treats a request that it does not know ("refuse", "ignore" or "exit"), or "tools" if it serves tools alone.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [starts, manner] = process.argv.slice(2);
appendFileSync(starts, `${process.pid}\n`);

const note = { uri: "note://tea", name: "tea" };
const capabilities =
  manner === "tools" ? { tools: {} } : { resources: { subscribe: true, listChanged: true }, completions: {} };
const resources = {
  "resources/list": { resources: [note] },
  "resources/read": { contents: [{ uri: note.uri, text: "green tea" }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "note://{name}", name: "note" }] },
  "resources/subscribe": {},
  "resources/unsubscribe": {},
  "completion/complete": { completion: { values: ["tea"] } },
};
const answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "program", version: "1" } },
  ...(manner === "tools" ? { "tools/list": { tools: [] } } : resources),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method];
  if (!result && manner === "exit") process.exit(1);
  if (!result && manner === "ignore") return;
  const error = { code: -32601, message: "Method not found" };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) })}\n`);
});
