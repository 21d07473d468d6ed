import { deflateSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { docx, pdf, pptx, shape, xlsx } from "../../lib/documents/test-documents.ts";
import type { Part } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { createExtract, type Extract, type ExtractOptions } from "./extract.ts";
import { type FileSource, useFolder } from "./test-folder.ts";

const folder = useFolder();
const { call, open, write } = folder;

const sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const zeros = (): Buffer => Buffer.alloc(128 * 1024 * 1024);
const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** The bytes are handed over, so each question has its own. */
const document = (name: string, bytes: Uint8Array, mimeType = word) => ({
  path: name,
  mimeType,
  version: name,
  bytes: Buffer.from(Uint8Array.from(bytes).buffer),
});

async function readText(source: FileSource, path: string, query: Record<string, string> = {}): Promise<Part> {
  const [part] = await source.read({ path, query: { as: "text", ...query } }, call());
  if (!part || !("text" in part.body)) throw new Error(`${path} gave no text`);
  return part;
}

describe("the text of a document", () => {
  it.each([
    ["a.pdf", pdf([["見積書", "合計 ¥1,200"]]), "text/plain", "[page 1]\n見積書\n合計 ¥1,200\n"],
    ["a.docx", docx(paragraph("議事録") + paragraph("以上")), "text/markdown", "議事録\n\n以上\n"],
    [
      "a.xlsx",
      xlsx({ 表: '<row><c t="inlineStr"><is><t>値</t></is></c></row>' }),
      "text/markdown",
      "## 表\n\n| 値 |\n| --- |\n",
    ],
    [
      "a.pptx",
      pptx([{ shapes: shape("title", ["題"]), notes: "話" }]),
      "text/markdown",
      "## Slide 1: 題\n\n### Notes\n\n話\n",
    ],
    ["a.html", Buffer.from("<h1>見出し</h1><p>本文"), "text/markdown", "# 見出し\n\n本文\n"],
  ])("of %s is given when asked for, and its bytes otherwise", async (name, bytes, mimeType, text) => {
    write(name, bytes);
    const source = await open();
    expect(await readText(source, name)).toEqual({ body: { text }, mimeType });
    const [whole] = await source.read({ path: name }, call());
    expect(whole?.mimeType).not.toBe(mimeType);
  });

  it("is listed as something that can be asked for", async () => {
    for (const name of ["a.pdf", "b.docx", "c.html", "d.txt", "e.png"]) write(name, "x");
    const { items } = await (await open()).list({ limit: 10 }, call());
    expect(items.map(({ meta }) => meta)).toEqual([
      { "pressmark/as": ["text"] },
      { "pressmark/as": ["text"] },
      { "pressmark/as": ["text"] },
      undefined,
      undefined,
    ]);
  });

  it("combines with lines and bytes, and each answer names the next", async () => {
    write("a.docx", docx(["一", "二", "三"].map(paragraph).join("")));
    const source = await open();
    const part = await readText(source, "a.docx", { lines: "1-2" });
    expect(part).toEqual({
      body: { text: "一\n\n" },
      mimeType: "text/markdown",
      meta: { "pressmark/range": { lines: [1, 2], next: "as=text&lines=3-4" } },
    });
    expect((await readText(source, "a.docx", { lines: "5-" })).body).toEqual({ text: "三\n" });
    expect((await readText(source, "a.docx", { bytes: "0-3" })).body).toEqual({ text: "一\n" });
    const { details } = await refusal(readText(source, "a.docx", { lines: "6-" }), ["invalid"], "lines=6-");
    expect(details).toEqual({ reason: "beyond-end", total: 5 });
  });

  it("that is too long comes in parts, from a document that is itself above the limit", async () => {
    write("a.html", Array.from({ length: 300 }, (_, at) => `<p>段落 ${at}</p>`).join(""));
    const source = await open({ maxBytes: 1000 });
    const { details } = await refusal(readText(source, "a.html"), ["too-large"], "a.html");
    expect(details).toMatchObject({ reason: "too-large", next: "as=text&lines=1-1000" });
    const { body, meta } = await readText(source, "a.html", { lines: "1-1000" });
    expect("text" in body && body.text.startsWith("段落 0\n\n段落 1\n")).toBe(true);
    expect(meta?.["pressmark/range"]).toMatchObject({ lines: [1, 182], next: "as=text&lines=183-1000" });
  });

  it("of a text is the text itself", async () => {
    write("a.txt", "plain\ntext\n");
    const source = await open();
    expect(await readText(source, "a.txt")).toEqual({ body: { text: "plain\ntext\n" }, mimeType: "text/plain" });
    expect((await readText(source, "a.txt", { lines: "2-2" })).body).toEqual({ text: "text\n" });
  });

  it("of what has none is refused", async () => {
    write("a.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
    write("a.docx", Buffer.from("PK\x03\x04 nothing \0"));
    const source = await open();
    const png = await refusal(readText(source, "a.png"), ["invalid"], "a.png");
    expect(png.message).toBe('no text can be taken out of "a.png", which is image/png; ask without "as"');
    const broken = await refusal(readText(source, "a.docx"), ["invalid"], "a.docx");
    expect(broken.message).toBe('no text can be taken out of "a.docx": it is no ZIP file, or is cut off');
  });

  it("is another when the document is", async () => {
    const source = await open();
    for (const text of ["一", "二", "三"]) {
      write("a.docx", docx(paragraph(text)));
      expect((await readText(source, "a.docx")).body).toEqual({ text: `${text}\n` });
    }
  });
});

describe("the threads that take it out", () => {
  const opened: Extract[] = [];
  afterEach(() => {
    for (const extract of opened.splice(0)) extract.close();
  });

  function create(options: ExtractOptions = {}): Extract {
    const extract = createExtract(options);
    opened.push(extract);
    return extract;
  }

  const never = new AbortController().signal;
  /** Notes that begin and never end are looked through again from each beginning. */
  const endless = docx("", { "word/footnotes.xml": '<w:footnote w:id="1">'.repeat(300_000) });

  it("are ended when a document takes too long, and others go on", { timeout: 60_000 }, async () => {
    // The other one must not take as long, however busy the machine is.
    const extract = create({ timeoutMs: 6000, maxAtOnce: 1 });
    const slow = extract.text(document("endless", endless), never);
    const quick = extract.text(document("quick", docx(paragraph("早い"))), never);
    const { message, passing, details } = await refusal(slow, ["too-large"], "endless");
    expect(message).toBe('taking the text out of "endless" took more than 6000 ms; ask without "as"');
    expect({ passing, details }).toEqual({ passing: false, details: { reason: "too-much-time" } });
    expect((await quick).text.toString()).toBe("早い\n");
  });

  const row = "<row><c><v>1</v></c></row>";
  it.each([
    // More than the thread may hold, in buffers and in objects, and cheap to make.
    ["bomb", "application/pdf", pdf([["1"]]), () => pdf([["1"]], { filter: () => deflateSync(zeros(), { level: 1 }) })],
    ["rows", sheet, xlsx({ a: row }), () => xlsx({ a: row.repeat(1_000_000) })],
  ])("are ended when a document takes too much memory (%s)", { timeout: 60_000 }, async (name, type, small, large) => {
    // On a busy machine it takes long to take so much, and that is not what ends it.
    const extract = create({ maxMiB: 64, timeoutMs: 600_000 });
    expect((await extract.text(document("small", small, type), never)).text.toString()).toContain("1");
    const { message } = await refusal(extract.text(document(name, large(), type), never), ["too-large"], name);
    expect(message).toBe(`taking the text out of "${name}" took more than 64 MiB of memory; ask without "as"`);
  });

  it("remember what came of a version, good or bad", async () => {
    const extract = create();
    expect(extract.knows("good")).toBe(false);
    const first = await extract.text(document("good", docx(paragraph("良い"))), never);
    expect(extract.knows("good")).toBe(true);
    expect(extract.knows(undefined)).toBe(false);
    expect(await extract.text({ path: "good", mimeType: word, version: "good" }, never)).toBe(first);
    const failure = await refusal(extract.text(document("bad", Buffer.from("nothing")), never), ["invalid"], "bad");
    expect(extract.knows("bad")).toBe(true);
    await expect(extract.text({ path: "bad", mimeType: word, version: "bad" }, never)).rejects.toEqual(failure);
  });

  it("name a document as whoever asks does, and no one else", async () => {
    const extract = create();
    const asked = { ...document("mine", Buffer.from("nothing")), version: "same" };
    const first = extract.text(asked, never);
    const second = extract.text({ ...asked, path: "yours" }, never);
    expect((await refusal(first, ["invalid"], "mine")).message).toContain('"mine"');
    for (const each of [second, extract.text({ ...asked, path: "yours" }, never)])
      expect((await refusal(each, ["invalid"], "yours")).message).toMatch(/"yours"(?!.*mine)/);
  });

  it("forget what was asked for longest ago", async () => {
    const extract = create({ maxKeptBytes: 3000 });
    for (const name of ["a", "b", "c"]) await extract.text(document(name, docx(paragraph(name.repeat(700)))), never);
    expect(["a", "b", "c"].map(extract.knows)).toEqual([false, true, true]);
    const gone = extract.text({ path: "a", mimeType: word, version: "a" }, never);
    expect((await refusal(gone, ["unavailable"], "a")).passing).toBe(true);
  });

  it("read a document once for all who ask at the same time, and go on while one of them waits", async () => {
    const extract = create();
    const leaving = new AbortController();
    const left = extract.text(document("a", docx(paragraph("一"))), leaving.signal);
    const stayed = extract.text(document("a", Buffer.from("not read at all")), never);
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    expect((await stayed).text.toString()).toBe("一\n");
  });

  it("are ended when no one waits any more, and what was given up is not remembered", async () => {
    const extract = create({ maxAtOnce: 1 });
    const leaving = new AbortController();
    const left = extract.text(document("a", endless), leaving.signal);
    const waiting = extract.text(document("b", endless), leaving.signal);
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    await refusal(waiting, ["cancelled"], "waiting");
    expect((await extract.text(document("a", docx(paragraph("一"))), never)).text.toString()).toBe("一\n");
  });

  it("send away those who would wait too long", async () => {
    const extract = create({ maxAtOnce: 1 });
    const stop = new AbortController();
    const asked = Array.from({ length: 66 }, (_, at) => extract.text(document(`${at}`, endless), stop.signal));
    const last = await refusal(asked.at(-1) as Promise<unknown>, ["busy"], "the last");
    expect(last.details).toEqual({ retryAfterMs: 1000 });
    stop.abort();
    await Promise.allSettled(asked);
  });

  it("are gone when it is closed, and whoever waits is told", async () => {
    const extract = create();
    const waiting = extract.text(document("a", endless), never);
    extract.close();
    await refusal(waiting, ["cancelled"], "waiting");
    await refusal(extract.text(document("b", docx("")), never), ["cancelled"], "afterwards");
  });
});
