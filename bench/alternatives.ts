/**
 * Measures what docs/comparison.md states: the tokens that tools and instructions of servers cost in every conversation, and the tokens and seconds of a
 * packed project beside gathered context. Run it in a checkout: node bench/alternatives.ts
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { get_encoding } from "tiktoken";
import { installPeers, modulesOf, type Peers } from "../test/interop/install-peers.ts";

const root = join(import.meta.dirname, "..");
const pressmark = join(root, "bin/pressmark.js");
const filesystemServer = join(root, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const encoding = get_encoding("o200k_base");
const home = mkdtempSync(join(tmpdir(), "pressmark-alternatives-"));
const environment = { HOME: home, PATH: process.env["PATH"] ?? "" };
const peers: Peers = { folder: "alternatives", packages: ["repomix@1.18.1", "@cyanheads/git-mcp-server@2.15.3"] };
const tasks = [
  "quotas: count the time of child processes for each caller",
  "picker: show side-by-side diffs on narrow screens, too",
  "redis: list keys that contain a separator at the end",
];

try {
  const missing = installPeers(peers);
  if (missing !== undefined) throw new Error(missing);
  await measureServers();
  await compareFiles();
  measurePacks();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function measureServers(): Promise<void> {
  const servers = {
    pressmark: [pressmark, "stdio", root],
    "server-filesystem": [filesystemServer, root],
    "git-mcp-server": [join(modulesOf(peers), "@cyanheads/git-mcp-server/dist/index.js")],
  };
  for (const [name, args] of Object.entries(servers)) {
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: "ignore" }),
    );
    const { tools } = await client.listTools();
    const shown = tools.map(({ name: tool, description, inputSchema }) => ({ name: tool, description, inputSchema }));
    const { resources } = client.getServerCapabilities() ?? {};
    const sum = {
      tools: tools.length,
      tokens: count(JSON.stringify(shown)),
      instructions: count(client.getInstructions() ?? ""),
    };
    console.log(
      name,
      JSON.stringify({ ...sum, resources: resources ?? "none", names: tools.map((tool) => tool.name) }),
    );
    await client.close();
  }
}

/** What each server makes of a text in Shift_JIS and of a file with secrets. */
async function compareFiles(): Promise<void> {
  const folder = join(home, "files");
  mkdirSync(folder);
  // "請求書は月末です。" in Shift_JIS.
  writeFileSync(join(folder, "memo.txt"), Buffer.from("90bf8b818f9182cd8c8e969682c582b781420a", "hex"));
  writeFileSync(join(folder, ".env"), "API_KEY=not-a-real-key\n");
  const readers = {
    pressmark: {
      args: [pressmark, "stdio", folder],
      tool: "read_resource",
      input: (path: string) => ({ uri: pathToFileURL(path).href }),
    },
    "server-filesystem": {
      args: [filesystemServer, folder],
      tool: "read_text_file",
      input: (path: string) => ({ path }),
    },
  };
  for (const [name, { args, tool, input }] of Object.entries(readers)) {
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: "ignore" }),
    );
    for (const file of ["memo.txt", ".env"]) {
      const result = await client.callTool({ name: tool, arguments: input(join(folder, file)) });
      console.log(name, file, JSON.stringify(result.content).replaceAll(home, "…"));
    }
    await client.close();
  }
}

function measurePacks(): void {
  const output = join(home, "packed.xml");
  const packer = join(modulesOf(peers), "repomix/bin/repomix.cjs");
  for (const more of [[], ["--compress"]]) {
    const seconds = timed(() => run([packer, root, "--quiet", "--output", output, ...more]));
    console.log("repomix", more.join(" "), `${count(readFileSync(output, "utf8"))} tokens`, `${seconds} s`);
  }
  console.log("pressmark index", `${timed(() => run([pressmark, "index"]))} s`);
  for (const task of tasks) {
    let text = "";
    const seconds = timed(() => (text = run([pressmark, "gather", task])));
    console.log("pressmark gather", JSON.stringify(task), `${count(text)} tokens`, `${seconds} s`);
  }
}

function run(args: readonly string[]): string {
  const options = { cwd: root, env: environment, encoding: "utf8", maxBuffer: 2 ** 28, stdio: "pipe" } as const;
  return execFileSync(process.execPath, args, options);
}

function timed(work: () => unknown): string {
  const began = performance.now();
  work();
  return ((performance.now() - began) / 1000).toFixed(1);
}

function count(text: string): number {
  return encoding.encode(text, [], []).length;
}
