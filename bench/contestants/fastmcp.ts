/** fastmcp: sessions over HTTP, and stdio. It has no pages. */
import { FastMCP } from "fastmcp";
import { readText } from "./folder.ts";

const [transport, root = "", port = "0"] = process.argv.slice(2);

const quiet = { debug() {}, error: console.error, info() {}, log() {}, warn() {} };
const mcp = new FastMCP({ name: "fastmcp", version: "1.0.0", logger: quiet });
for (const name of ["small.txt", "large.txt"]) {
  const uri = `file://${root}/${name}`;
  mcp.addResource({ uri, name, mimeType: "text/plain", load: async () => ({ text: await readText(uri) }) });
}
if (transport === "stdio") {
  await mcp.start({ transportType: "stdio" });
} else {
  await mcp.start({
    transportType: "httpStream",
    // The quicker of its two ways to answer.
    httpStream: { port: Number(port), host: "127.0.0.1", enableJsonResponse: true },
  });
  console.log(`http://127.0.0.1:${port}/mcp`);
}
