/** How `search_resources` tells a model what matches and what is only similar. */
import { expect, it } from "vitest";
import type { Hit, Resources, SearchResult } from "../../resources.ts";
import type { ToolResult } from "../tools.ts";
import { createReadingTools } from "./reading-tools.ts";

const asked = {
  caller: { id: "reader" },
  signal: new AbortController().signal,
  inputResponses: undefined,
  requestState: undefined,
  clientCapabilities: {},
};

function hit(name: string, isMatch?: boolean): Hit {
  return {
    resource: { uri: `notes://a/${encodeURIComponent(name)}`, name },
    score: 1,
    ...(isMatch !== undefined && { isMatch }),
  };
}

async function search(
  hits: readonly Hit[],
  status: Partial<SearchResult> = {},
): Promise<{ text: string; data: unknown }> {
  const resources = { search: async () => ({ hits, ready: 1, ...status }) } as unknown as Resources;
  const mounts = [{ name: "notes", base: "notes://a/" }];
  const tool = createReadingTools({ resources, server: "test", mounts: () => mounts }).find(
    ({ name }) => name === "search_resources",
  )!;
  const { content, structuredContent } = (await tool.call({ query: "設計 getUserName" }, asked)) as ToolResult;
  const [first] = content;
  return { text: first?.type === "text" ? first.text : "", data: structuredContent };
}

it("shows matches first, then what is similar, apart from them", async () => {
  const { text, data } = await search([
    hit("near.md", false),
    hit("設計.md", true),
    hit("far.md", false),
    hit("b.md", true),
  ]);
  expect(text).toBe(
    [
      '2 results for "設計 getUserName".',
      "1. 設計.md\nnotes://a/%E8%A8%AD%E8%A8%88.md",
      "2. b.md\nnotes://a/b.md",
      "These do not match, but are similar:",
      "3. near.md\nnotes://a/near.md",
      "4. far.md\nnotes://a/far.md",
    ].join("\n\n"),
  );
  expect(data).toMatchObject({
    results: [
      { name: "設計.md", isMatch: true },
      { name: "b.md", isMatch: true },
      { name: "near.md", isMatch: false },
      { name: "far.md", isMatch: false },
    ],
  });
});

it("says that nothing matches, and what to do next", async () => {
  const { text } = await search([hit("near.md", false)]);
  expect(text).toBe(
    'No match for "設計 getUserName"; these are similar. Try other words, or fewer; list_resources lists all resources.\n\n1. near.md\nnotes://a/near.md',
  );
  const incomplete = await search([hit("near.md", false)], { ready: 0.5 });
  expect(incomplete.text).toMatch(
    /^No match for .*; these are similar\. Only 50% of the index is ready, .* in a moment\.\n/,
  );
});

it("claims nothing about results of which nothing is known", async () => {
  const { text, data } = await search([hit("a.md"), hit("b.md")]);
  expect(text).toMatch(/^2 results for /);
  expect(text).not.toContain("similar");
  expect(JSON.stringify(data)).not.toContain("isMatch");
});

it("counts the matches that are shown, if not all fit", async () => {
  const long = { ...hit("long.md", true), snippet: "x".repeat(600) };
  const hits = Array.from({ length: 10 }, () => ({ ...long, resource: { ...long.resource, title: "t".repeat(9000) } }));
  const { text } = await search([...hits, hit("near.md", false)]);
  expect(text).toMatch(/^5 results for .* more are left out because of their length; use a smaller limit\.\n/);
  expect(text).not.toContain("similar");
});
