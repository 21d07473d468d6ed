import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../../errors.ts";
import { docx, pptx, shape, xlsx } from "../../backends/documents/test-documents.ts";
import { createRuntime, logLine } from "../../server/runtime.ts";
import type { Source, Runtime } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import gdrive, { type DriveSourceOptions } from "../gdrive.ts";
import { isOfDrive } from "./drive-api.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const office = "application/vnd.openxmlformats-officedocument";
const apps = "application/vnd.google-apps";
const cell = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;

const letter = (text: string) => docx(`<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`);

let fake: FakeDrive;
let source: Source | undefined;
beforeEach(async () => {
  fake = await startFakeDrive();
});
afterEach(async () => {
  await source?.close?.();
  await fake.close();
});

async function open(options: Partial<DriveSourceOptions> = {}, runtime: Partial<Runtime> = {}): Promise<Source> {
  const parsed = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl });
  source = await gdrive.open({ ...parsed, ...options }, { ...createRuntime({ write: () => true }), ...runtime });
  return source;
}

async function textsAt(from: Source, path: string, query?: Record<string, string>): Promise<string[]> {
  const parts = await from.read(query ? { path, query } : { path }, call);
  return parts.map(({ body }) => ("text" in body ? body.text : `${body.bytes.length} bytes`));
}

describe("a document", () => {
  it("is read as Markdown without its pictures, and in other formats on request", async () => {
    const markdown = "# Plan\n\n![][image1]\n\nText.\n\n[image1]: <data:image/png;base64,iVBORw0KGgo=>\n";
    fake.document("d", markdown, {
      exports: { "text/markdown": markdown, "text/plain": "Plan", "application/pdf": "%PDF-1.7" },
    });
    const from = await open();
    const [part] = await from.read({ path: "file/d" }, call);
    expect(part).toEqual({ body: { text: "# Plan\n\n![][image1]\n\nText.\n\n" }, mimeType: "text/markdown" });
    expect(await textsAt(from, "file/d", { format: "text" })).toEqual(["Plan"]);
    expect(await textsAt(from, "file/d", { format: "pdf" })).toEqual(["8 bytes"]);
    expect(await from.stat!({ path: "file/d", query: { format: "pdf" } }, call)).toMatchObject({
      mimeType: "application/pdf",
    });
    expect(await textsAt(from, "file/d", { lines: "1-1" })).toEqual(["# Plan\n"]);
    for (const format of ["csv", "__proto__", "toString"])
      await expect(from.read({ path: "file/d", query: { format } }, call)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("that is too large to export is read through a download", async () => {
    fake.exportLimit = 10;
    fake.document("d", "# A document that is larger than ten bytes\n");
    const waits: number[] = [];
    const from = await open({}, { wait: async (ms) => void waits.push(ms) });
    expect(await textsAt(from, "file/d")).toEqual(["# A document that is larger than ten bytes\n"]);
    expect(fake.asked.filter((line) => line.startsWith("POST /drive/v3/files/d/download"))).toHaveLength(1);
    expect(fake.asked.filter((line) => line.includes("/operations/"))).toHaveLength(2);
    expect(waits).toEqual([1000, 2000]);
  });

  it.each([
    ["https://www.googleapis.com/drive/v3/x", true],
    ["https://docs.google.com/x", true],
    ["https://doc-0s-docs.googleusercontent.com/x", true],
    ["https://drive.example/x", true],
    ["http://docs.google.com/x", false],
    ["https://1.2.3.4.bc.googleusercontent.com/x", false],
    ["https://evilgoogleapis.com/x", false],
    ["https://docs.googleusercontent.com.evil.example/x", false],
    ["http://169.254.169.254/x", false],
  ])("that is downloaded is requested only where a token may be sent: %s %s", (url, may) => {
    expect(isOfDrive(new URL(url), new URL("https://drive.example/"))).toBe(may);
  });

  it("that is too large for one read says which lines to request", async () => {
    fake.document("d", "# Heading\n".repeat(100));
    const from = await open({ maxBytes: 200 });
    const refused = await from
      .read({ path: "file/d", query: { format: "markdown" } }, call)
      .catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ kind: "too-large", details: { ranges: ["format=markdown&lines=1-500"] } });
    const [part] = await from.read({ path: "file/d", query: { lines: "1-500" } }, call);
    expect(part?.meta?.["pressmark/range"]).toMatchObject({ lines: [1, 20], next: "lines=21-500" });
  });
});

describe("a spreadsheet", () => {
  it("is read as all its sheets, or as the named one", async () => {
    const book = xlsx({
      Budget: `<row>${cell("A1", "what")}${cell("B1", "how much")}</row><row>${cell("A2", "tea, green")}${cell("C2", "3")}</row>`,
      "予算 2": `<row>${cell("A1", "say &quot;hi&quot;")}</row>`,
    });
    fake.put("s", {
      mimeType: `${apps}.spreadsheet`,
      name: "Money",
      exports: { [`${office}.spreadsheetml.sheet`]: book },
    });
    const from = await open();
    expect(await from.read({ path: "file/s" }, call)).toEqual([
      {
        body: { text: 'what,how much\n"tea, green",,3\n' },
        mimeType: "text/csv",
        at: { path: "file/s", query: { sheet: "Budget" } },
        meta: { "pressmark/sheet": "Budget" },
      },
      {
        body: { text: '"say ""hi"""\n' },
        mimeType: "text/csv",
        at: { path: "file/s", query: { sheet: "予算 2" } },
        meta: { "pressmark/sheet": "予算 2" },
      },
    ]);
    expect(await textsAt(from, "file/s", { sheet: "予算 2" })).toEqual(['"say ""hi"""\n']);
    expect(await textsAt(from, "file/s", { lines: "2-2" })).toEqual(['"tea, green",,3\n']);
    await expect(from.read({ path: "file/s", query: { sheet: "none" } }, call)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("Budget"),
    });
    expect(await from.stat!({ path: "file/s" }, call)).toMatchObject({ mimeType: "text/csv", title: "Money" });
  });
});

describe("slides", () => {
  it("are read with their notes", async () => {
    const deck = pptx([{ shapes: shape("title", ["The plan"]), notes: "say it slowly" }]);
    fake.put("p", { mimeType: `${apps}.presentation`, exports: { [`${office}.presentationml.presentation`]: deck } });
    const [text = ""] = await textsAt(await open(), "file/p");
    expect(text).toContain("The plan");
    expect(text).toContain("say it slowly");
  });
});

describe("an uploaded file", () => {
  it("is read unchanged, by ranges, and as extracted text", async () => {
    fake.put("n", { name: "notes.txt", content: "one\ntwo\nthree\n" });
    fake.put("w", {
      name: "letter.docx",
      mimeType: `${office}.wordprocessingml.document`,
      content: letter("Dear reader"),
    });
    fake.put("j", { name: "data", mimeType: "application/json", content: "{}" });
    const from = await open({ maxBytes: 8192 });
    expect(await textsAt(from, "file/n", { lines: "2-3" })).toEqual(["two\nthree\n"]);
    expect(await textsAt(from, "file/n", { bytes: "4-6" })).toEqual(["two"]);
    expect(await textsAt(from, "file/w", { as: "text" })).toEqual(["Dear reader\n"]);
    expect(await from.stat!({ path: "file/w" }, call)).toMatchObject({ meta: { "pressmark/as": ["text"] } });
    expect(await from.read({ path: "file/j" }, call)).toMatchObject([{ mimeType: "application/json" }]);
    await expect(from.read({ path: "file/n", query: { format: "pdf" } }, call)).rejects.toMatchObject({
      kind: "invalid",
    });
    fake.put("n", { content: "x".repeat(9000) });
    await expect(from.read({ path: "file/n" }, call)).rejects.toMatchObject({
      kind: "too-large",
      details: { ranges: ["bytes=0-8191"] },
    });
  });
});

describe("a file changed since the last check of Drive", () => {
  it("is read in its current state: completely, by ranges, as text, sheet by sheet", async () => {
    const book = (text: string) => ({
      [`${office}.spreadsheetml.sheet`]: xlsx({ S: `<row>${cell("A1", text)}</row>` }),
    });
    fake.put("n", { name: "notes.txt", content: "old\n" });
    fake.put("s", { mimeType: `${apps}.spreadsheet`, exports: book("old") });
    fake.put("w", { name: "w.docx", mimeType: `${office}.wordprocessingml.document`, content: letter("old") });
    const from = await open();
    const all = async () => [
      ...(await textsAt(from, "file/n")),
      ...(await textsAt(from, "file/s")),
      ...(await textsAt(from, "file/w", { as: "text" })),
    ];
    await from.list({ limit: 9 }, call);
    expect(await all()).toEqual(["old\n", "old\n", "old\n"]);
    fake.put("n", { content: "new\nand longer\n" });
    fake.put("s", { exports: book("new") });
    fake.put("w", { content: letter("new") });
    expect(await all()).toEqual(["new\nand longer\n", "new\n", "new\n"]);
    expect(await textsAt(from, "file/n", { lines: "2-2" })).toEqual(["and longer\n"]);
  });
});

describe("a file that may not be read", () => {
  it("is left out of lists, is denied, and is reported as a problem", async () => {
    fake.put("closed", { name: "closed.txt", content: "secret", canDownload: false });
    fake.put("form", { name: "A form", mimeType: `${apps}.form` });
    fake.put("theirs", { content: "secret", owner: "someone@example.org" });
    fake.put("open", { content: "x" });
    const from = await open();
    expect((await from.list({ limit: 9 }, call)).items.map(({ path }) => path)).toEqual(["file/open"]);
    for (const path of ["file/closed", "file/form"])
      for (const request of [() => from.read({ path }, call), () => from.stat!({ path }, call)])
        await expect(request()).rejects.toMatchObject({ kind: "denied" });
    await expect(from.read({ path: "file/theirs" }, call)).rejects.toMatchObject({ kind: "not-found" });
    expect((await from.problems!(call)).map(({ path }) => path)).toEqual(["file/closed", "file/form"]);
  });

  it("is not reachable through aliases", async () => {
    fake.put("a", { content: "x" });
    const from = await open();
    for (const path of [
      "file/root",
      "folder/root",
      "file/a%2F..",
      "file/../about",
      "file/",
      "folder/",
      "search",
      "file/a/b",
    ])
      for (const request of [() => from.read({ path }, call), () => from.stat!({ path }, call)])
        await expect(request(), path).rejects.toMatchObject({ kind: "not-found" });
    expect(fake.asked.filter((line) => line.includes("about") || line.includes(".."))).toEqual([]);
  });
});

describe("a search in Drive", () => {
  it("finds by words, with any characters, and never more than those", async () => {
    fake.document("a", "it's 100% \\ done", { name: "A" });
    fake.document("b", "other", { name: "B" });
    const from = await open();
    await from.list({ limit: 1 }, call);
    const found = async (q: string) => {
      const [part] = await from.read({ path: "search", query: { q } }, call);
      return JSON.parse(part && "text" in part.body ? part.body.text : "") as {
        complete: boolean;
        found: { path: string }[];
      };
    };
    expect(await found("it's 100% \\ done")).toMatchObject({ complete: true, found: [{ path: "file/a", title: "A" }] });
    expect((await found("x' or name contains 'B")).found).toEqual([]);
    for (const query of [{ q: "" }, { q: " " }])
      await expect(from.read({ path: "search", query }, call)).rejects.toMatchObject({ kind: "invalid" });
    await expect(from.read({ path: "search", query: { q: "x", y: "1" } as Record<string, string> }, call)).rejects.toMatchObject({ kind: "not-found" }); // prettier-ignore
  });

  it("that is too much for Drive is split by drive, and reports if it is still incomplete", async () => {
    fake.addDrive("team", "Team");
    fake.document("a", "needle", { name: "A" });
    fake.document("t", "needle", { name: "T", driveId: "team" });
    const from = await open();
    await from.list({ limit: 1 }, call);
    fake.incomplete(1);
    const read = async () =>
      JSON.parse((await textsAt(from, "search", { q: "needle" }))[0]!) as { complete: boolean; found: object[] };
    expect(await read()).toMatchObject({ complete: true, found: [{ path: "file/a" }, { path: "file/t" }] });
    fake.incomplete(3);
    expect(await read()).toMatchObject({ complete: false });
  });
});

describe("a refusal", () => {
  it.each([
    [401, "denied", false],
    [[403, "insufficientFilePermissions"], "denied", false],
    [[403, "accessNotConfigured"], "denied", false],
    [[403, "dailyLimitExceeded"], "busy", false],
    [404, "not-found", false],
    [[403, "userRateLimitExceeded"], "busy", true],
    [[403, "rateLimitExceeded"], "busy", true],
    [429, "busy", true],
    [500, "unavailable", true],
    [503, "unavailable", true],
    ["garbage", "unavailable", true],
    ["hang", "unavailable", true],
  ] as const)("%j is mapped by its reason", async (how, kind, passing) => {
    fake.document("d", "text");
    const from = await open({ timeoutMs: 100 }, { now: () => 0, wait: async () => undefined });
    fake.fail(how, { times: 100, where: "/files" });
    const refused = await from.stat!({ path: "file/d" }, call).catch((cause: unknown) => cause);
    expect(refused).toBeInstanceOf(ResourceError);
    expect(refused).toMatchObject({ kind, passing });
    expect(logLine("warn", "x", { cause: refused })).not.toContain("said by the fake");
  });

  it("that is temporary is retried after 1, 2, 4 … 64 seconds, more or less, and then reported as temporary", async () => {
    const waits: number[] = [];
    const from = await open({}, { now: () => 0, wait: async (ms) => void waits.push(ms) });
    fake.fail([403, "userRateLimitExceeded"], { times: 100 });
    const refused = await from.watch!(call).catch((cause: unknown) => cause);
    expect(waits.map((ms, at) => ms / 2 ** at / 1000).every((share) => share >= 0.75 && share <= 1.25)).toBe(true);
    expect(waits).toHaveLength(7);
    expect(refused).toMatchObject({ kind: "busy", details: { retryAfterMs: expect.any(Number) as number } });
  });

  it("that ends soon is not noticed", async () => {
    fake.document("d", "text");
    const from = await open({}, { wait: async () => undefined });
    for (const how of [429, 503, [403, "rateLimitExceeded"]] as const) {
      fake.fail(how, { times: 2 });
      expect(await textsAt(from, "file/d")).toEqual(["text"]);
    }
  });
});

describe("metadata of a file from others", () => {
  it("is validated", async () => {
    fake.put("dir", { name: "not a folder", mimeType: "inode/directory", content: "x" });
    fake.put("odd", { name: "odd\n\u0000", mimeType: "no type at all", content: "x", description: "d".repeat(5000) });
    const from = await open();
    const { items } = await from.list({ limit: 9 }, call);
    expect(items.map(({ path, mimeType }) => [path, mimeType])).toEqual([
      ["file/dir", "application/octet-stream"],
      ["file/odd", "application/octet-stream"],
    ]);
    expect(items[1]?.description).toHaveLength(1000);
    fake.put("odd", { name: `${"n".repeat(999)}\u{1f600}` });
    expect(await from.stat!({ path: "file/odd" }, call)).toMatchObject({ title: `${"n".repeat(999)}\ufffd` });
    expect(await textsAt(from, "file/dir")).toEqual(["x"]);
  });
});
