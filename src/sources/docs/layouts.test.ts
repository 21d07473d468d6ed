/** Where documentation tools put translations, and what the source makes of it. */
import { describe, expect, it } from "vitest";
import { useCollection } from "./test-collection.ts";

const { call, open, write } = useCollection();
const english = "# Title\n\nThis page is written in English, with enough words to be sure.\n";
const japanese = "# 題名\n\nこのページは日本語で書かれています。\n";
const docusaurus = "i18n/ja/docusaurus-plugin-content-";

describe("translations are paired", () => {
  it.each([
    ["VitePress", "guide/x.md", "ja/guide/x.md", "guide/x.md"],
    ["VitePress, Hugo, GitBook", "content/en/x.md", "content/ja/x.md", "content/x.md"],
    ["Starlight", "src/content/docs/x.mdx", "src/content/docs/ja/x.mdx", "src/content/docs/x.mdx"],
    ["MkDocs, Hugo", "docs/x.md", "docs/x.ja.md", "docs/x.md"],
    ["Hugo", "content/x.en.md", "content/x.ja.md", "content/x.md"],
    ["folders side by side", "docs_en/x.md", "docs_ja/x.md", "docs/x.md"],
    ["a folder of translations", "a/x.md", "translations/ja/a/x.md", "a/x.md"],
    ["Docusaurus documents", "docs/a/x.md", `${docusaurus}docs/current/a/x.md`, "docs/a/x.md"],
    [
      "Docusaurus versions",
      "versioned_docs/version-1.0/x.md",
      `${docusaurus}docs/version-1.0/x.md`,
      "versioned_docs/version-1.0/x.md",
    ],
    ["Docusaurus instances", "api/x.md", `${docusaurus}docs-api/current/x.md`, "api/x.md"],
    ["Docusaurus blog", "blog/2024-01-01-x.md", `${docusaurus}blog/2024-01-01-x.md`, "blog/2024-01-01-x.md"],
    ["Docusaurus pages", "src/pages/x.mdx", `${docusaurus}pages/x.mdx`, "src/pages/x.mdx"],
    ["Docusaurus in a folder", "web/docs/x.md", `web/${docusaurus}docs/current/x.md`, "web/docs/x.md"],
  ])("in the layout of %s: %s and %s", async (_, original, translation, path) => {
    write(original, english);
    write(translation, japanese);
    const source = await open({ git: false });
    const { items } = await source.list({ limit: 10 }, call());
    expect(items.map((item) => [item.path, item.meta?.["pressmark/docs"]])).toMatchObject([
      [`en/${path}`, { file: original, twins: { ja: `ja/${path}` } }],
      [`ja/${path}`, { file: translation, twins: { en: `en/${path}` } }],
    ]);
    expect(await source.problems(call())).toEqual([]);
  });

  it("also if the original is in Japanese", async () => {
    write("docs/x.md", japanese);
    write("i18n/en/docusaurus-plugin-content-docs/current/x.md", english);
    const { items } = await (await open({ git: false })).list({ limit: 10 }, call());
    expect(items.map(({ path }) => path)).toEqual(["en/docs/x.md", "ja/docs/x.md"]);
  });

  it("and have the priority of their original", async () => {
    write("api/x.md", english);
    write(`${docusaurus}docs-api/current/x.md`, japanese);
    write("AGENTS.md", english);
    write("AGENTS-ja.md", japanese);
    const { items } = await (await open({ git: false })).list({ limit: 10 }, call());
    const priorities = Object.fromEntries(items.map(({ path, annotations }) => [path, annotations?.priority]));
    expect(priorities).toEqual({ "en/AGENTS.md": 1, "en/api/x.md": 0.7, "ja/AGENTS.md": 1, "ja/api/x.md": 0.7 });
  });

  it("and not what is not translated: Docusaurus copies the original first", async () => {
    write("docs/x.md", english);
    write(`${docusaurus}docs/current/x.md`, english);
    const { items } = await (await open({ git: false })).list({ limit: 10 }, call());
    expect(items.map(({ path }) => path)).toEqual(["en/docs/x.md", `en/${docusaurus}docs/current/x.md`]);
  });
});

describe("links of a translation", () => {
  it("lead to the original where Docusaurus has no translation", async () => {
    write("docs/x.md", `${english}\n[y](y.md)\n`);
    write("docs/y.md", english);
    write(`${docusaurus}docs/current/x.md`, `${japanese}\n[y](./y.md) [z](z.md)\n`);
    const problems = await (await open({ git: false })).problems(call());
    expect(problems).toMatchObject([
      { path: `${docusaurus}docs/current/x.md`, says: expect.stringContaining('"z.md"') },
    ]);
  });
});
