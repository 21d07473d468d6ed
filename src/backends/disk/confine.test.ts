import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ResourceError } from "../../errors.ts";
import type { Entry, Part, Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import { createConfine } from "./confine.ts";
import { createLocalDisk, createRemoteDisk } from "./disk.ts";
import { createNames } from "./names.ts";
import { run, settled } from "./steps.ts";
import { useFolder } from "./test-folder.ts";
import type { FileSource } from "./test-folder.ts";
import { createWalk } from "./walk.ts";

const folder = useFolder();
const { at, call, link, open, race, write } = folder;

async function listAll(source: Source, limit = 1000): Promise<Entry[]> {
  return collect((cursor) => source.list(asking(limit, cursor), call()));
}

const pathsOf = (entries: readonly { readonly path: string }[]) => entries.map(({ path }) => path);

function textOf([part]: readonly Part[]): string {
  return part && "text" in part.body ? part.body.text : "no text";
}

/** Every method responds as if nothing existed at the path. */
async function expectNothing(source: FileSource, path: string): Promise<void> {
  for (const asked of [
    source.read({ path }, call()),
    source.stat({ path }, call()),
    source.children({ path }, asking(10), call()),
  ]) {
    const { message } = await refusal(asked, ["not-found"], path);
    expect(message).toBe(`no resource at ${JSON.stringify(path)}`);
  }
  expect(pathsOf(await listAll(source)).filter((other) => other === path || other.startsWith(`${path}/`))).toEqual([]);
  const typed = path.slice(0, path.lastIndexOf("/") + 1);
  const template = source.templates[0] as (typeof source.templates)[number];
  const suggested = await source.complete({ template, variable: "path", value: typed, given: {} }, call());
  expect(suggested.map(({ value }) => value)).not.toContain(path);
  expect(suggested.map(({ value }) => value)).not.toContain(`${path}/`);
}

describe("a path", () => {
  it("leaves out hidden, secret and foreign files in every method", async () => {
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
});

describe("a link", () => {
  it("to a file or a folder inside is followed, and only files are listed", async () => {
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

  it("that leaves the root is not followed", async () => {
    fs.mkdirSync(join(folder.above, "root2"));
    fs.writeFileSync(join(folder.above, "root2", "a.txt"), "outside");
    fs.writeFileSync(join(folder.above, "outside.txt"), "outside");
    write("inside/a.txt", "inside");
    link(join(folder.above, "outside.txt"), "absolute.txt");
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

  it("that is circular, broken, or points to a hidden file is not followed", async () => {
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

  it("to a device, a pipe, a socket or a virtual file is not followed, and never blocks", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const socket = createServer().listen(at("socket"));
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
  it("a file that is repeatedly replaced by a link never reveals outside files", async () => {
    fs.writeFileSync(join(folder.above, "outside.txt"), "outside");
    write("a.txt", "inside");
    const source = await open();
    const racer = race(`
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
        said = cause instanceof ResourceError ? cause.kind : String(cause);
      }
      seen.set(said, (seen.get(said) ?? 0) + 1);
      for (const { path, size } of (await source.list(asking(10), call())).items)
        if (path === "a.txt") expect(size).toBe(6);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await racer.over;
    expect([...seen.keys()].sort().filter((said) => said !== "not-found")).toEqual(["inside"]);
  }, 60_000);

  it("a folder that is repeatedly replaced by a link never reveals outside files", async () => {
    fs.mkdirSync(join(folder.above, "outside"));
    for (let index = 0; index < 50; index += 1)
      fs.writeFileSync(join(folder.above, "outside", `${index}.txt`), "outside!");
    for (let index = 0; index < 50; index += 1) write(`deep/folder/${index}.txt`, "in");
    const source = await open();
    const racer = race(`
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

  it("a file that is saved by renaming exists at every moment", async () => {
    write("a.txt", "version 0");
    const source = await open();
    const racer = race(`
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

describe.each([
  ["a local disk, by handles", createLocalDisk, true],
  ["a local disk, by paths", createLocalDisk, false],
  ["a remote disk, by handles", createRemoteDisk, true],
  ["a remote disk, by paths", createRemoteDisk, false],
])("on %s", (_, createDisk, handles) => {
  function stand() {
    const disk = createDisk();
    const folderRules = folder.rules(disk);
    const confine = createConfine(folder.root, disk, folderRules, { handles });
    const names = createNames(disk, folderRules);
    const left: string[] = [];
    const walk = createWalk({
      root: { name: "root" },
      confine,
      disk,
      names,
      folderRules,
      refused: (path) => left.push(path),
      unspeakable: (path) => left.push(path),
    });
    const ask = { limit: 1000, signal: call().signal };
    return {
      left,
      kindAt: (path: string) => run(confine.visit(path, ({ kind }) => settled(kind))),
      read: (path: string) =>
        run(
          confine.visit(path, function* (location) {
            const fd = yield* confine.open(location);
            if (fd === undefined) return undefined;
            try {
              return (yield* settled(disk.read(fd, Number(location.stats.size), 1000))).toString();
            } finally {
              disk.close(fd);
            }
          }),
        ),
      list: async () => pathsOf((await run(walk.files(ask)))?.items ?? []),
      children: async (path: string) => pathsOf((await run(walk.children(path, ask)))?.items ?? []),
    };
  }

  it("serves and hides the same files", async () => {
    fs.writeFileSync(join(folder.above, "outside.txt"), "outside");
    fs.mkdirSync(join(folder.above, "root2"));
    fs.writeFileSync(join(folder.above, "root2", "a.txt"), "outside");
    write("docs/a.txt", "alpha");
    write("docs/deep/b.txt", "beta");
    write("docs-old/c.txt", "gamma");
    write("gone (deleted)", "a name that the kernel might have made");
    write(".env", "secret");
    link("docs/a.txt", "to-file");
    link("docs", "to-folder");
    link(".env", "to-secret");
    link("../outside.txt", "to-outside");
    link("../root2", "to-sibling");
    link("loop", "loop");
    link("/dev/zero", "zero");
    link("/proc/self/environ", "environ");
    execFileSync("mkfifo", [at("pipe")]);
    fs.writeFileSync(Buffer.from(`${folder.root}/broken-\xff`, "latin1"), "x");
    const { kindAt, read, list, children, left } = stand();
    expect(await list()).toEqual(["docs/a.txt", "docs/deep/b.txt", "docs-old/c.txt", "gone (deleted)", "to-file"]);
    expect(left).toEqual(["broken-\ufffd"]);
    expect(await children("to-folder")).toEqual(["to-folder/a.txt", "to-folder/deep"]);
    expect(await children("")).toEqual(["docs", "docs-old", "gone (deleted)", "to-file", "to-folder"]);
    expect(await read("docs/a.txt")).toBe("alpha");
    expect(await read("to-folder/deep/b.txt")).toBe("beta");
    expect(await read("gone (deleted)")).toBe("a name that the kernel might have made");
    expect(await kindAt("")).toBe("folder");
    expect(await kindAt("to-folder/deep")).toBe("folder");
    for (const path of [
      "DOCS/a.txt",
      "docs/a.txt/x",
      "gone",
      "to-secret",
      "to-outside",
      "to-sibling",
      "to-sibling/a.txt",
      "../outside.txt",
      "loop",
      "zero",
      "environ",
      "pipe",
      ".env",
    ])
      expect(await kindAt(path), path).toBeUndefined();
  });

  it("reads a folder again when it has changed, whatever its size", async () => {
    const { list } = stand();
    for (let index = 0; index < 800; index += 1) write(`${"long".repeat(50)}-${index}`, "");
    const first = await list();
    expect(first).toHaveLength(800);
    expect(await list()).toEqual(first);
    write("!new", "");
    expect((await list())[0]).toBe("!new");
    fs.rmSync(at("!new"));
    expect(await list()).toEqual(first);
  });
});
