/** The program in docs/small-servers.md, run as a reader would run it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { createProject } from "../package/project.ts";

const root = join(import.meta.dirname, "../..");
const textOf = (file: string) => readFile(join(root, file), "utf8");

async function programOf(page: string): Promise<string> {
  const [, program] = /^```ts\n([^]*?)^```$/m.exec(await textOf(page)) ?? [];
  if (program === undefined) throw new Error(`${page} contains no program`);
  return program;
}

it("the program of the page is the example, and runs with the packed package", async () => {
  const program = await programOf("docs/small-servers.md");
  expect(program).toBe(await textOf("examples/small-server/server.mts"));
  using project = createProject();
  project.write("server.mts", program);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: ["server.mts"], cwd: project.folder }),
  );
  const { contents } = await client.readResource({ uri: "weather://forecast/kyoto?days=2" });
  expect(contents).toEqual([
    { uri: "weather://forecast/kyoto?days=2", mimeType: "text/markdown", text: "# kyoto\n\nsun, days: 2" },
  ]);
  await client.close();
});

it("the page counts the lines of both programs as they are", async () => {
  const page = await textOf("docs/small-servers.md");
  for (const [name, file] of [
    ["Pressmark", "server.mts"],
    ["FastMCP", "fastmcp.ts"],
  ] as const) {
    const lines = (await textOf(`examples/small-server/${file}`)).split("\n");
    const count = lines.filter((line) => !/^\s*(?:\/\/|\/\*\*|$)/.test(line)).length;
    expect(Number(new RegExp(`^\\| ${name} +\\| (\\d+)`, "m").exec(page)?.[1]), name).toBe(count);
  }
});
