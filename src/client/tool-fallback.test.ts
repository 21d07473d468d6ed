import { describe, expect, it } from "vitest";
import { createReadingTools } from "../protocol/tools/reading-tools.ts";
import type { ToolResult } from "../protocol/tools.ts";
import type { Hit, Resources } from "../resources.ts";
import { searchByTool } from "./tool-fallback.ts";

const call = { caller: { id: "reader" }, signal: new AbortController().signal };
const resource = { uri: "notes://a/t.md", name: "t.md" };

/** Sends results of a search from a server to a client; `change` alters them on the way. */
async function relay(hits: readonly Hit[], change: (result: Record<string, unknown>) => void = () => {}) {
  const resources = { search: async () => ({ hits, ready: 1 }) } as unknown as Resources;
  const mounts = [{ name: "notes", base: "notes://a/" }];
  const tool = createReadingTools({ resources, server: "test", mounts: () => mounts }).find(
    ({ name }) => name === "search_resources",
  )!;
  const asked = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const tools = {
    listTools: async () => [],
    async callTool(_: string, args: Readonly<Record<string, unknown>>) {
      const { structuredContent } = (await tool.call(args, asked)) as ToolResult;
      const sent = JSON.parse(JSON.stringify(structuredContent)) as { results: Record<string, unknown>[] };
      for (const result of sent.results) change(result);
      return { content: [], structuredContent: sent };
    },
  };
  return (await searchByTool(tools, { text: "bateau", limit: 5 }, call)).hits;
}

describe("a search by the tool of the server", () => {
  const text = "»«« le «bateau» 𠮷 «ivre» 決済«";
  const from = text.indexOf("bateau");
  const marks = [
    [0, 1],
    [from, from + 6],
    [from + 6, from + 7],
    [text.length - 1, text.length],
  ] as const;
  const hit: Hit = { resource, score: 1, snippet: text, marks, offset: 7, lines: [3, 9], isMatch: true };

  it("keeps the text, its position and its matches, whatever the text contains", async () => {
    expect(await relay([hit])).toEqual([hit]);
    const { offset: _, ...elsewhere } = hit;
    expect(await relay([elsewhere, { ...hit, marks: [] }])).toMatchObject([elsewhere, { snippet: text, marks: [] }]);
    const { marks: _marks, ...unmarked } = hit;
    expect(await relay([unmarked])).toMatchObject([{ snippet: text }]);
  });

  it("keeps the position of a text that was cut", async () => {
    const body = `${"あ".repeat(900)}«bateau»${"い".repeat(900)}`;
    const [found] = await relay([{ resource, score: 1, snippet: body, marks: [[901, 907]], offset: 40 }]);
    const { snippet = "", offset = 0, marks: [mark] = [] } = found!;
    expect(snippet.length).toBeLessThan(body.length);
    expect(body.startsWith(snippet, offset - 40)).toBe(true);
    expect(snippet.slice(...mark!)).toBe("bateau");
  });

  it("reads the marks in the text where the server sends no valid ones", async () => {
    const plain = { resource, score: 1, snippet: "le bateau ivre", marks: [[3, 9] as const], offset: 2 };
    const { offset: _, ...expected } = plain;
    for (const wrong of [undefined, "3-9", [3, 9], [[2, 9]], [[3, 9.5]], [["3", "9"]], [[3, 1e9]], [[-1, 9]], [null]])
      expect(await relay([plain], (result) => (result["marks"] = wrong))).toEqual([expected]);
    for (const wrong of [-1, 0.5, "2", null])
      expect(await relay([plain], (result) => (result["offset"] = wrong))).toEqual([expected]);
  });
});
