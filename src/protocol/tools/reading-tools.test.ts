import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../../access/policy.ts";
import { ResourceError } from "../../errors.ts";
import type { Call, Resources } from "../../resources.ts";
import { createResources, type LocalResources } from "../../router/create-resources.ts";
import { createKeySource } from "../../router/test-key-source.ts";
import file from "../../sources/file.ts";
import { createMemory } from "../../sources/memory.ts";
import { createClock } from "../../testing/clock.ts";
import type { RequestParams } from "../message.ts";
import type { ToolCall, ToolResult } from "../tools.ts";
import type { NamedMount } from "./mounts.ts";
import { createReadingTools, type ReadingToolName, type ReadingToolsOptions } from "./reading-tools.ts";

const reader: ToolCall = {
  caller: { id: "reader" },
  signal: new AbortController().signal,
  inputResponses: undefined,
  requestState: undefined,
  clientCapabilities: {},
};
const policy: Policy = { maySee: ({ id }, _mount, { path }) => id === "owner" || !/^secrets(?:\/|$)/.test(path) };

let folder: string;
let pressmark: LocalResources;
let mounts: readonly NamedMount[];
let base: string;

async function put(name: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "pressmark-tools-")));
  await put("README.md", "# Project\n\nHow to begin.\n");
  await put("docs/guide.md", "# Guide\n");
  await put("docs/日本語の手引き.md", "# 手引き\n");
  await put("docs/deep/leaf.md", "# Leaf\n");
  await put("long.txt", Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join(""));
  await put("one-line.json", JSON.stringify("x".repeat(200_000)));
  await put("huge.log", "0123456789\n".repeat(600_000));
  await put("huge-line.txt", "y".repeat(6_000_000));
  await put("page.html", "<h1>Title</h1><p>Some words.</p>");
  await put(
    "blob.bin",
    Uint8Array.from({ length: 50_000 }, (_, at) => (at * 7) % 256),
  );
  await put("secrets/key.txt", "hidden\n");
  const { runtime } = createClock();
  const options = { root: folder, maxBytes: 5 * 1024 * 1024 };
  const memory = createMemory(
    {
      "notes/ink.txt": "Buy ink for the press.\nThen print.\n",
      "notes/paper.txt": { text: "Order paper.\n", title: "Paper" },
      "pixel.png": { bytes: Uint8Array.of(0x89, 0x50, 0x4e, 0x47), mimeType: "image/png" },
      "raw.bin": { bytes: Uint8Array.from({ length: 100 }, (_, at) => at), mimeType: "application/octet-stream" },
      "secrets/ink.txt": "invisible ink\n",
      "会議メモ.md": "予算の会議は月曜日です。\n",
    },
    {
      templates: [
        {
          template: "pairs/{name}",
          name: "pair",
          read: ({ name }) => [
            { body: { text: name === "long" ? "left\n".repeat(20_000) : "left\n" }, mimeType: "text/plain" },
            { body: { text: "right\n" }, mimeType: "text/plain", at: { path: "notes/ink.txt" } },
          ],
        },
      ],
    },
  );
  base = file.base!(options);
  const all = [
    { name: "project", base, source: await file.open(options, runtime) },
    { name: "files", base: "memory://files/", source: memory.source },
  ];
  mounts = all;
  pressmark = createResources({ mounts: all, policy, runtime, cursorKey: new Uint8Array(32).fill(1), pageSize: 1000 });
});
afterAll(async () => {
  await pressmark.close();
  await rm(folder, { recursive: true, force: true });
});

function open(options: Partial<ReadingToolsOptions> = {}) {
  return createReadingTools({ resources: pressmark, server: "pressmark", mounts: () => mounts, ...options });
}

async function use(
  name: ReadingToolName,
  args: RequestParams,
  asked = reader,
  options: Partial<ReadingToolsOptions> = {},
) {
  const tool = open(options).find((each) => each.name === name);
  const answer = (await tool!.call(args, asked)) as ToolResult;
  const notes = answer.content.filter((block) => block.type === "text" && block.uri === undefined);
  const text = notes.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { ...answer, text };
}

async function refused(name: ReadingToolName, args: RequestParams, asked = reader): Promise<string> {
  try {
    const { content } = await use(name, args, asked);
    throw new Error(`not refused: ${JSON.stringify(content).slice(0, 200)}`);
  } catch (cause) {
    if (cause instanceof ResourceError) return cause.message;
    throw cause;
  }
}

const searching = (search: Resources["search"]): Resources => ({ ...pressmark, search });

const textOf = (answer: ToolResult) =>
  answer.content.map((block) => (block.type === "text" && block.uri !== undefined ? block.text : "")).join("");

describe("the reading tools", () => {
  it("say in the imperative when to call them, with the server's name and the mounts", () => {
    for (const { description } of open()) {
      const said = typeof description === "function" ? description({ id: "reader" }) : description;
      expect(said).toMatch(/^(?:Search|List|Read|Gather)\b.* before you /);
      expect(said).toContain("server pressmark");
      expect(said).toContain('"project"');
      expect(said).toContain("memory://files");
    }
  });

  it("name no tool that is not offered, and take no server's name", () => {
    const [only, ...others] = open({ only: ["read_resource"] });
    expect(others).toEqual([]);
    const said = (only!.description as (caller: object) => string)({ id: "reader" });
    expect(said).not.toMatch(/search_resources|list_resources/);
    for (const { inputSchema } of open())
      expect(Object.keys(inputSchema["properties"] as object)).not.toContain("server");
  });

  it("say that they change nothing and reach no further than this server", () => {
    for (const { annotations } of open())
      expect(annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
  });

  it.each([
    ["search_resources", {}, '"query" is missing'],
    ["search_resources", { query: 7 }, '"query" must be a string'],
    ["search_resources", { query: "  " }, '"query" is empty'],
    ["search_resources", { query: "x".repeat(2001) }, '"query" may have at most 2000 characters'],
    ["search_resources", { query: "ink", limit: 0 }, '"limit" must be a whole number from 1 to 50'],
    ["search_resources", { query: "ink", limit: "10" }, '"limit" must be a whole number from 1 to 50'],
    ["search_resources", { query: "ink", limit: 1e9 }, '"limit" must be a whole number from 1 to 50'],
    ["search_resources", { query: "ink", typing: "yes" }, '"typing" must be true or false'],
    ["search_resources", { querry: "ink" }, 'search_resources has no argument "querry"; did you mean "query"?'],
    [
      "search_resources",
      { query: "ink", server: "?" },
      'search_resources has no argument "server"; it takes "query", "limit", "within", "typing"',
    ],
    [
      "search_resources",
      { limit: 0, typing: "yes" },
      '"query" is missing; "limit" must be a whole number from 1 to 50; "typing" must be true or false',
    ],
    ["list_resources", { glob: ["*"] }, '"glob" must be a string'],
    ["list_resources", { glob: 7, limit: 0 }, '"glob" must be a string; "limit" must be a whole number'],
    ["read_resource", { lines: "0-4" }, '"uri" is missing; "lines" must be a range'],
    ["list_resources", { glob: `${"{a,".repeat(30)}b${"}".repeat(30)}` }, '"glob" cannot be used'],
    ["list_resources", { cursor: "made up" }, "cursor"],
    ["read_resource", {}, '"uri" is missing'],
    ["read_resource", { uri: "memory://files/raw.bin", lines: "1-2", bytes: "0-1" }, "not both"],
    ["read_resource", { uri: "memory://files/raw.bin", lines: "0-4" }, '"lines" must be a range, as in "10-40"'],
    ["read_resource", { uri: "memory://files/raw.bin", bytes: "9-4" }, '"bytes" must be a range, as in "0-1023"'],
    ["read_resource", { uri: "memory://files/raw.bin", lines: "1; rm -rf" }, "must be a range"],
    ["read_resource", { uri: "memory://files/raw.bin", lines: "1-2" }, "it has no lines"],
    ["read_resource", { uri: "memory://files/raw.bin", bytes: "100-" }, "there are only 100 bytes"],
    ["read_resource", { uri: "memory://files/notes/ink.txt", lines: "3-" }, "has 2 lines, so there is none at 3"],
    ["read_resource", { __proto__: null, constructor: 1 }, "has no argument"],
  ] as const)("%s refuses %j in words that say what to do", async (name, args, message) => {
    expect(await refused(name, args)).toContain(message);
  });

  it("take null for what is left out", async () => {
    const { text } = await use("list_resources", { within: "memory://files/notes", glob: null, cursor: null });
    expect(text).toContain("memory://files/notes/ink.txt");
  });
});

describe("search_resources", () => {
  it("gives links, the text with what matched marked, and the same as data", async () => {
    const { content, text, structuredContent } = await use("search_resources", { query: "ink" });
    expect(text).toContain('result for "ink"');
    expect(text).toContain("1. notes/ink.txt, lines 1-1\nmemory://files/notes/ink.txt\n");
    expect(content[1]).toMatchObject({ type: "link", resource: { uri: "memory://files/notes/ink.txt" } });
    expect(structuredContent).toMatchObject({
      ready: 1,
      results: [{ uri: "memory://files/notes/ink.txt", name: "ink.txt", snippet: expect.stringContaining("Buy ink") }],
    });
  });

  it("marks matches, if the index reports them", async () => {
    const resource = { uri: "memory://files/a.txt", name: "a.txt", title: "A\nletter" };
    const marks = [
      [4, 7],
      [12, 17],
    ] as const;
    const hit = { resource, score: 1, snippet: "Buy ink for\npress", offset: 0, marks, lines: [3, 4] as const };
    const resources: Resources = { ...pressmark, search: async () => ({ hits: [hit], ready: 1 }) };
    const { text } = await use("search_resources", { query: "ink press" }, reader, { resources });
    expect(text).toContain("1. a.txt (A letter), lines 3-4\nmemory://files/a.txt\nBuy «ink» for «press»");
  });

  it("finds Japanese, and only below the directory that was named, with or without a slash behind it", async () => {
    expect((await use("search_resources", { query: "会議" })).text).toContain("memory://files/%E4%BC%9A%E8%AD%B0");
    for (const within of ["memory://files/notes", "memory://files/notes/"])
      expect((await use("search_resources", { query: "paper", within })).text).toContain("notes/paper.txt");
    expect((await use("search_resources", { query: "会議", within: "memory://files/notes" })).text).toMatch(
      /^Nothing found for "会議"\./,
    );
  });

  it("reports how much of the index is ready, and what to do if nothing can be searched", async () => {
    const half = { resources: searching(async () => ({ hits: [], ready: 0.375 })) };
    expect((await use("search_resources", { query: "ink" }, reader, half)).text).toBe(
      'Nothing found for "ink". Only 37% of the index is ready, so there may be more: search again in a moment.',
    );
    const failures = [
      { mount: "notes", message: "the disk of the search index is full" },
      { mount: "docs", message: "the disk of the search index is full" },
    ];
    const failing = { resources: searching(async () => ({ hits: [], ready: 0, failures })) };
    const answer = await use("search_resources", { query: "ink" }, reader, failing);
    expect(answer.text).toBe(
      'Nothing could be searched for "ink". "notes", "docs": the disk of the search index is full.',
    );
    expect(answer.structuredContent).toEqual({ ready: 0, failures, results: [] });
    const partly = { resources: searching(async () => ({ hits: [], ready: 0.5, failures: failures.slice(1) })) };
    expect((await use("search_resources", { query: "ink" }, reader, partly)).text).toBe(
      'Nothing found for "ink". Not everything was searched, so there may be more. "docs": the disk of the search index is full.',
    );
    const none = {
      resources: searching(async () => {
        throw new ResourceError("unsupported", "no");
      }),
    };
    await expect(use("search_resources", { query: "ink" }, reader, none)).rejects.toThrow(
      "nothing here can be searched; list_resources lists all resources",
    );
  });

  it("is never longer than a conversation can bear, and cuts no character and no mark", async () => {
    const snippet = `${"🖋️ほん".repeat(400)}found${"終わり".repeat(400)}`;
    const at = snippet.indexOf("found");
    const hits = Array.from({ length: 50 }, (_, index) => ({
      resource: { uri: `memory://files/${"%E4%BC%9A".repeat(200)}${index}`, name: "会".repeat(200) },
      score: 1,
      snippet,
      offset: 0,
      marks: [[at, at + 5]] as const,
    }));
    const resources: Resources = { ...pressmark, search: async () => ({ hits, ready: 1 }) };
    const { text, structuredContent } = await use("search_resources", { query: "x", limit: 50 }, reader, { resources });
    expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
    expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThan(80 * 1024);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/\d+ more are left out because of their length/);
    expect(text).toContain("«found»");
  });
});

describe("list_resources", () => {
  it("gives what stands directly in a directory, directories included", async () => {
    const { text, structuredContent } = await use("list_resources", { within: `${base}docs/` });
    expect(text).toContain(`${base}docs/guide.md (text/markdown, 8 bytes)`);
    expect(text).toContain(`${base}docs/deep (directory)`);
    expect(structuredContent).toMatchObject({ resources: { length: 3 } });
    expect(structuredContent?.["cursor"]).toBeUndefined();
  });

  it("gives descriptions on one line, and cuts long ones", async () => {
    const item = { uri: "memory://files/a", name: "a", title: "表題", mimeType: "text/markdown" };
    const descriptions = ["請求の\n手順", "説明".repeat(500), " "];
    const items = descriptions.map((description) => ({ ...item, description }));
    const resources: Resources = { ...pressmark, list: async () => ({ items }) };
    const { text, structuredContent } = await use("list_resources", {}, reader, { resources });
    const lines = text.split("\n");
    expect(lines[0]).toBe("memory://files/a (表題, text/markdown): 請求の 手順");
    expect(lines[1]).toMatch(/: (?:説明){150}…$/);
    expect(lines[2]).toBe("memory://files/a (表題, text/markdown)");
    expect(structuredContent).toMatchObject({ resources: [{ description: "請求の 手順" }, {}, {}] });
  });

  it.each([
    ["**/*.md", 5],
    ["*.md", 2],
    ["docs/*.md", 2],
    ["./docs/**", 3],
    ["notes/*", 2],
    ["nothing/*", 0],
  ])("gives all whose path fits %j", async (glob, count) => {
    const { structuredContent, text } = await use("list_resources", { glob });
    expect(structuredContent).toMatchObject({ resources: { length: count } });
    if (count === 0) expect(text).toBe("Nothing matches.");
  });

  it("gives all below a directory whose path from there fits", async () => {
    const { structuredContent } = await use("list_resources", { within: `${base}docs`, glob: "**/l*.md" });
    expect(structuredContent).toMatchObject({ resources: [{ uri: `${base}docs/deep/leaf.md` }] });
    const names = await use("list_resources", { within: `${base}docs`, glob: "日本語*" });
    expect(names.structuredContent).toMatchObject({ resources: [{ name: "日本語の手引き.md" }] });
  });

  it.each([{}, { glob: "**/*.md" }, { within: "" }, { within: "", glob: "**" }, { glob: "{docs,notes}/**" }])(
    "gives each once over its pages, whatever their size: %j",
    async (given) => {
      const args = "within" in given ? { ...given, within: base.replace(/\/$/, "") } : given;
      const urisOf = async (limit: number) => {
        const uris: string[] = [];
        let cursor: unknown;
        do {
          const more = typeof cursor === "string" ? { cursor } : {};
          const { structuredContent } = await use("list_resources", { ...args, limit, ...more });
          const page = structuredContent as { resources: { uri: string }[]; cursor?: string };
          expect(page.resources.length).toBeLessThanOrEqual(limit);
          uris.push(...page.resources.map(({ uri }) => uri));
          ({ cursor } = page);
        } while (cursor !== undefined);
        return uris;
      };
      const all = await urisOf(500);
      expect(all.length).toBeGreaterThan(3);
      expect(new Set(all).size).toBe(all.length);
      for (const limit of [1, 2, 3, 7]) expect(await urisOf(limit)).toEqual(all);
    },
  );

  it("has a limited length, and tells how to continue", async () => {
    const many = createMemory(
      Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`${"長い名前".repeat(30)}/${at}.txt`, "x"])),
    );
    const wide = createResources({
      mounts: [{ name: "wide", base: "wide://", source: many.source }],
      policy,
      runtime: createClock().runtime,
      cursorKey: new Uint8Array(32),
    });
    const options = { resources: wide };
    const { text, structuredContent } = await use("list_resources", { limit: 500 }, reader, options);
    expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
    expect(text).toMatch(/There is more: call list_resources again with the same arguments and cursor "[^"]+"\.$/);
    const cursor = (structuredContent as { cursor: string }).cursor;
    const next = await use("list_resources", { limit: 500, cursor }, reader, options);
    const count = (answer: typeof next) => (answer.structuredContent as { resources: object[] }).resources.length;
    expect(count(next)).toBe(count({ ...next, structuredContent: structuredContent! }));
  });

  it("stops comparing after a while, and reports that", async () => {
    const many = createMemory(Object.fromEntries(Array.from({ length: 25_000 }, (_, at) => [`${at}.txt`, "x"])));
    const deep = createResources({
      mounts: [{ name: "deep", base: "deep://", source: many.source }],
      policy,
      runtime: createClock().runtime,
      cursorKey: new Uint8Array(32),
    });
    const options = { resources: deep };
    const first = await use("list_resources", { glob: "**/99999*" }, reader, options);
    expect(first.text).toMatch(/^0 of \d{3,5} compared resources match; there are more to compare\./);
    let turns = 1;
    let last = first;
    for (; last.text !== "Nothing matches."; turns += 1) {
      const { cursor } = last.structuredContent as { cursor: string };
      last = await use("list_resources", { glob: "**/99999*", cursor }, reader, options);
    }
    expect(turns).toBeLessThan(100);
  });
});

describe("read_resource", () => {
  it("gives a small text whole and once, without a note", async () => {
    const uri = `${base}README.md`;
    const { content } = await use("read_resource", { uri });
    expect(content).toEqual([{ type: "text", text: "# Project\n\nHow to begin.\n", uri }]);
  });

  it.each(["long.txt", "one-line.json", "huge-line.txt"])(
    "gives %s in parts that are whole again when the next ranges are followed",
    async (name) => {
      let said = "";
      let args: RequestParams = { uri: base + name };
      for (let turn = 0; turn < 4; turn += 1) {
        const answer = await use("read_resource", args);
        expect(Buffer.byteLength(textOf(answer))).toBeLessThanOrEqual(96 * 1024);
        said += textOf(answer);
        const next = /with uri (\S+) and (lines|bytes) "([\d-]+)"/.exec(answer.text);
        if (!next) break;
        args = { uri: next[1]!, [next[2]!]: next[3]! };
      }
      const whole: Record<string, string> = {
        "long.txt": Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join(""),
        "one-line.json": JSON.stringify("x".repeat(200_000)),
        "huge-line.txt": "y".repeat(6_000_000),
      };
      expect(said.length).toBeGreaterThan(96 * 1024);
      expect(whole[name]!.startsWith(said)).toBe(true);
    },
  );

  it("gives the first lines of what is too large to be read at once", async () => {
    const answer = await use("read_resource", { uri: `${base}huge.log` });
    expect(answer.text).toBe(
      `This is lines 1-1000. To continue, call read_resource with uri ${base}huge.log and lines "1001-2000".`,
    );
  });

  it("gives lines of a file, through its source or without its help", async () => {
    const lines = await use("read_resource", { uri: `${base}long.txt`, lines: "10-12" });
    expect(textOf(lines)).toBe("line 10\nline 11\nline 12\n");
    expect(lines.text).toContain(`This is lines 10-12.`);
    const other = await use("read_resource", { uri: "memory://files/notes/ink.txt", lines: "2" });
    expect(textOf(other)).toBe("Then print.\n");
    expect(other.text).toBe("This is lines 2-2 of 2.");
  });

  it("gives bytes", async () => {
    const raw = await use("read_resource", { uri: "memory://files/raw.bin", bytes: "10-12" });
    expect(raw.content[1]).toMatchObject({ content: { body: { bytes: Uint8Array.of(10, 11, 12) } } });
    expect(raw.text).toContain(
      'bytes 10-12 of 100. To continue, call read_resource with uri memory://files/raw.bin and bytes "13-99".',
    );
    const blob = await use("read_resource", { uri: `${base}blob.bin`, bytes: "0-" });
    expect(blob.text).toContain("bytes 0-32767 of 50000.");
  });

  it("gives the text of a document, an image as an image, and describes other bytes", async () => {
    const page = await use("read_resource", { uri: `${base}page.html`, lines: "1-1" });
    expect(textOf(page)).toContain("Title");
    const pixel = await use("read_resource", { uri: "memory://files/pixel.png" });
    expect(pixel.content[1]).toMatchObject({ type: "image", mimeType: "image/png" });
    const blob = await use("read_resource", { uri: `${base}blob.bin` });
    expect(blob.text).toContain("is not text (application/octet-stream, 50000 bytes)");
  });

  it("gives the cells of a notebook, counts its lines there, and gives a damaged one as it is", async () => {
    const cells = ["# 分析", "a", "b"].map((source) => ({ cell_type: "markdown", source }));
    await put("n.ipynb", JSON.stringify({ cells }));
    await put("damaged.ipynb", '{ "cells": [');
    expect(textOf(await use("read_resource", { uri: `${base}n.ipynb` }))).toBe("# 分析\n\na\n\nb\n");
    expect(textOf(await use("read_resource", { uri: `${base}n.ipynb`, lines: "3-3" }))).toBe("a\n");
    expect(textOf(await use("read_resource", { uri: `${base}damaged.ipynb` }))).toBe('{ "cells": [');
  });

  it("gives all contents of a resource that has several, each after its URI", async () => {
    const both = await use("read_resource", { uri: "memory://files/pairs/a" });
    expect(textOf(both)).toBe("left\nright\n");
    expect(both.text).toBe("memory://files/pairs/a:\nmemory://files/notes/ink.txt:");
    const ranged = await use("read_resource", { uri: "memory://files/pairs/a", lines: "1-1" });
    expect(textOf(ranged)).toBe("left\n");
    const long = await use("read_resource", { uri: "memory://files/pairs/long" });
    expect(long.text).toContain('call read_resource with uri memory://files/pairs/long and lines "13108-26214".');
    expect(long.text).toContain("There is more: read memory://files/notes/ink.txt");
  });

  it("names what is in a directory", async () => {
    expect(textOf(await use("read_resource", { uri: `${base}docs` }))).toContain(`${base}docs/guide.md`);
  });

  it.each([
    ["docs/guide.md", "docs/guide.md"],
    ["./docs/gide.md", "docs/guide.md"],
    ["/docs/Guide.MD", "docs/guide.md"],
    ["BASE/docs/gudie.md", "docs/guide.md"],
    ["BASE/doc/guide.md", "docs/guide.md"],
    ["BASE/docs/日本語の手引.md", "docs/%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E6%89%8B%E5%BC%95%E3%81%8D.md"],
    ["BASE/README.md?lines=1-2&page=7", "README.md"],
  ])("suggests what is there for %j", async (wrong, right) => {
    const uri = wrong.replace("BASE/", base);
    expect(await refused("read_resource", { uri })).toContain(`did you mean ${base}${right}`);
  });

  it("suggests nothing that the caller may not see, and gives the same error as for a missing resource", async () => {
    const said = async (uri: string) => (await refused("read_resource", { uri })).replaceAll(uri, "URI");
    for (const uri of [`${base}secrets/key.txt`, `${base}secrets/kex.txt`, "memory://files/secrets/ink.txt"])
      expect(await said(uri)).toBe(await said(uri.replace("secrets", "sexrets")));
    expect(await refused("read_resource", { uri: `${base}secrets/kee.txt` })).not.toContain("key.txt");
    const owner: ToolCall = { ...reader, caller: { id: "owner" } };
    expect(await refused("read_resource", { uri: `${base}secrets/kee.txt` }, owner)).toContain("secrets/key.txt");
  });

  it("hands the question on with its caller and its end", async () => {
    const ended = new AbortController();
    ended.abort();
    const cancelled: Call = { caller: { id: "reader" }, signal: ended.signal };
    await expect(use("list_resources", {}, { ...reader, ...cancelled })).rejects.toMatchObject({ kind: "cancelled" });
  });
});

describe("keys without order, some with keys below them", () => {
  const keys = [...Array.from({ length: 30 }, (_, index) => `user:${index}:name`), "user:7", "group:a"];
  const mount = { name: "k", base: "k://", source: createKeySource(keys).source };
  const resources = createResources({
    mounts: [mount],
    policy: openPolicy,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
    pageSize: 5,
  });
  const list = async (args: RequestParams) => {
    const tools = createReadingTools({ resources, server: "test", mounts: () => [mount] });
    const tool = tools.find(({ name }) => name === "list_resources")!;
    return (await tool.call(args, reader)) as ToolResult;
  };

  it("are all found by a pattern below one of them", async () => {
    const found = await list({ within: "k://user", glob: "*/name", limit: 100 });
    expect((found.structuredContent as { resources: unknown[] }).resources).toHaveLength(30);
  });

  it("say that something is below them", async () => {
    const found = await list({ within: "k://user", glob: "7" });
    expect(found.structuredContent).toMatchObject({
      resources: [{ uri: "k://user/7", mimeType: "text/plain", _meta: { "pressmark/hasChildren": true } }],
    });
    expect(found.content).toMatchObject([
      { text: expect.stringContaining("k://user/7 (text/plain, 15 bytes, has resources below it)") },
    ]);
  });
});
