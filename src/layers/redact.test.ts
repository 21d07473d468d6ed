/** A mount that masks secrets: no request, in whatever pieces, returns a part of one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plantedSecrets } from "../lib/test-secrets.ts";
import { encodeText } from "../lib/text-encoding.ts";
import type { Call } from "../resources.ts";
import { type Part, type Source, toSourceHits } from "../source.ts";
import file from "../sources/file.ts";
import { cutPart } from "../backends/ranges/cut-part.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { sourceContract } from "../testing/index.ts";
import { asking } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { redact } from "./redact.ts";

let folder: string;
let stop: AbortController;
const opened: Source[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-redact-"));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  rmSync(folder, { recursive: true, force: true });
});

const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });
const layer = redact({ cut: cutPart });
const mask = (source: Source) => layer(source, { name: "test" });

let memory: Memory;
sourceContract("a redacted source", {
  abilities: ["stat", "children", "search", "watch"],
  async open(content) {
    memory = createMemory(content as Record<string, string>);
    return mask(memory.source);
  },
  write: (path, text) => memory.set(path, text),
});

async function open(options: Partial<Parameters<typeof file.open>[0]> = {}): Promise<Source> {
  const source = mask(await file.open({ root: folder, maxBytes: 4096, ...options }, createClock().runtime));
  opened.push(source);
  return source;
}

function put(name: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, name), content);
}

function textOf(part: Part | undefined): string {
  if (!part) throw new Error("there is no part");
  return "text" in part.body ? part.body.text : Buffer.from(part.body.bytes).toString("latin1");
}

async function textAt(source: Source, path: string, query?: Readonly<Record<string, string>>): Promise<string> {
  const [part] = await source.read({ path, ...(query && { query }) }, call());
  return textOf(part);
}

/** Reads all ranges of this width, following each to the next. */
async function walked(source: Source, path: string, first: string): Promise<string> {
  let text = "";
  for (let next: string | undefined = first; next !== undefined;) {
    const [part]: readonly Part[] = await source.read(
      { path, query: Object.fromEntries(new URLSearchParams(next)) },
      call(),
    );
    text += textOf(part);
    next = (part?.meta?.["pressmark/range"] as { readonly next?: string } | undefined)?.next;
  }
  return text;
}

const planted = plantedSecrets(11, 1);
const key = planted.find(({ kind }) => kind === "private key")!;
const token = planted.find(({ kind }) => kind === "GitHub personal")!.secret;

describe("ranges of a text", () => {
  it("never cut a secret in two, wherever they begin and end", async () => {
    const text = `before\n${key.text}\nmiddle = "${token}"\n日本語の行\nafter\n`;
    put("a.txt", text);
    const source = await open();
    const whole = await textAt(source, "a.txt");
    const size = Buffer.byteLength(whole);
    expect(whole).not.toContain(key.secret);
    expect(whole.split("\n")).toHaveLength(text.split("\n").length);
    const leaks = (given: string) =>
      [key.secret, token].some((secret) =>
        Array.from({ length: secret.length - 6 }, (_, at) => secret.slice(at, at + 6)).some((piece) =>
          given.includes(piece),
        ),
      );
    expect(leaks(text)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(80), async (first, width) => {
        const given = await textAt(source, "a.txt", { bytes: `${first}-${first + width}` });
        expect(leaks(given)).toBe(false);
        expect(whole).toContain(given);
      }),
      { numRuns: 200 },
    );
    for (let line = 1; line < text.split("\n").length; line += 1)
      expect(await textAt(source, "a.txt", { lines: `${line}-${line}` })).toBe(`${whole.split("\n")[line - 1]}\n`);
  });

  it("give the whole when read one after the other, in lines and in bytes", async () => {
    put("a.txt", planted.map(({ text }) => text).join("\n"));
    const source = await open({ maxBytes: 1024 * 1024 });
    const whole = await textAt(source, "a.txt");
    for (const first of ["bytes=0-99", "lines=1-3"]) expect(await walked(source, "a.txt", first)).toBe(whole);
  });

  it("of a file too large for one read are cut from all of it", async () => {
    const filler = "nothing to see here\n".repeat(60_000);
    put("big.log", `${filler}${key.text}\n${filler}`);
    const source = await open();
    await refusal(source.read({ path: "big.log" }, call()), ["too-large"], "all of it");
    const inside = await textAt(source, "big.log", { lines: "60003-60004" });
    expect(inside).toBe("[masked]\n[masked]\n");
    const at = filler.length + 100;
    expect(await textAt(source, "big.log", { bytes: `${at}-${at + 200}` })).not.toMatch(/[A-Za-z0-9+/]{40}/);
  });

  it("of a file that is too large to scan are not given", async () => {
    put("huge.log", "x\n".repeat(5000));
    const small = redact({ cut: cutPart, maxBytes: 8192 });
    const inner = await file.open({ root: folder, maxBytes: 4096 }, createClock().runtime);
    opened.push(inner);
    const source = small(inner, { name: "test" });
    await refusal(source.read({ path: "huge.log", query: { lines: "1-2" } }, call()), ["too-large"], "huge");
  });

  it("of a text in Shift_JIS, and of one with invalid bytes, are masked as well", async () => {
    const text = `設定ファイル\n${"日本語の文章です。\n".repeat(20)}token = "${token}"\n終わり\n`;
    put("sjis.txt", encodeText(text, "shift_jis")!);
    put(
      "broken.txt",
      Buffer.concat([Buffer.from(`token = "${token}"\n日本\n`), Buffer.from([0xff, 0xfe, 0x80, 0x0a])]),
    );
    const source = await open();
    expect(await textAt(source, "sjis.txt")).toBe(text.replace(token, "[masked]"));
    expect(await textAt(source, "sjis.txt", { lines: "22-22" })).toBe('token = "[masked]"\n');
    expect(await walked(source, "sjis.txt", "bytes=0-6")).toBe(text.replace(token, "[masked]"));
    const broken = await textAt(source, "broken.txt");
    expect(broken).not.toContain(token.slice(8, 20));
    expect(await textAt(source, "broken.txt", { bytes: "12-30" })).not.toContain(token.slice(4, 10));
  });

  it("of a program with an invalid byte are masked, whatever its MIME type", async () => {
    const broken = Buffer.concat([Buffer.from(`const key = "${token}";\n`), Buffer.from([0xff, 0xfe, 0x80, 0x0a])]);
    for (const [name, mimeType] of Object.entries({ "a.js": "application/javascript", "a.svg": "image/svg+xml" })) {
      const { source } = createMemory({ [name]: { bytes: broken, mimeType } });
      expect(await textAt(mask(source), name)).not.toContain(token.slice(8, 20));
    }
  });

  it("of binary content are unchanged, and invalid ones get the source's own error", async () => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.from(token)]);
    put("a.png", png);
    put("a.txt", "one\ntwo\n");
    const source = await open();
    expect(textOf((await source.read({ path: "a.png", query: { bytes: "0-7" } }, call()))[0])).toBe(
      png.subarray(0, 8).toString("latin1"),
    );
    expect(
      (await refusal(source.read({ path: "a.txt", query: { lines: "x" } }, call()), ["invalid"], "x")).message,
    ).toContain("10-40");
    await refusal(source.read({ path: "a.txt", query: { lines: "9-10" } }, call()), ["invalid"], "beyond");
    await refusal(source.read({ path: "none.txt", query: { lines: "1-2" } }, call()), ["not-found"], "none");
    await refusal(source.read({ path: "a.txt", query: { strange: "1" } }, call()), ["not-found"], "strange");
  });

  it("of a resource with several parts are cut from all of them, as the source joins them", async () => {
    const sheets = ["name,age\nada,36\n", `key,value\ntoken,"${token}"\nlast,line\n`];
    const joined: Part = { body: { text: sheets.join("\n") }, mimeType: "text/csv" };
    const source = mask({
      list: async () => ({ items: [{ path: "book" }] }),
      async read(at, { signal }) {
        if (!at.query) return sheets.map((text) => ({ body: { text }, mimeType: "text/csv" }));
        return [(await cutPart(joined, at, { maxBytes: 4096, signal }))!];
      },
    });
    const whole = sheets.join("\n").replace(token, "[masked]");
    expect(await textAt(source, "book", { lines: "5-6" })).toBe('token,"[masked]"\nlast,line\n');
    for (const first of ["lines=1-2", "bytes=0-9"]) expect(await walked(source, "book", first)).toBe(whole);
    expect((await source.read({ path: "book" }, call())).map(textOf)).toEqual([
      sheets[0],
      'key,value\ntoken,"[masked]"\nlast,line\n',
    ]);
  });

  it("see later writes", async () => {
    put("a.txt", `token = "${token}"\n`);
    const source = await open();
    expect(await textAt(source, "a.txt", { lines: "1-1" })).toBe('token = "[masked]"\n');
    put("a.txt", "another text altogether\n");
    expect(await textAt(source, "a.txt", { lines: "1-1" })).toBe("another text altogether\n");
  });
});

function hitAt(path: string, offset: number) {
  return { entry: { path }, score: 1, snippet: "the harbour", offset };
}

describe("other output", () => {
  it("of entries and parts is masked, except for their paths", async () => {
    const { source } = createMemory({
      "a.txt": { text: "x", title: `Use ${token}`, description: `or ${token}`, meta: { deep: [{ er: token }] } },
    });
    const masked = mask(source);
    const said = [
      await masked.list(asking(10), call()),
      await masked.stat!({ path: "a.txt" }, call()),
      await masked.children!({ path: "" }, asking(10), call()),
      await masked.read({ path: "a.txt" }, call()),
    ];
    expect(JSON.stringify(said)).not.toContain(token);
    expect(JSON.stringify(said)).toContain("Use [masked]");
  });

  it("of a hit matches the masked text, and a secret gives no hit", async () => {
    const { source } = createMemory({
      "a.txt": `harmless words around the token = "${token}" and more`,
      "b.txt": "harmless words alone",
    });
    const masked = mask(source);
    const found = async (text: string) => {
      const { hits } = toSourceHits(await masked.search!({ text, limit: 10 }, call()));
      expect(JSON.stringify(hits)).not.toContain(token.slice(6, 16));
      return hits.map(({ entry }) => entry.path).sort();
    };
    expect(toSourceHits(await source.search!({ text: token, limit: 10 }, call())).hits.length).toBe(1);
    expect(await found(token)).toEqual([]);
    expect(await found(token.slice(0, 12))).toEqual([]);
    // A true and an invented secret give the same result.
    expect(await found(`harmless ${token.slice(0, 12)}`)).toEqual(await found("harmless ghp_zzzzzzzz"));
    expect(await found("harmless")).toEqual(["a.txt", "b.txt"]);
  });

  it("of a hit does not reveal a secret letter by letter after the name in front of it", async () => {
    const { source } = createMemory({ "a.txt": `AWS_SECRET_ACCESS_KEY=${token} and more` });
    const found = async (text: string) =>
      toSourceHits(await mask(source).search!({ text, limit: 10 }, call())).hits.length;
    const name = "AWS_SECRET_ACCESS_KEY=";
    expect(toSourceHits(await source.search!({ text: name + token.slice(0, 8), limit: 10 }, call())).hits.length).toBe(
      1,
    );
    expect(await found(name)).toBe(1);
    for (let length = 1; length < token.length; length += 1) expect(await found(name + token.slice(0, length))).toBe(0);
  });

  it("of a hit does not say whether the text behind the mask matches", async () => {
    const { source } = createMemory({ "a.txt": `harbour token = "${token}"`, "b.txt": "the harbour" });
    const hits = ["a.txt", "b.txt"].map((path) => ({ ...hitAt(path, 0), isMatch: true }));
    const found = await mask({ ...source, search: async () => hits }).search!({ text: "harbour", limit: 10 }, call());
    expect(toSourceHits(found).hits.map(({ isMatch }) => isMatch)).toEqual([undefined, true]);
  });

  it.each([
    ["its description", { description: `scrape ${token} daily` }],
    ["its title", { title: `scrape ${token} daily` }],
    ["a text that has changed, or that was never there", {}],
  ])("of a hit in a plain text holds no secret of %s", async (_, more) => {
    const { source } = createMemory({ "a.txt": "numbers to scrape" });
    const hit = { entry: { path: "a.txt", ...more }, score: 1, snippet: `scrape ${token} daily`, isMatch: true };
    const masked = mask({ ...source, search: async () => [hit] });
    const found = async (text: string) => toSourceHits(await masked.search!({ text, limit: 10 }, call())).hits;
    const shown = Object.fromEntries(Object.keys(more).map((name) => [name, "scrape [masked] daily"]));
    expect(await found("scrape")).toEqual([{ entry: { path: "a.txt", ...shown }, score: 1 }]);
    expect(await found(token)).toEqual([]);
    expect(await found(token.slice(0, 12))).toEqual([]);
  });

  it("of a hit holds no offset into a text other than the one that is read", async () => {
    const text = `token = "${token}"\n\nthe harbour\n`;
    const { source } = createMemory({ "a.txt": text, "b.txt": "the harbour" });
    const search = async () => [hitAt("a.txt", text.indexOf("the")), hitAt("b.txt", 0)];
    const found = await mask({ ...source, search }).search!({ text: "harbour", limit: 10 }, call());
    expect(toSourceHits(found).hits).toEqual([
      { entry: { path: "a.txt" }, score: 1, snippet: "the harbour" },
      hitAt("b.txt", 0),
    ]);
  });

  it("of problems is masked", async () => {
    const masked = mask({
      ...createMemory().source,
      problems: async () => [{ path: "a.txt", says: `holds ${token}` }],
    });
    expect(await masked.problems!(call())).toEqual([{ path: "a.txt", says: "holds [masked]" }]);
  });

  it("of templates that the source learns is masked, and stays the same list while nothing changes", async () => {
    let templates: Source["templates"] = [];
    const masked = mask({
      ...createMemory().source,
      get templates() {
        return templates;
      },
      async learnTemplates() {
        if (templates?.length === 0) templates = [{ template: "{id}", name: "a", description: `holds ${token}` }];
      },
    });
    expect(masked.templates).toEqual([]);
    await masked.learnTemplates!(call());
    const learnt = masked.templates;
    expect(learnt).toEqual([{ template: "{id}", name: "a", description: "holds [masked]" }]);
    await masked.learnTemplates!(call());
    expect(masked.templates).toBe(learnt);
  });

  it("of a patch holds no line from the middle of a key, and keeps those of certificates", async () => {
    const lines = key.text.split("\n").slice(2, 5);
    const patch = ["@@ -3,3 +3,3 @@", ` ${lines[0]}`, `-${lines[1]}`, `+${lines[2]}`].join("\n");
    const certificate = `-----BEGIN CERTIFICATE-----\n+${lines[0]}\n+-----END CERTIFICATE-----`;
    const { source } = createMemory({
      "a.diff": { text: patch, mimeType: "text/x-diff" },
      "b.diff": { text: certificate, mimeType: "text/x-diff" },
    });
    expect(await textAt(mask(source), "a.diff")).toBe("@@ -3,3 +3,3 @@\n [masked]\n-[masked]\n+[masked]");
    expect(await textAt(mask(source), "b.diff")).toBe(certificate);
  });

  it("of skills promises no digest of masked files", async () => {
    const inner: Source = {
      ...createMemory().source,
      skills: async () => ({ items: [await inner.skill!({ path: "" }, call())] }),
      skill: async () => ({
        path: "a/SKILL.md",
        frontMatter: { name: "a", description: `needs ${token}` },
        files: [{ path: "a/SKILL.md", digest: "sha256:0", size: 1 }],
      }),
    };
    const skill = await mask(inner).skill!({ path: "a/SKILL.md" }, call());
    expect(skill).toEqual({
      path: "a/SKILL.md",
      frontMatter: { name: "a", description: "needs [masked]" },
      files: "dynamic",
    });
    expect((await mask(inner).skills!(asking(1), call())).items).toEqual([skill]);
  });
});
