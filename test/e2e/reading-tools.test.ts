/** Search, list and read as tools: for models whose host shows them nothing else, in every revision that has tools. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import Ajv from "ajv";
import { describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { recordsIn } from "./answers.ts";
import { sampleContents } from "./fixtures.ts";
import { base, legs, openTestServer } from "./harness.ts";
import type { Line } from "./line/line.ts";

const call = (line: Line, name: string, args: JsonRecord) => line.result("tools/call", { name, arguments: args });

function textOf(result: JsonRecord): string {
  return recordsIn(result, "content")
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("\n");
}

describe("in the early draft", () => {
  const early = legs.filter(({ revision }) => revision === "2024-10-07");
  it.for(early)("there are no tools over $transport, and everything else is as before", async (leg) => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    expect(line.opened["capabilities"]).not.toHaveProperty("tools");
    expect((await line.error("tools/list")).code).toBe(-32601);
    expect((await line.error("tools/call", { name: "read_resource" })).code).toBe(-32601);
  });
});

describe.for(legs.filter(({ revision }) => revision >= "2024-11-05"))("over $transport in $revision", (leg) => {
  const { revision } = leg;
  const hasLinks = revision >= "2025-06-18";

  it("the tools are listed with the words of the revision (LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    expect(line.opened["capabilities"]).toHaveProperty("tools");
    const tools = recordsIn(await line.result("tools/list"), "tools");
    expect(tools.map(({ name }) => name)).toEqual([
      "search_resources",
      "list_resources",
      "read_resource",
      "gather_context",
    ]);
    for (const tool of tools) {
      expect(String(tool["description"])).toMatch(
        /\bbefore you\b.*"house" \(memory:\/\/house\)|"house".*\bbefore you\b/,
      );
      expect("annotations" in tool).toBe(revision >= "2025-03-26");
      expect("title" in tool).toBe(hasLinks);
      expect("outputSchema" in tool).toBe(hasLinks && tool["name"] !== "read_resource");
    }
  });

  it("a search gives links where the revision has them, and always a text that can do without (LEG-15, MOD-29)", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    const result = await call(line, "search_resources", { query: "ink" });
    const content = recordsIn(result, "content");
    expect(textOf(result)).toContain(`${base}notes.txt`);
    const links = content.filter(({ type }) => type === "resource_link");
    expect(links.length > 0).toBe(hasLinks);
    expect(content.length).toBe(1 + links.length);
    expect("structuredContent" in result).toBe(hasLinks);
    for (const { uri } of links) await line.result("resources/read", { uri: String(uri) });
  });

  it("a text is text, which every host shows its model, and is sent once", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true, folder: true });
    await writeFile(join(pressmark.folder, "lines.txt"), "one\ntwo\nthree\n");
    const line = await pressmark.line(leg);
    const uri = `${pressmark.folderBase}lines.txt`;
    expect(recordsIn(await call(line, "read_resource", { uri, lines: "2-2" }), "content")).toEqual([
      { type: "text", text: `This is lines 2-2. To continue, call read_resource with uri ${uri} and lines "3-3".` },
      { type: "text", text: "two\n" },
    ]);
  });

  it("bytes are embedded, with a URI that can be read again (LEG-13)", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    const [embedded] = recordsIn(await call(line, "read_resource", { uri: `${base}blob.bin` }), "content");
    expect(embedded).toMatchObject({ type: "resource", resource: { blob: "AAH+/w==" } });
    const resource = isRecord(embedded?.["resource"]) ? embedded["resource"] : {};
    const again = recordsIn(await line.result("resources/read", { uri: String(resource["uri"]) }), "contents");
    expect(again[0]?.["blob"]).toBe("AAH+/w==");
  });

  it("pages of a list follow each other", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const said = textOf(await call(line, "list_resources", { limit: 4, ...(cursor !== undefined && { cursor }) }));
      seen.push(...said.split("\n").filter((each) => each.startsWith(base)));
      cursor = /cursor "([^"]+)"/.exec(said)?.[1];
    } while (cursor !== undefined);
    expect(seen).toHaveLength(Object.keys(sampleContents).length - 1);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("what is hidden from a caller is hidden through every tool", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const [reader, owner] = [await pressmark.line(leg), await pressmark.line(leg, "owner")];
    const secret = `${base}secrets/key.txt`;
    const asks: readonly (readonly [string, JsonRecord])[] = [
      ["search_resources", { query: "hidden" }],
      ["list_resources", {}],
      ["list_resources", { glob: "**" }],
      ["list_resources", { within: base.slice(0, -1) }],
      ["read_resource", { uri: base.slice(0, -1) }],
      ["read_resource", { uri: `${base}secrets/kez.txt` }],
      ["read_resource", { uri: "secrets/key.txt" }],
    ];
    for (const [name, args] of asks) {
      expect(JSON.stringify(await call(reader, name, args)), name).not.toMatch(
        /secrets(?!\/kez|\/key\.txt\\" is not a URI)/,
      );
      expect(JSON.stringify(await call(owner, name, args)), name).toContain("secrets");
    }
    expect(await call(reader, "read_resource", { uri: secret })).toMatchObject({ isError: true });
    expect(await call(owner, "read_resource", { uri: secret })).not.toHaveProperty("isError");
  });

  it("an argument that is wrong is said to the model, and not as a fault of the protocol", async () => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    for (const [name, args] of [
      ["search_resources", {}],
      ["read_resource", { uri: 7 }],
      ["list_resources", { server: "other" }],
    ] as const) {
      const result = await call(line, name, args);
      expect(result["isError"], name).toBe(true);
      expect(textOf(result)).toMatch(/^(?:"|list_resources has no argument "server")/);
    }
  });
});

it.for(legs.filter(({ revision }) => revision >= "2025-06-18"))(
  "structured content is what the schema of the tool says, over $transport in $revision",
  async (leg) => {
    await using pressmark = await openTestServer({ sampleContents, readingTools: true });
    const line = await pressmark.line(leg);
    const ajv = new Ajv.default({ strict: false });
    const asked: Readonly<Record<string, readonly JsonRecord[]>> = {
      search_resources: [{ query: "ink" }, { query: "nowhere" }],
      list_resources: [{}, { limit: 1 }],
      gather_context: [{ task: "ink" }, { task: "nowhere", budget: 1 }],
    };
    for (const tool of recordsIn(await line.result("tools/list"), "tools")) {
      if (!isRecord(tool["outputSchema"])) continue;
      const name = String(tool["name"]);
      for (const args of asked[name] ?? []) {
        const { structuredContent } = await call(line, name, args);
        const isRight = ajv.compile(tool["outputSchema"]);
        expect(isRight(structuredContent), JSON.stringify(isRight.errors)).toBe(true);
      }
    }
  },
);
