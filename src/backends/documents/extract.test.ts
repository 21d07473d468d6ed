import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { docx, pdf, pptx, shape, xlsx } from "./test-documents.ts";
import type { Part } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { createExtract, type Extract, type ExtractOptions, isChanged } from "./extract.ts";
import { createFrameReader, encodeHeader, type Request } from "./extract-frames.ts";
import { createExtractPool, type ExtractPoolOptions } from "./extract-pool.ts";
import { type FileSource, useFolder } from "../disk/test-folder.ts";

const folder = useFolder();
const { call, open, write } = folder;

const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const excel = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

const document = (name: string, bytes: Uint8Array, mimeType = word) => ({
  path: name,
  mimeType,
  version: name,
  bytes: Buffer.from(Uint8Array.from(bytes).buffer),
});

/** Finding the pages of such a large document takes more than a minute. */
const endless = pdf(Array.from({ length: 20_000 }, () => ["1"]));
const endlessDocument = (name: string) => document(name, endless, "application/pdf");

async function readText(source: FileSource, path: string, query: Record<string, string> = {}): Promise<Part> {
  const [part] = await source.read({ path, query: { as: "text", ...query } }, call());
  if (!part || !("text" in part.body)) throw new Error(`${path} is not text`);
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
  ])("of %s is returned on request, and its bytes otherwise", async (name, bytes, mimeType, text) => {
    write(name, bytes);
    const source = await open();
    expect(await readText(source, name)).toEqual({ body: { text }, mimeType });
    const [whole] = await source.read({ path: name }, call());
    expect(whole?.mimeType).not.toBe(mimeType);
  });

  it("is announced in the list entry", async () => {
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

  it("combines with lines and bytes, and each response names the next range", async () => {
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

  it("that is too long is read in parts, from a document that is itself above the limit", async () => {
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

  it("of a file without text is rejected", async () => {
    write("a.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
    write("a.docx", Buffer.from("PK\x03\x04 nothing \0"));
    const source = await open();
    const png = await refusal(readText(source, "a.png"), ["invalid"], "a.png");
    expect(png.message).toMatch(
      /^cannot extract text from "a.png", which is image\/png; read it without "as", or set "ocr"/,
    );
    const broken = await refusal(readText(source, "a.docx"), ["invalid"], "a.docx");
    expect(broken.message).toBe('cannot extract text from "a.docx": it is not a ZIP file, or is truncated');
  });

  it("is that of the document when its extraction starts", async () => {
    for (const name of ["b.pdf", "c.pdf"]) write(name, endless);
    write("a.docx", docx(paragraph("before")));
    const source = await open();
    const stop = new AbortController();
    const busy = ["b.pdf", "c.pdf"].map((path) =>
      source.read({ path, query: { as: "text" } }, { ...call(), signal: stop.signal }).catch(() => undefined),
    );
    const asked = readText(source, "a.docx");
    write("a.docx", docx(paragraph("and after")));
    stop.abort();
    await Promise.all(busy);
    expect((await asked).body).toEqual({ text: "and after\n" });
  });

  it("changes with the document", async () => {
    const source = await open();
    for (const text of ["一", "二", "三"]) {
      write("a.docx", docx(paragraph(text)));
      expect((await readText(source, "a.docx")).body).toEqual({ text: `${text}\n` });
    }
  });
});

describe("the extraction processes", () => {
  const opened: Extract[] = [];
  afterEach(() => {
    for (const extract of opened.splice(0)) extract.close();
  });

  function create({ pool = {}, ...options }: Omit<ExtractOptions, "pool"> & { pool?: ExtractPoolOptions } = {}) {
    const extract = createExtract({ ...options, pool: createExtractPool(pool) });
    opened.push(extract);
    return extract;
  }

  const never = new AbortController().signal;

  it("are killed when a document takes too long, and others continue", async () => {
    const extract = create({ timeoutMs: 3000 });
    const slow = extract.text(endlessDocument("endless"), never);
    const quick = extract.text(document("quick", docx(paragraph("早い"))), never);
    const { message, passing, details } = await refusal(slow, ["too-large"], "endless");
    expect(message).toBe('extracting the text of "endless" took more than 3000 ms; read it without "as"');
    expect({ passing, details }).toEqual({ passing: false, details: { reason: "too-much-time" } });
    expect((await quick).text.toString()).toBe("早い\n");
  });

  it("read a document again with more memory if it took too much", async () => {
    const cell = '<c t="inlineStr"><is><t>値</t></is></c>';
    const sheet = xlsx({ a: `<row>${cell.repeat(10)}</row>`.repeat(30_000) });
    const extract = create({ pool: { maxMiB: [110, 400] } });
    const { text } = await extract.text(document("large", sheet, excel), never);
    expect(text.toString()).toMatch(/^## a\n\n\| 値 \|/);
  });

  it("stay within one memory budget for all mounts, and read harmless documents next to hostile ones", async () => {
    const pool = createExtractPool();
    const mounts = Array.from({ length: 7 }, () => createExtract({ pool, timeoutMs: 60_000 }));
    opened.push(...mounts);
    const bomb = pdfBomb();
    const zipBomb = docx("x".repeat(250 * 1024 * 1024));
    const hostile = [
      ...mounts.slice(0, 4).map((mount, at) => mount.text(document(`bomb ${at}`, bomb, "application/pdf"), never)),
      mounts[4]!.text(document("rows", rowBomb(), excel), never),
      mounts[5]!.text(document("zip", zipBomb), never),
    ];
    const harmless = mounts.map((mount, at) => mount.text(document(`good ${at}`, docx(paragraph("良い"))), never));
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, memoryOfChildren());
    }, 5);
    try {
      for (const { message } of await Promise.all(hostile.map((each) => refusal(each, ["too-large"], "hostile"))))
        expect(message).toMatch(/ took more than 320 MiB of memory;/);
      for (const each of harmless) expect((await each).text.toString()).toBe("良い\n");
    } finally {
      clearInterval(timer);
    }
    if (process.platform !== "linux") return;
    expect(peak).toBeGreaterThan(200 * 1024 * 1024);
    expect(peak).toBeLessThan(512 * 1024 * 1024);
  }, 120_000);

  it("do not let slow documents delay others", async () => {
    const extract = create({ pool: { sliceMs: 200 }, timeoutMs: 600_000 });
    const stop = new AbortController();
    const settled = new Set<string>();
    const slow = ["a", "b", "c", "d"].map(async (name) => {
      await extract.text(endlessDocument(name), stop.signal).catch(() => undefined);
      settled.add(name);
    });
    for (const name of ["e", "f", "g"])
      expect((await extract.text(document(name, docx(paragraph(name))), never)).text.toString()).toBe(`${name}\n`);
    expect(settled).toEqual(new Set());
    stop.abort();
    await Promise.all(slow);
  }, 60_000);

  it("load a document when its extraction starts, and never one that is no longer wanted", async () => {
    const extract = create({ timeoutMs: 600_000 });
    const stop = new AbortController();
    const busy = ["a", "b"].map((name) => extract.text(endlessDocument(name), stop.signal).catch(() => undefined));
    const asked: string[] = [];
    const lazy = (name: string) => ({
      ...document(name, docx(paragraph(name))),
      bytes: async () => {
        asked.push(name);
        return document(name, docx(paragraph(name))).bytes;
      },
    });
    const leaving = new AbortController();
    const left = extract.text(lazy("left"), leaving.signal);
    const stayed = extract.text(lazy("stayed"), never);
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    expect(asked).toEqual([]);
    stop.abort();
    await Promise.all(busy);
    expect((await stayed).text.toString()).toBe("stayed\n");
    expect(asked).toEqual(["stayed"]);
  });

  it("report that a document has changed, and do not cache that", async () => {
    const extract = create();
    const asked = { ...document("a", docx("")), bytes: async () => undefined };
    expect(isChanged(await refusal(extract.text(asked, never), ["unavailable"], "a"))).toBe(true);
    expect(extract.knows("a")).toBe(false);
  });

  it("cache the result of a version, including failures", async () => {
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

  it("name a document by the path of its caller only", async () => {
    const extract = create();
    const asked = { ...document("mine", Buffer.from("nothing")), version: "same" };
    const first = extract.text(asked, never);
    const second = extract.text({ ...asked, path: "yours" }, never);
    expect((await refusal(first, ["invalid"], "mine")).message).toContain('"mine"');
    for (const each of [second, extract.text({ ...asked, path: "yours" }, never)])
      expect((await refusal(each, ["invalid"], "yours")).message).toMatch(/"yours"(?!.*mine)/);
  });

  it("drop the least recently used result", async () => {
    const extract = create({ maxKeptBytes: 3000 });
    for (const name of ["a", "b", "c"]) await extract.text(document(name, docx(paragraph(name.repeat(700)))), never);
    expect(["a", "b", "c"].map(extract.knows)).toEqual([false, true, true]);
    const gone = extract.text({ path: "a", mimeType: word, version: "a" }, never);
    expect((await refusal(gone, ["unavailable"], "a")).passing).toBe(true);
  });

  it("read a document once for concurrent callers, and continue while one of them waits", async () => {
    const extract = create();
    const leaving = new AbortController();
    const left = extract.text(document("a", docx(paragraph("一"))), leaving.signal);
    const stayed = extract.text(document("a", Buffer.from("not read at all")), never);
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    expect((await stayed).text.toString()).toBe("一\n");
  });

  it("are killed when no caller is left, and the abandoned result is not cached", async () => {
    const extract = create();
    const leaving = new AbortController();
    const left = extract.text(endlessDocument("a"), leaving.signal);
    const waiting = extract.text(endlessDocument("b"), leaving.signal);
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    await refusal(waiting, ["cancelled"], "waiting");
    expect((await extract.text(document("a", docx(paragraph("一"))), never)).text.toString()).toBe("一\n");
  });

  it("reject callers that would wait too long", async () => {
    const extract = create();
    const stop = new AbortController();
    const asked = Array.from({ length: 65 }, (_, at) => extract.text(endlessDocument(`${at}`), stop.signal));
    const last = await refusal(asked.at(-1) as Promise<unknown>, ["busy"], "the last");
    expect(last.details).toEqual({ retryAfterMs: 1000 });
    stop.abort();
    await Promise.allSettled(asked);
  });

  it("end when it is closed, and waiting callers get an error", async () => {
    const extract = create();
    const waiting = extract.text(endlessDocument("a"), never);
    extract.close();
    await refusal(waiting, ["cancelled"], "waiting");
    await refusal(extract.text(document("b", docx("")), never), ["cancelled"], "afterwards");
  });

  it("end with the program that started them, in any state", async () => {
    const script = `
      const { createExtract } = await import(${JSON.stringify(new URL("./extract.ts", import.meta.url).href)});
      const { docx } = await import(${JSON.stringify(new URL("./test-documents.ts", import.meta.url).href)});
      const bytes = docx("", { "word/footnotes.xml": '<w:footnote w:id="1">'.repeat(300000) });
      createExtract().text({ path: "a", mimeType: ${JSON.stringify(word)}, version: "a", bytes }, new AbortController().signal);
    `;
    const program = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "ignore" });
    const child = await vi.waitFor(() => childrenOf(program.pid!)[0] ?? Promise.reject(new Error("no child yet")), {
      timeout: 15_000,
    });
    program.kill("SIGKILL");
    await vi.waitFor(() => expect(existsSync(`/proc/${child}`)).toBe(false), { timeout: 15_000 });
  });
});

it("a message arrives complete, however it is split", () => {
  const message = fc.record({ mimeType: fc.string(), bytes: fc.uint8Array({ maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (messages, cuts) => {
      const heard: unknown[] = [];
      const read = createFrameReader<Request>(({ mimeType }, bytes) => heard.push([mimeType, [...bytes]]));
      const all = Buffer.concat(
        messages.flatMap(({ mimeType, bytes }) => [encodeHeader({ mimeType, byteLength: bytes.length }), bytes]),
      );
      for (let at = 0, cut = 0; at < all.length; cut += 1) {
        const next = at + cuts[cut % cuts.length]!;
        read(all.subarray(at, next));
        at = next;
      }
      expect(heard).toEqual(messages.map(({ mimeType, bytes }) => [mimeType, [...bytes]]));
    }),
  );
});

/** A page that decompresses to far more than the limit. */
function pdfBomb(): Buffer {
  return pdf([["x"]], { filter: () => deflateSync(Buffer.alloc(450 * 1024 * 1024, " ")) });
}

function rowBomb(): Buffer {
  return xlsx({ a: "<row><c><v>1</v></c></row>".repeat(4_000_000) });
}

/** Resident memory of all child processes. */
function memoryOfChildren(of: number = process.pid): number {
  return childrenOf(of).reduce((sum, child) => sum + residentOf(child) + memoryOfChildren(child), 0);
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function residentOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
