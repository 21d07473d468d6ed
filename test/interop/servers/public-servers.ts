/** Public MCP servers from npm, each with what it serves when it is started offline. */

export interface PublicServer {
  readonly package: string;
  /** The version that was tried: another may serve something else. */
  readonly version: string;
  /** The program, in the package. */
  readonly entry: string;
  /** `FOLDER` stands for a folder of the test, which holds a file and a git repository. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Absent if the server declares no resources. */
  readonly resources?: readonly ServedResource[];
  readonly templates?: readonly string[];
  readonly completion?: { readonly template: string; readonly value: string; readonly values: readonly string[] };
  /** A tool call that changes a resource, whose text then contains `text`. */
  readonly update?: ServedResource & { readonly tool: string; readonly arguments: object };
}

interface ServedResource {
  readonly uri: string;
  /** A part of its text. */
  readonly text: string;
  /** False if it exists by a template only. */
  readonly isListed?: false;
}

const document = (name: string, text: string) => ({ uri: `demo://resource/static/document/${name}.md`, text });
const page = (uri: string): ServedResource => ({ uri, text: "<html" });

export const publicServers: Readonly<Record<string, PublicServer>> = {
  everything: {
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    entry: "dist/index.js",
    resources: [
      document("architecture", "# Everything Server"),
      document("extension", "# Everything Server"),
      document("features", "# Everything Server"),
      document("how-it-works", "# Everything Server"),
      document("instructions", "# Everything Server"),
      document("startup", "# Everything Server"),
      document("structure", "# Everything Server"),
      { uri: "demo://resource/dynamic/text/7", text: "Resource 7", isListed: false },
    ],
    templates: ["demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}"],
    completion: { template: "demo://resource/dynamic/text/{resourceId}", value: "7", values: ["7"] },
    update: {
      uri: "demo://resource/static/document/features.md",
      text: "# Everything Server",
      tool: "toggle-subscriber-updates",
      arguments: {},
    },
  },
  filesystem: {
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    entry: "dist/index.js",
    args: ["FOLDER"],
  },
  memory: {
    package: "@modelcontextprotocol/server-memory",
    version: "2026.8.31",
    entry: "dist/index.js",
    env: { MEMORY_FILE_PATH: "FOLDER/memory.jsonl" },
    resources: [{ uri: "memory://knowledge-graph", text: '"entities"' }],
    update: {
      uri: "memory://knowledge-graph",
      text: '"tea"',
      tool: "create_entities",
      arguments: { entities: [{ name: "tea", entityType: "drink", observations: ["green"] }] },
    },
  },
  context7: { package: "@upstash/context7-mcp", version: "4.1.1", entry: "dist/index.js", resources: [] },
  supabase: {
    package: "@supabase/mcp-server-supabase",
    version: "0.13.0",
    entry: "dist/cli.js",
    args: ["--access-token", `sbp_${"0".repeat(40)}`],
  },
  notion: {
    package: "@notionhq/notion-mcp-server",
    version: "2.5.2",
    entry: "bin/cli.mjs",
    env: { NOTION_TOKEN: "ntn_none" },
  },
  playwright: { package: "@playwright/mcp", version: "0.0.83", entry: "cli.js", args: ["--headless"] },
  "chrome-devtools": {
    package: "chrome-devtools-mcp",
    version: "1.11.0",
    entry: "build/src/bin/chrome-devtools-mcp.js",
    args: ["--headless", "--no-usage-statistics"],
  },
  pdf: {
    package: "@modelcontextprotocol/server-pdf",
    version: "2.0.4",
    entry: "dist/index.js",
    args: ["--stdio"],
    resources: [page("ui://pdf-viewer/mcp-app.html")],
  },
  map: {
    package: "@modelcontextprotocol/server-map",
    version: "2.0.3",
    entry: "dist/index.js",
    args: ["--stdio"],
    resources: [page("ui://cesium-map/mcp-app.html")],
  },
  "basic-react": {
    package: "@modelcontextprotocol/server-basic-react",
    version: "2.0.3",
    entry: "dist/index.js",
    args: ["--stdio"],
    resources: [page("ui://get-time/mcp-app.html")],
  },
  heroui: { package: "@heroui/react-mcp", version: "1.1.2", entry: "dist/stdio.js" },
  sentry: {
    package: "@sentry/mcp-server",
    version: "0.39.0",
    entry: "dist/index.js",
    args: ["--access-token=none"],
  },
  git: {
    package: "@cyanheads/git-mcp-server",
    version: "2.15.3",
    entry: "dist/index.js",
    env: { GIT_BASE_DIR: "FOLDER" },
    resources: [{ uri: "git://working-directory", text: '"workingDirectory"' }],
    templates: ["git://working-directory"],
  },
  mongodb: {
    package: "mongodb-mcp-server",
    version: "3.0.4",
    entry: "dist/esm/index.js",
    env: { MDB_MCP_TELEMETRY: "disabled", MDB_MCP_LOG_PATH: "FOLDER", MDB_MCP_EXPORTS_PATH: "FOLDER" },
    resources: [
      { uri: "config://config", text: '"telemetry"' },
      { uri: "debug://mongodb", text: "MongoDB" },
    ],
    templates: ["exported-data://{exportName}"],
    completion: { template: "exported-data://{exportName}", value: "", values: [] },
  },
};
