import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import type { Entry, Part, Source, SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { listen } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { sourceContract } from "../testing/source-contract.ts";
import file from "./file.ts";

const { tools, logged } = createClock();

let above: string;
let root: string;
let stop: AbortController;
const opened: Source[] = [];

beforeEach(() => {
  above = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "pressmark-file-")));
  root = join(above, "root");
  fs.mkdirSync(root);
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  for (const source of opened.splice(0)) await source.close?.();
  fs.rmSync(above, { recursive: true, force: true });
});

const call = () => ({ caller: { id: "tester" }, signal: stop.signal });

async function open(options: { maxBytes?: number } = {}): Promise<Required<Omit<Source, "search">>> {
  const source = await file.open(file.options(z).parse({ root, ...options }), tools);
  opened.push(source);
  return source as Required<Omit<Source, "search">>;
}

function write(path: string, text: string | Uint8Array): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true });
  fs.writeFileSync(join(root, path), text);
}

function link(target: string, path: string): void {
  fs.symlinkSync(target, join(root, path));
}

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

/** Every door answers as if nothing were there. */
async function expectNothing(source: Required<Omit<Source, "search">>, path: string): Promise<void> {
  const missing = new ResourceError("not-found", `no resource at ${JSON.stringify(path)}`);
  for (const asked of [
    source.read({ path }, call()),
    source.stat({ path }, call()),
    source.children({ path }, asking(10), call()),
  ]) {
    const { message } = await refusal(asked, ["not-found"], path);
    expect(message).toBe(missing.message);
  }
  expect(pathsOf(await listAll(source)).filter((other) => other === path || other.startsWith(`${path}/`))).toEqual([]);
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const template = source.templates[0] as (typeof source.templates)[number];
  const suggested = await source.complete({ template, variable: "path", value: folder, given: {} }, call());
  expect(suggested.map(({ value }) => value)).not.toContain(path);
  expect(suggested.map(({ value }) => value)).not.toContain(`${path}/`);
}

sourceContract("file", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  async open(content) {
    for (const [path, text] of Object.entries(content)) write(path, text ?? "");
    const source = await open();
    // A version is said once a file has been left alone for some milliseconds.
    for (const path of Object.keys(content))
      while ((await source.stat({ path }, call())).version === undefined)
        await new Promise<void>((resolve) => setImmediate(resolve));
    return source;
  },
  write,
  remove: (path) => fs.rmSync(join(root, path)),
  rename: (from, to) => fs.renameSync(join(root, from), join(root, to)),
  expansions: [{ at: { path: "docs/a.txt" }, text: "alpha" }],
  completions: [
    { template: "{+path}", variable: "path", value: "", expected: "docs/" },
    { template: "{+path}", variable: "path", value: "do", expected: "docs.txt" },
    { template: "{+path}", variable: "path", value: "docs/", expected: "docs/deep/" },
    { template: "{+path}", variable: "path", value: "names/日", expected: "names/日本語.md" },
  ],
});

describe("the folder", () => {
  it("gives its real path, percent-encoded, as the base of all URIs", () => {
    fs.mkdirSync(join(root, "a #%日"));
    fs.symlinkSync(join(root, "a #%日"), join(above, "entrance"));
    expect(file.base?.({ root: join(above, "entrance"), maxBytes: 1 })).toBe(
      `${pathToFileURL(join(root, "a #%日")).href}/`,
    );
  });

  it("is served through a link to it", async () => {
    write("a.txt", "here");
    fs.symlinkSync(root, join(above, "entrance"));
    const source = await file.open({ root: join(above, "entrance"), maxBytes: 100 }, tools);
    opened.push(source);
    expect(textOf(await source.read({ path: "a.txt" }, call()))).toBe("here");
  });

  it("that is missing, or is none, is named in the error", async () => {
    const missing = join(above, "nowhere");
    const error = await refusal(file.open({ root: missing, maxBytes: 1 }, tools), ["invalid"], missing);
    expect(error.message).toContain(JSON.stringify(missing));
    write("a.txt", "");
    await refusal(file.open({ root: join(root, "a.txt"), maxBytes: 1 }, tools), ["invalid"], "a.txt");
    await refusal(file.open({ root: "/proc/self", maxBytes: 1 }, tools), ["invalid"], "/proc/self");
  });

  it("that is gone is an error, never an empty list or a missing file", async () => {
    write("a.txt", "");
    const source = await open();
    fs.rmSync(root, { recursive: true });
    await refusal(source.list(asking(10), call()), ["unavailable"], "list");
    await refusal(source.read({ path: "a.txt" }, call()), ["unavailable"], "read");
    fs.mkdirSync(root);
    write("a.txt", "back");
    expect(textOf(await source.read({ path: "a.txt" }, call()))).toBe("back");
  });
});

describe("what is served", () => {
  it("leaves out what is hidden, secret or other people's, at every door", async () => {
    const kept = [".env", "a/.git/config", "node_modules/x/index.js", "id_rsa", "certs/server.PEM", "a/.hidden/b.txt"];
    for (const path of [...kept, "a/b.txt", "id_rsa.pub"]) write(path, "secret");
    const source = await open();
    for (const path of [...kept, "node_modules", "a/.git"]) await expectNothing(source, path);
    expect(pathsOf(await listAll(source))).toEqual(["a/b.txt", "id_rsa.pub"]);
    expect(pathsOf((await source.children({ path: "" }, asking(10), call())).items)).toEqual([
      "a",
      "certs",
      "id_rsa.pub",
    ]);
  });

  it("takes no second spelling of a path", async () => {
    write("a/b.txt", "here");
    const source = await open();
    for (const path of ["/a/b.txt", "a//b.txt", "a/b.txt/", "a/./b.txt", "a/../a/b.txt", "a\0b.txt", "A/B.TXT", "a/"])
      await refusal(source.read({ path }, call()), ["not-found"], path);
    await refusal(source.stat({ path: `${"a/".repeat(5000)}b` }, call()), ["not-found"], "long");
    await refusal(source.stat({ path: "x".repeat(100_000) }, call()), ["not-found"], "long");
  });

  it("shows no name that is not UTF-8, and no two names as one", async () => {
    write("fine.txt", "");
    fs.writeFileSync(Buffer.from(`${root}/broken-\xff.txt`, "latin1"), "x");
    fs.writeFileSync(Buffer.from(`${root}/broken-\xfe.txt`, "latin1"), "x");
    const source = await open();
    expect(pathsOf(await listAll(source))).toEqual(["fine.txt"]);
    expect(logged.some(({ message }) => message.includes("UTF-8"))).toBe(true);
    write("broken-\ufffd.txt", "really called so");
    expect(pathsOf(await listAll(source))).toEqual(["broken-\ufffd.txt", "fine.txt"]);
    expect(textOf(await source.read({ path: "broken-\ufffd.txt" }, call()))).toBe("really called so");
    await refusal(source.read({ path: "broken-\ud800.txt" }, call()), ["not-found"], "a lone surrogate");
  });
});

describe("a link", () => {
  it("to a file or a folder inside is read through, and only files are listed", async () => {
    write("real/a.txt", "alpha");
    link("real/a.txt", "to-file.txt");
    link("real", "to-folder");
    link("to-file.txt", "to-link.txt");
    const source = await open();
    for (const path of ["to-file.txt", "to-folder/a.txt", "to-link.txt"])
      expect(textOf(await source.read({ path }, call())), path).toBe("alpha");
    expect(pathsOf(await listAll(source))).toEqual(["real/a.txt", "to-file.txt", "to-link.txt"]);
    const children = await source.children({ path: "" }, asking(10), call());
    expect(children.items.map(({ path, mimeType }) => [path, mimeType])).toEqual([
      ["real", "inode/directory"],
      ["to-file.txt", "text/plain"],
      ["to-folder", "inode/directory"],
      ["to-link.txt", "text/plain"],
    ]);
    expect(pathsOf((await source.children({ path: "to-folder" }, asking(10), call())).items)).toEqual([
      "to-folder/a.txt",
    ]);
  });

  it("that leads out of the root leads nowhere", async () => {
    fs.mkdirSync(join(above, "root2"));
    fs.writeFileSync(join(above, "root2", "a.txt"), "outside");
    fs.writeFileSync(join(above, "outside.txt"), "outside");
    write("inside/a.txt", "inside");
    link(join(above, "outside.txt"), "absolute.txt");
    link("../outside.txt", "relative.txt");
    link("../root2", "sibling");
    link("..", "up");
    link("/", "top");
    link("relative.txt", "chain.txt");
    link("sibling", "chain");
    const source = await open();
    for (const path of [
      "absolute.txt",
      "relative.txt",
      "sibling",
      "sibling/a.txt",
      "up",
      "up/outside.txt",
      "up/root/inside/a.txt/x",
      "top/etc/passwd",
      "chain.txt",
      "chain/a.txt",
      "../outside.txt",
      "inside/../../outside.txt",
    ])
      await expectNothing(source, path);
    expect(pathsOf(await listAll(source))).toEqual(["inside/a.txt"]);
  });

  it("that leads in a circle, nowhere, or to what is not served leads nowhere", async () => {
    write(".env", "SECRET=1");
    write(".hidden/a.txt", "hidden");
    write("id_rsa", "key");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link("missing", "dangling");
    link(".env", "notes.txt");
    link(".hidden", "shown");
    link("id_rsa", "key.txt");
    const source = await open();
    for (const path of ["loop-a", "loop-a/x", "dangling", "notes.txt", "shown", "shown/a.txt", "key.txt"])
      await expectNothing(source, path);
    expect(await listAll(source)).toEqual([]);
  });

  it("to a device, a pipe, a socket or what the kernel makes up leads nowhere, and never waits", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    const socket = createServer().listen(join(root, "socket"));
    await new Promise((resolve) => socket.once("listening", resolve));
    link("/dev/zero", "zero");
    link("/proc/self/environ", "environ");
    link("/proc/self/root", "escape");
    link(`/proc/${process.pid}/fd/0`, "stdin");
    link("pipe", "to-pipe");
    const source = await open();
    try {
      for (const path of ["pipe", "to-pipe", "socket", "zero", "environ", "escape/etc/passwd", "stdin"])
        await expectNothing(source, path);
      expect(await listAll(source)).toEqual([]);
    } finally {
      await new Promise((resolve) => socket.close(resolve));
    }
  });
});

describe("while others write", () => {
  it("a file that a link replaces again and again never shows what is outside", async () => {
    fs.writeFileSync(join(above, "outside.txt"), "outside");
    write("a.txt", "inside");
    const source = await open();
    const racer = spawnRacer(`
      fs.symlinkSync("../outside.txt", root + "/.link");
      for (let turn = 0; turn < 20_000; turn += 1) {
        fs.renameSync(root + "/a.txt", root + "/.file");
        fs.renameSync(root + "/.link", root + "/a.txt");
        fs.renameSync(root + "/a.txt", root + "/.link");
        fs.renameSync(root + "/.file", root + "/a.txt");
      }`);
    const seen = new Map<string, number>();
    for (let isOver = false; !isOver;) {
      isOver = racer.isOver();
      let said: string;
      try {
        said = textOf(await source.read({ path: "a.txt" }, call()));
      } catch (cause) {
        said = (cause as ResourceError).kind;
      }
      seen.set(said, (seen.get(said) ?? 0) + 1);
      for (const { path, size } of (await source.list(asking(10), call())).items)
        if (path === "a.txt") expect(size).toBe(6);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await racer.over;
    expect([...seen.keys()].sort().filter((said) => said !== "not-found")).toEqual(["inside"]);
  }, 60_000);

  it("a folder that a link replaces again and again never shows what is outside", async () => {
    fs.mkdirSync(join(above, "outside"));
    for (let index = 0; index < 50; index += 1) fs.writeFileSync(join(above, "outside", `${index}.txt`), "outside!");
    for (let index = 0; index < 50; index += 1) write(`deep/folder/${index}.txt`, "in");
    const source = await open();
    const racer = spawnRacer(`
      fs.symlinkSync("../../outside", root + "/deep/.link");
      for (let turn = 0; turn < 10_000; turn += 1) {
        fs.renameSync(root + "/deep/folder", root + "/deep/.real");
        fs.renameSync(root + "/deep/.link", root + "/deep/folder");
        fs.renameSync(root + "/deep/folder", root + "/deep/.link");
        fs.renameSync(root + "/deep/.real", root + "/deep/folder");
      }`);
    let listed = 0;
    for (let isOver = false; !isOver;) {
      isOver = racer.isOver();
      const { items } = await source.list(asking(1000), call());
      const children = await source
        .children({ path: "deep/folder" }, asking(1000), call())
        .catch(() => ({ items: [] as Entry[] }));
      for (const { size } of [...items, ...children.items]) expect(size).toBe(2);
      listed += items.length + children.items.length;
      const said = await source.read({ path: "deep/folder/1.txt" }, call()).then(textOf, () => "in");
      expect(said).toBe("in");
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await racer.over;
    expect(listed).toBeGreaterThan(0);
  }, 60_000);

  it("a file that is saved by renaming is there at every moment", async () => {
    write("a.txt", "version 0");
    const source = await open();
    const racer = spawnRacer(`
      for (let turn = 0; turn < 1_000; turn += 1) {
        fs.writeFileSync(root + "/.saving", "version " + turn);
        fs.renameSync(root + "/.saving", root + "/a.txt");
      }`);
    for (let isOver = false; !isOver;) {
      isOver = racer.isOver();
      expect(textOf(await source.read({ path: "a.txt" }, call()))).toMatch(/^version \d+$/);
      expect((await source.stat({ path: "a.txt" }, call())).path).toBe("a.txt");
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await racer.over;
  }, 60_000);
});

describe("list", () => {
  it("pages through many thousand files in one folder, complete and disjoint", async () => {
    fs.mkdirSync(join(root, "many"));
    const expected: string[] = [];
    for (let index = 0; index < 20_000; index += 1) {
      const name = `${(index * 7919) % 20_000}-a-file-with-a-name.txt`;
      fs.writeFileSync(join(root, "many", name), "");
      expected.push(`many/${name}`);
    }
    write("zz/last.txt", "");
    const source = await open();
    const paths = pathsOf(await listAll(source, 1500));
    expect(paths).toEqual([...expected, "zz/last.txt"].sort(compareAddresses));
    const children = await collect((cursor) => source.children({ path: "many" }, asking(3000, cursor), call()));
    expect(pathsOf(children)).toEqual(paths.slice(0, -1));
  }, 60_000);

  it("goes on where it was when the cursor's file is gone, or has become a folder", async () => {
    for (const path of ["a.txt", "b/c.txt", "b/d.txt", "e.txt"]) write(path, "");
    const source = await open();
    const first = await source.list(asking(2), call());
    expect(pathsOf(first.items)).toEqual(["a.txt", "b/c.txt"]);
    fs.rmSync(join(root, "b/c.txt"));
    write("b/c.txt/inner.txt", "");
    write("b.txt", "");
    const rest = await collect((cursor) => source.list(asking(1, cursor), call()), first.next);
    expect(pathsOf(rest)).toEqual(["b/c.txt/inner.txt", "b/d.txt", "b.txt", "e.txt"]);
    fs.rmSync(join(root, "b"), { recursive: true });
    write("b", "a file where the folder was");
    expect(pathsOf(await collect((cursor) => source.list(asking(1, cursor), call()), first.next))).toEqual([
      "b.txt",
      "e.txt",
    ]);
  });

  it("sees a name that comes into a large folder between two pages", async () => {
    for (let index = 0; index < 1000; index += 1) write(`f${index}.txt`, "");
    const source = await open();
    const first = await source.list(asking(900), call());
    write("zzz.txt", "");
    const rest = await collect((cursor) => source.list(asking(1000, cursor), call()), first.next);
    expect(pathsOf(rest).at(-1)).toBe("zzz.txt");
    expect(first.items.length + rest.length).toBe(1001);
  });

  it("says of each file its size, its type, when it was changed, and a version", async () => {
    write("a.ts", "12345");
    const then = new Date("2024-02-29T23:59:59.500Z");
    fs.utimesSync(join(root, "a.ts"), then, then);
    const source = await open();
    let entry: Entry | undefined;
    do [entry] = await listAll(source);
    while (entry?.version === undefined);
    const { dev, ino, mtimeNs, ctimeNs } = fs.statSync(join(root, "a.ts"), { bigint: true });
    expect(entry).toEqual({
      path: "a.ts",
      name: "a.ts",
      mimeType: "text/typescript",
      size: 5,
      annotations: { lastModified: "2024-02-29T23:59:59.500Z" },
      version: `${dev}-${ino}-5-${mtimeNs}-${ctimeNs}`,
    });
  });

  it("promises no version of a file that was written a moment ago", async () => {
    const source = await open();
    for (let turn = 0; turn < 50; turn += 1) {
      const before = Date.now();
      write("a.txt", `${turn % 10}`);
      const { version } = await source.stat({ path: "a.txt" }, call());
      if (Date.now() - before < 15) expect(version).toBeUndefined();
    }
  });

  it.runIf(process.getuid?.() === 0)("leaves out a folder that the system refuses, and says so in the log", () => {
    write("open/a.txt", "");
    write("shut/a.txt", "");
    fs.chmodSync(above, 0o755);
    fs.chmodSync(join(root, "shut"), 0o000);
    const script = `
      process.setgid(65534); process.setuid(65534);
      const { default: file } = await import(${JSON.stringify(new URL("./file.ts", import.meta.url).href)});
      const said = [];
      const source = await file.open({ root: ${JSON.stringify(root)}, maxBytes: 100 },
        { now: Date.now, wait: async () => {}, log: (...words) => said.push(words) });
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

  it("takes a byte order mark off a text, and says so", async () => {
    write("a.txt", "\ufeffwörter");
    const part = onlyPart(await (await open()).read({ path: "a.txt" }, call()));
    expect(part).toEqual({ body: { text: "wörter" }, mimeType: "text/plain", meta: { encoding: "utf-8-bom" } });
  });

  it("gives bytes that later reads do not touch", async () => {
    write("a.bin", new Uint8Array(100).fill(0xff));
    write("b.bin", new Uint8Array(100).fill(0xee));
    const source = await open();
    const first = onlyPart(await source.read({ path: "a.bin" }, call())).body;
    await source.read({ path: "b.bin" }, call());
    expect("bytes" in first && first.bytes.every((byte) => byte === 0xff)).toBe(true);
  });

  it.each([65_535, 65_536, 65_537, 300_000])("gives all of a file of %i bytes", async (size) => {
    write("a.txt", "é".repeat(size / 2) + (size % 2 === 1 ? "x" : ""));
    const { body } = onlyPart(await (await open()).read({ path: "a.txt" }, call()));
    expect("text" in body && Buffer.byteLength(body.text)).toBe(size);
  });

  it("refuses what is larger than it may be, and says how large it is", async () => {
    write("a.txt", "x".repeat(1001));
    write("b.txt", "x".repeat(1000));
    const source = await open({ maxBytes: 1000 });
    const { details } = await refusal(source.read({ path: "a.txt" }, call()), ["too-large"], "a.txt");
    expect(details).toEqual({ reason: "too-large", size: 1001, maxBytes: 1000 });
    expect(textOf(await source.read({ path: "b.txt" }, call()))).toHaveLength(1000);
  });

  it("reads many at once without mixing them up", async () => {
    for (let index = 0; index < 50; index += 1) write(`${index}.txt`, `${index} `.repeat(index * 1000));
    const source = await open();
    const read = async (index: number) => textOf(await source.read({ path: `${index}.txt` }, call()));
    const texts = await Promise.all(Array.from({ length: 50 }, (_, index) => read(index)));
    for (const [index, text] of texts.entries()) expect(text).toBe(`${index} `.repeat(index * 1000));
  });

  it("leaves no descriptor open, whatever happens", async () => {
    write("a.txt", "a");
    write("large.txt", "x".repeat(200_000));
    link("/etc/passwd", "out");
    link("a.txt", "in");
    const source = await open({ maxBytes: 100_000 });
    const everything = async () => {
      for (const path of ["a.txt", "large.txt", "out", "in", "missing", "", ".env"])
        await Promise.allSettled([
          source.read({ path }, call()),
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
  it("puts what begins as typed first, folders with a slash, and says what each value reveals", async () => {
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

  it("gives at most a hundred", async () => {
    for (let index = 0; index < 300; index += 1) write(`f${index}`, "");
    const source = await open();
    const template = source.templates[0] as (typeof source.templates)[number];
    expect(await source.complete({ template, variable: "path", value: "f", given: {} }, call())).toHaveLength(100);
  });
});

describe("watch", () => {
  const kindIs = (kind: SourceChange["kind"], path: string) => (change: SourceChange) =>
    change.kind === kind && "path" in change && change.path === path;

  async function hear() {
    const source = await open();
    const { until, heard, ended } = listen(await source.watch(call()));
    return {
      heard,
      ended,
      until: (kind: SourceChange["kind"], path: string) => until(kindIs(kind, path), `${kind} ${path}`),
      /** Resolves when all that was done before has been heard. */
      async settle() {
        write("~settled", "");
        await until(kindIs("appeared", "~settled"), "settled");
      },
    };
  }

  it("tells of what is made, changed, renamed and removed", async () => {
    write("a.txt", "");
    const { until } = await hear();
    write("b.txt", "");
    await until("appeared", "b.txt");
    fs.appendFileSync(join(root, "a.txt"), "more");
    await until("changed", "a.txt");
    fs.renameSync(join(root, "a.txt"), join(root, "c.txt"));
    await until("gone", "a.txt");
    await until("appeared", "c.txt");
    fs.rmSync(join(root, "b.txt"));
    await until("gone", "b.txt");
  });

  it("tells of a file saved by renaming that it changed, and of nothing else", async () => {
    write("a.txt", "one");
    const { heard, settle } = await hear();
    write(".a.txt.swp", "two");
    fs.renameSync(join(root, ".a.txt.swp"), join(root, "a.txt"));
    await settle();
    expect(heard.filter((change) => "path" in change && change.path !== "~settled")).toEqual([
      { kind: "changed", path: "a.txt" },
    ]);
  });

  it("never tells of what is not served", async () => {
    const { heard, settle } = await hear();
    write(".env", "SECRET=1");
    write("node_modules/x/index.js", "");
    write("id_rsa", "");
    write(".git/refs/heads/main", "");
    link(".env", "notes.txt");
    link("../", "up");
    execFileSync("mkfifo", [join(root, "pipe")]);
    fs.writeFileSync(Buffer.from(`${root}/broken-\xff.txt`, "latin1"), "x");
    fs.rmSync(join(root, ".env"));
    await settle();
    expect(heard.filter((change) => !("path" in change) || change.path !== "~settled")).toEqual([]);
  });

  it("hears each of a thousand files made at once in new folders, and what is done to them later", async () => {
    const { until } = await hear();
    const paths: string[] = [];
    for (let index = 0; index < 1000; index += 1) paths.push(`new/${index % 10}/${index % 100}/${index}.txt`);
    for (const path of paths) write(path, "");
    for (const path of paths) await until("appeared", path);
    await until("appeared", "new/3/13");
    for (const path of paths) fs.appendFileSync(join(root, path), "x");
    for (const path of paths) await until("changed", path);
    fs.rmSync(join(root, "new"), { recursive: true });
    for (const path of paths) await until("gone", path);
    await until("gone", "new");
  }, 30_000);

  it("tells of all in a folder that is moved in, within or out", async () => {
    fs.mkdirSync(join(above, "outside/deep"), { recursive: true });
    fs.writeFileSync(join(above, "outside/deep/a.txt"), "");
    const { until } = await hear();
    fs.renameSync(join(above, "outside"), join(root, "in"));
    await until("appeared", "in/deep/a.txt");
    fs.appendFileSync(join(root, "in/deep/a.txt"), "x");
    await until("changed", "in/deep/a.txt");
    fs.renameSync(join(root, "in"), join(root, "within"));
    await until("gone", "in/deep/a.txt");
    await until("gone", "in");
    await until("appeared", "within/deep/a.txt");
    write("within/deep/b.txt", "");
    await until("appeared", "within/deep/b.txt");
    fs.renameSync(join(root, "within"), join(above, "outside"));
    await until("gone", "within/deep/a.txt");
    await until("gone", "within/deep");
  });

  it("hears of a file that is removed and made again, and of a folder that is", async () => {
    write("a.txt", "one");
    write("folder/b.txt", "one");
    const { until, heard } = await hear();
    fs.rmSync(join(root, "a.txt"));
    write("a.txt", "two");
    const wasTold = (change: SourceChange) => "path" in change && change.path === "a.txt" && change.kind !== "gone";
    while (!heard.some(wasTold)) await new Promise<void>((resolve) => setImmediate(resolve));
    fs.rmSync(join(root, "folder"), { recursive: true });
    write("folder/c.txt", "two");
    await until("appeared", "folder/c.txt");
    write("folder/d.txt", "");
    await until("appeared", "folder/d.txt");
  });

  it("says that it lost sight when the folder itself is replaced, and sees the new one", async () => {
    write("a.txt", "");
    const { heard, until } = await hear();
    const lost = (count: number) => heard.filter(({ kind }) => kind === "lost").length >= count;
    fs.renameSync(root, join(above, "moved"));
    while (!lost(1)) await new Promise<void>((resolve) => setImmediate(resolve));
    fs.mkdirSync(root);
    while (!lost(2)) await new Promise<void>((resolve) => setImmediate(resolve));
    write("b.txt", "");
    await until("appeared", "b.txt");
  }, 20_000);

  it("leaves nothing running when its signal ends", async () => {
    const { ended } = await hear();
    stop.abort();
    await ended;
    expect(process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort|FSEvent/.test(name))).toEqual([]);
  });
});

/** Another process that races with this one; it has `fs` and `root`, and its work is bounded. */
function spawnRacer(script: string): { readonly over: Promise<void>; isOver(): boolean } {
  let isOver = false;
  const racer = spawn(
    process.execPath,
    ["--input-type=module", "-e", `import fs from "node:fs"; const root = ${JSON.stringify(root)}; ${script}`],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const over = new Promise<void>((resolve, reject) => {
    racer.once("exit", (code) => {
      isOver = true;
      if (code === 0) resolve();
      else reject(new Error(`the racer ended with ${code}`));
    });
  });
  return { over, isOver: () => isOver };
}
