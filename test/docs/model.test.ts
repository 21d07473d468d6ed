/** The texts of docs/model.md are what a model gets from the server. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/model.md"), "utf8");
const shown = "/home/me/shop";
const blocks = Array.from(page.matchAll(/^(`{3,})\w*\n(.*?)\n\1$/gms), ([, , text = ""]) => text);
const result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});

let home: string;
let client: Client;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "pressmark-model-"));
  const folder = join(home, "shop");
  for (const [path, text] of filesIn(page)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  client = new Client({ name: "test", version: "1" });
  const env = { HOME: home, PATH: process.env["PATH"] ?? "" };
  const args = [join(root, "bin/pressmark.js"), "stdio", folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  await vi.waitFor(
    async () =>
      expect((await call("search_resources", { query: "shop" })).structuredContent).toMatchObject({ ready: 1 }),
    { timeout: 30_000 },
  );
});
afterAll(async () => {
  await client.close();
  rmSync(home, { recursive: true, force: true });
});

it("shows the instructions", () => {
  expect(oneLine(page)).toContain(oneLine(asShown(client.getInstructions() ?? "")));
});

it.each([
  ["search_resources", { query: "when are refunds booked" }],
  ["read_resource", { uri: "docs/payment.md" }],
  ["gather_context", { task: "change refunds to two days", budget: 2000 }],
])("shows the result of %s", async (name, input) => {
  const { content } = await call(name, input);
  const text = content.flatMap((each) => each.text ?? []).join("\n");
  expect(blocks.map(withoutCount)).toContain(withoutCount(asShown(text).trim()));
});

it("shows what read_resource gives, and nothing else", async () => {
  const { content } = await call("read_resource", { uri: `file://${join(home, "shop/docs/payments.md")}` });
  expect(content).toHaveLength(1);
  expect(blocks).toContain(content[0]?.text?.trim());
});

it("shows a part of the receipt", async () => {
  const { structuredContent } = await call("gather_context", { task: "change refunds to two days", budget: 2000 });
  const [, json = ""] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  expect(JSON.parse(asShown(JSON.stringify(structuredContent)))).toMatchObject({
    included: [{}, JSON.parse(json) as unknown],
  });
});

it("offers the four tools, all of which only read", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "search_resources",
    "list_resources",
    "read_resource",
    "gather_context",
  ]);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
});

/** The files of the page, which a comment in their first line names. */
function filesIn(markdown: string): readonly (readonly [path: string, text: string])[] {
  const named = markdown.matchAll(/^```(?:md|js)\n(?:<!--|\/\/) \/home\/me\/shop\/(\S+)(?: -->\n)?\n(.*?)^```$/gms);
  return Array.from(named, ([, path = "", text = ""]) => [path, text]);
}

async function call(name: string, input: Readonly<Record<string, unknown>>) {
  return result.parse(await client.callTool({ name, arguments: input }));
}

function asShown(text: string): string {
  return text.replaceAll(join(home, "shop"), shown);
}

/** The base is counted, too, and its length differs. */
function withoutCount(text: string): string {
  return text.replace(/\d+ of 2000 tokens/, "some of 2000 tokens");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
