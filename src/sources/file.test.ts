import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { compareAddresses } from "../lib/address-order.ts";
import { encodeText } from "../lib/text-encoding.ts";
import type { Entry, Part, Source } from "../source.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { sourceContract } from "../testing/source-contract.ts";
import file from "./file.ts";
import { versionOf } from "../backends/disk/entry.ts";
import { useFolder } from "../backends/disk/test-folder.ts";

const folder = useFolder();
const { at, call, link, open, write } = folder;

async function listAll(source: Source, limit = 1000): Promise<Entry[]> {
  return collect((cursor) => source.list(asking(limit, cursor), call()));
}

const pathsOf = (entries: readonly { readonly path: string }[]) => entries.map(({ path }) => path);

function onlyPart(parts: readonly Part[]): Part {
  expect(parts).toHaveLength(1);
  return parts[0] as Part;
}

function textOf(parts: readonly Part[]): string {
  const { body } = onlyPart(parts);
  return "text" in body ? body.text : `bytes: ${Buffer.from(body.bytes).toString("latin1")}`;
}

sourceContract("file", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  async open(content) {
    for (const [path, text] of Object.entries(content)) write(path, text ?? "");
    const source = await open();
    // An entry has a version once its file has been unchanged for some milliseconds.
    for (const path of Object.keys(content))
      while ((await source.stat({ path }, call())).version === undefined)
        await new Promise<void>((resolve) => setImmediate(resolve));
    return source;
  },
  write,
  remove: (path) => fs.rmSync(at(path)),
  rename: (from, to) => fs.renameSync(at(from), at(to)),
  expansions: [
    { at: { path: "docs/a.txt" }, text: "alpha" },
    { at: { path: "docs/b.txt", query: { lines: "1-1" } }, text: "beta\r\n" },
    { at: { path: "docs/b.txt", query: { bytes: "6-9" } }, text: "with" },
    { at: { path: "docs/b.txt", query: { as: "text", lines: "2-" } }, text: "with a second line" },
  ],
  completions: [
    { template: "{+path}{?lines,bytes,as}", variable: "path", value: "", expected: "docs/" },
    { template: "{+path}{?lines,bytes,as}", variable: "path", value: "do", expected: "docs.txt" },
    { template: "{+path}{?lines,bytes,as}", variable: "path", value: "docs/", expected: "docs/deep/" },
    { template: "{+path}{?lines,bytes,as}", variable: "path", value: "names/日", expected: "names/日本語.md" },
  ],
});

describe("the folder", () => {
  it("gives its real path, percent-encoded, as the base of all URIs", () => {
    fs.mkdirSync(at("a #%日"));
    fs.symlinkSync(at("a #%日"), join(folder.above, "entrance"));
    expect(file.base?.({ root: join(folder.above, "entrance"), maxBytes: 1 })).toBe(
      `${pathToFileURL(at("a #%日")).href}/`,
    );
  });

  it("is served through a link to it", async () => {
    write("a.txt", "here");
    fs.symlinkSync(folder.root, join(folder.above, "entrance"));
    const source = await open({ root: join(folder.above, "entrance") });
    expect(textOf(await source.read({ path: "a.txt" }, call()))).toBe("here");
  });

  it("that is missing, or is not a folder, is named in the error", async () => {
    const missing = join(folder.above, "nowhere");
    const error = await refusal(open({ root: missing }), ["invalid"], missing);
    expect(error.message).toContain(JSON.stringify(missing));
    write("a.txt", "");
    await refusal(open({ root: at("a.txt") }), ["invalid"], "a.txt");
    await refusal(open({ root: "/proc/self" }), ["invalid"], "/proc/self");
  });

  it("that is gone is an error, never an empty list or a missing file", async () => {
    write("a.txt", "");
    const source = await open();
    fs.rmSync(folder.root, { recursive: true });
    await refusal(source.list(asking(10), call()), ["unavailable"], "list");
    await refusal(source.read({ path: "a.txt" }, call()), ["unavailable"], "read");
    fs.mkdirSync(folder.root);
    write("a.txt", "back");
    expect(textOf(await source.read({ path: "a.txt" }, call()))).toBe("back");
  });
});

describe("what is served", () => {
  it("accepts only one spelling of a path", async () => {
    write("a/b.txt", "here");
    const source = await open();
    for (const path of ["/a/b.txt", "a//b.txt", "a/b.txt/", "a/./b.txt", "a/../a/b.txt", "a\0b.txt", "A/B.TXT", "a/"])
      await refusal(source.read({ path }, call()), ["not-found"], path);
    await refusal(source.stat({ path: `${"a/".repeat(5000)}b` }, call()), ["not-found"], "long");
    await refusal(source.stat({ path: "x".repeat(100_000) }, call()), ["not-found"], "long");
  });

  it("shows no name that is not UTF-8, and no two names as one", async () => {
    write("fine.txt", "");
    fs.writeFileSync(Buffer.from(`${folder.root}/broken-\xff.txt`, "latin1"), "x");
    fs.writeFileSync(Buffer.from(`${folder.root}/broken-\xfe.txt`, "latin1"), "x");
    const source = await open();
    expect(pathsOf(await listAll(source))).toEqual(["fine.txt"]);
    expect(folder.logged.some((message) => message.includes("UTF-8"))).toBe(true);
    write("broken-\ufffd.txt", "really called so");
    expect(pathsOf(await listAll(source))).toEqual(["broken-\ufffd.txt", "fine.txt"]);
    expect(textOf(await source.read({ path: "broken-\ufffd.txt" }, call()))).toBe("really called so");
    await refusal(source.read({ path: "broken-\ud800.txt" }, call()), ["not-found"], "a lone surrogate");
  });
});

describe("list", () => {
  it("pages through many thousand files in one folder, complete and disjoint", async () => {
    fs.mkdirSync(at("many"));
    const expected: string[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      const name = `${(index * 7919) % 10_000}-a-file-with-a-name.txt`;
      fs.writeFileSync(at(`many/${name}`), "");
      expected.push(`many/${name}`);
    }
    write("zz/last.txt", "");
    const source = await open();
    const paths = pathsOf(await listAll(source, 1500));
    expect(paths).toEqual([...expected, "zz/last.txt"].sort(compareAddresses));
    const children = await collect((cursor) => source.children({ path: "many" }, asking(3000, cursor), call()));
    expect(pathsOf(children)).toEqual(paths.slice(0, -1));
  }, 60_000);

  it("continues after the cursor if its file is gone, or has become a folder", async () => {
    for (const path of ["a.txt", "b/c.txt", "b/d.txt", "e.txt"]) write(path, "");
    const source = await open();
    const first = await source.list(asking(2), call());
    expect(pathsOf(first.items)).toEqual(["a.txt", "b/c.txt"]);
    fs.rmSync(at("b/c.txt"));
    write("b/c.txt/inner.txt", "");
    write("b.txt", "");
    const rest = await collect((cursor) => source.list(asking(1, cursor), call()), first.next);
    expect(pathsOf(rest)).toEqual(["b/c.txt/inner.txt", "b/d.txt", "b.txt", "e.txt"]);
    fs.rmSync(at("b"), { recursive: true });
    write("b", "a file where the folder was");
    expect(pathsOf(await collect((cursor) => source.list(asking(1, cursor), call()), first.next))).toEqual([
      "b.txt",
      "e.txt",
    ]);
  });

  it("includes a name that is added to a large folder between two pages", async () => {
    for (let index = 0; index < 1000; index += 1) write(`f${index}.txt`, "");
    const source = await open();
    const first = await source.list(asking(900), call());
    write("zzz.txt", "");
    const rest = await collect((cursor) => source.list(asking(1000, cursor), call()), first.next);
    expect(pathsOf(rest).at(-1)).toBe("zzz.txt");
    expect(first.items.length + rest.length).toBe(1001);
  });

  it("gives each file a size, a type, a modification time, and a version", async () => {
    write("a.ts", "12345");
    const then = new Date("2024-02-29T23:59:59.500Z");
    fs.utimesSync(at("a.ts"), then, then);
    const source = await open();
    let entry: Entry | undefined;
    do [entry] = await listAll(source);
    while (entry?.version === undefined);
    expect(entry).toEqual({
      path: "a.ts",
      name: "a.ts",
      mimeType: "text/typescript",
      size: 5,
      annotations: { lastModified: "2024-02-29T23:59:59.500Z" },
      version: versionOf(fs.statSync(at("a.ts"))),
    });
  });

  it("gives no version to a file that was just written", async () => {
    const source = await open();
    for (let turn = 0; turn < 50; turn += 1) {
      const before = Date.now();
      write("a.txt", `${turn % 10}`);
      const { version } = await source.stat({ path: "a.txt" }, call());
      if (Date.now() - before < 15) expect(version).toBeUndefined();
    }
  });

  it.runIf(process.getuid?.() === 0)("leaves out a folder without permission, and logs that", () => {
    write("open/a.txt", "");
    write("shut/a.txt", "");
    fs.chmodSync(folder.above, 0o755);
    fs.chmodSync(at("shut"), 0o000);
    const script = `
      process.setgid(65534); process.setuid(65534);
      const { default: file } = await import(${JSON.stringify(new URL("./file.ts", import.meta.url).href)});
      const said = [];
      const source = await file.open({ root: ${JSON.stringify(folder.root)}, maxBytes: 100 },
        { now: Date.now, monotonicMs: () => performance.now(), wait: async () => {}, log: (...words) => said.push(words) });
      const call = { caller: { id: "x" }, signal: new AbortController().signal };
      const { items } = await source.list({ limit: 10 }, call);
      const kind = await source.read({ path: "shut/a.txt" }, call).catch(({ kind }) => kind);
      console.log(JSON.stringify([items.map(({ path }) => path), kind, said.map(([, , { path }]) => path)]));`;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(JSON.parse(said)).toEqual([["open/a.txt"], "denied", ["shut", "shut/a.txt"]]);
  });
});

describe("read", () => {
  it.each<[name: string, bytes: string, mimeType: string, isText: boolean]>([
    ["a.ts", "export {};", "text/typescript", true],
    ["logo.svg", "<svg/>", "image/svg+xml", true],
    ["unknown", "some words", "text/plain", true],
    ["unknown", "\0\x01\x02", "application/octet-stream", false],
    ["a.txt", "no \xff text", "application/octet-stream", false],
    ["a.txt", "a NUL \0 inside", "application/octet-stream", false],
    ["a.txt", "\x89PNG\r\n\x1a\n\0\0", "image/png", false],
    ["a.png", "\x89PNG\r\n\x1a\n\0\0", "image/png", false],
    ["photo.png", "version https://git-lfs.github.com/spec/v1\n", "text/plain", true],
    ["plain.pdf", "%PDF-1.4 all ASCII", "application/pdf", false],
    ["a.txt", "un caf\xe9 noir", "text/plain", true],
    ["a.md", "# \xdcber uns\n", "text/markdown", true],
    ["a.bin", "Stra\xdfe", "text/plain", true],
    ["a.txt", "\x80\x81\x82\x83", "application/octet-stream", false],
    ["about-pdf.txt", "%PDF-1.4 all ASCII", "text/plain", true],
    ["empty.json", "", "application/json", true],
    ["empty.png", "", "text/plain", true],
    ["a.docx", "PK\x03\x04\0\xff", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false],
  ])("%s with %j is %s", async (name, latin1, mimeType, isText) => {
    const bytes = Buffer.from(latin1, "latin1");
    write(name, bytes);
    const part = onlyPart(await (await open()).read({ path: name }, call()));
    expect(part.mimeType).toBe(mimeType);
    if (isText) expect(part.body).toEqual({ text: latin1 });
    else expect("bytes" in part.body && Buffer.compare(part.body.bytes, bytes)).toBe(0);
  });

  it("removes the byte order mark of a text, and reports it", async () => {
    write("a.txt", "\ufeffwörter");
    const part = onlyPart(await (await open()).read({ path: "a.txt" }, call()));
    expect(part).toEqual({
      body: { text: "wörter" },
      mimeType: "text/plain",
      meta: { "pressmark/encoding": "utf-8-bom" },
    });
  });

  it.each([
    ["shift_jis", "shift_jis", ""],
    ["euc-jp", "euc-jp", ""],
    ["iso-2022-jp", "iso-2022-jp", ""],
    ["utf-16le", "utf-16le-bom", "fffe"],
    ["utf-16be", "utf-16be-bom", "feff"],
    ["utf-16le", "utf-16le", ""],
    ["utf-8", "utf-8-bom", "efbbbf"],
    ["utf-8", undefined, ""],
  ] as const)("reads text in %s, and reports the encoding", async (encoding, said, mark) => {
    const text = "# 設定\r\n㈱髙﨑 ① ｱｲｳ を読み込みます。\n";
    write("a.md", Buffer.concat([Buffer.from(mark, "hex"), encodeText(text, encoding) ?? Buffer.alloc(0)]));
    const part = onlyPart(await (await open()).read({ path: "a.md" }, call()));
    expect(part.body).toEqual({ text });
    expect(part.mimeType).toBe("text/markdown");
    expect(part.meta).toEqual(said && { "pressmark/encoding": said });
  });

  it("returns bytes that later reads do not overwrite", async () => {
    write("a.bin", new Uint8Array(100).fill(0xff));
    write("b.bin", new Uint8Array(100).fill(0xee));
    const source = await open();
    const first = onlyPart(await source.read({ path: "a.bin" }, call())).body;
    await source.read({ path: "b.bin" }, call());
    expect("bytes" in first && first.bytes.every((byte) => byte === 0xff)).toBe(true);
  });

  it.each([65_535, 65_536, 65_537, 300_000])("reads all of a file of %i bytes", async (size) => {
    write("a.txt", "é".repeat(size / 2) + (size % 2 === 1 ? "x" : ""));
    const { body } = onlyPart(await (await open()).read({ path: "a.txt" }, call()));
    expect("text" in body && Buffer.byteLength(body.text)).toBe(size);
  });

  it("rejects a file above the limit, and reports its size", async () => {
    write("a.txt", "x".repeat(1001));
    write("b.txt", "x".repeat(1000));
    const source = await open({ maxBytes: 1000 });
    const { details } = await refusal(source.read({ path: "a.txt" }, call()), ["too-large"], "a.txt");
    expect(details).toMatchObject({ reason: "too-large", size: 1001, maxBytes: 1000 });
    expect(textOf(await source.read({ path: "b.txt" }, call()))).toHaveLength(1000);
  });

  it("reads many concurrently without mixing them up", async () => {
    for (let index = 0; index < 50; index += 1) write(`${index}.txt`, `${index} `.repeat(index * 1000));
    const source = await open();
    const read = async (index: number) => textOf(await source.read({ path: `${index}.txt` }, call()));
    const texts = await Promise.all(Array.from({ length: 50 }, (_, index) => read(index)));
    for (const [index, text] of texts.entries()) expect(text).toBe(`${index} `.repeat(index * 1000));
  });

  it("leaves no descriptor open after any outcome", async () => {
    write("a.txt", "a");
    write("large.txt", "x".repeat(200_000));
    link("/etc/passwd", "out");
    link("a.txt", "in");
    const source = await open({ maxBytes: 100_000 });
    const everything = async () => {
      for (const path of ["a.txt", "large.txt", "out", "in", "missing", "", ".env"])
        await Promise.allSettled([
          source.read({ path }, call()),
          source.read({ path, query: { lines: "1-2" } }, call()),
          source.read({ path, query: { lines: "9-" } }, call()),
          source.read({ path, query: { as: "text" } }, call()),
          source.stat({ path }, call()),
          source.children({ path }, asking(1), call()),
          source.list(asking(2), call()),
        ]);
    };
    await everything();
    const before = fs.readdirSync("/proc/self/fd").length;
    for (let turn = 0; turn < 20; turn += 1) await everything();
    expect(fs.readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });
});

describe("complete", () => {
  it("puts prefix matches first, folders with a slash, with the address that each value reveals", async () => {
    for (const path of ["src/a.ts", "srv.txt", "SRC-old.md", "my-src/b.ts", ".src/x", "other.txt"]) write(path, "");
    const source = await open();
    const template = source.templates[0] as (typeof source.templates)[number];
    const complete = (value: string) => source.complete({ template, variable: "path", value, given: {} }, call());
    expect(await complete("sr")).toEqual([
      { value: "src/", reveals: { path: "src" } },
      { value: "srv.txt", reveals: { path: "srv.txt" } },
      { value: "SRC-old.md", reveals: { path: "SRC-old.md" } },
      { value: "my-src/", reveals: { path: "my-src" } },
    ]);
    expect(await complete("src/")).toEqual([{ value: "src/a.ts", reveals: { path: "src/a.ts" } }]);
    for (const nothing of ["missing/", "../", "/", ".src/", "srv.txt/", "a\0"])
      expect(await complete(nothing)).toEqual([]);
  });

  it("returns at most a hundred", async () => {
    for (let index = 0; index < 300; index += 1) write(`f${index}`, "");
    const source = await open();
    const template = source.templates[0] as (typeof source.templates)[number];
    expect(await source.complete({ template, variable: "path", value: "f", given: {} }, call())).toHaveLength(100);
  });
});
