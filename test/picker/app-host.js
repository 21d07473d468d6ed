/** A small host, as its makers would write it: the official client, the official bridge, and the app in a sandboxed frame. */
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const type = "text/html;profile=mcp-app";
/** What a host enforces for an app that asks for nothing. */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

const { server, era, capabilities, token } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const client = new Client(
  { name: "test-host", version: "1" },
  {
    capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [type] } } },
    versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
  },
);
globalThis.handed = [];
globalThis.blocked = [];
addEventListener("message", ({ data }) => {
  if (typeof data === "object" && data !== null && "blocked" in data) globalThis.blocked.push(data.blocked);
});

const requestInit = { headers: { Authorization: `Bearer ${token}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(server), { requestInit }));
const { tools } = await client.listTools();
const tool = tools.find(({ name }) => name === "pick_resources");
const uri = getToolUiResourceUri(tool);
const { contents } = await client.readResource({ uri });
const [content] = contents;
globalThis.found = { uri, mimeType: content.mimeType, meta: content._meta };
const result = await client.callTool({ name: tool.name, arguments: {} });

const frame = document.querySelector("iframe");
const bridge = new AppBridge(
  client,
  { name: "test-host", version: "1" },
  { serverTools: {}, serverResources: {}, ...capabilities },
  { hostContext: { theme: "dark", locale: "en-US" } },
);
Object.assign(bridge, {
  async onupdatemodelcontext(params) {
    globalThis.handed.push({ how: "context", ...params });
    return {};
  },
  async onmessage(params) {
    globalThis.handed.push({ how: "message", ...params });
    return {};
  },
  async oninitialized() {
    await bridge.sendToolInput({ arguments: {} });
    await bridge.sendToolResult(result);
  },
  onsizechange({ height }) {
    frame.height = String(height);
  },
});
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
const watching = `<script>addEventListener("securitypolicyviolation", (event) => parent.postMessage({ blocked: event.violatedDirective + " " + event.blockedURI }, "*"));</script>`;
frame.srcdoc = content.text.replace(
  "<head>",
  `<head><meta http-equiv="Content-Security-Policy" content="${policy}">${watching}`,
);
