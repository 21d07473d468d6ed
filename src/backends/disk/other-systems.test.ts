/** Files as Windows and macOS show them, simulated on this system: separators, case, and composed or decomposed names. */
import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import { withSlashes } from "../../lib/with-slashes.ts";
import { createFolderRules, chooseRules } from "../folder-rules/folder-rules.ts";
import { isName } from "../folder-rules/name-rules.ts";
import { createConfine } from "./confine.ts";
import { createLocalDisk, type Disk } from "./disk.ts";
import { createNames } from "./names.ts";
import { run, settled } from "./steps.ts";
import { useFolder } from "./test-folder.ts";
import { createWalk } from "./walk.ts";

const folder = useFolder();
const { call, link, write } = folder;

interface System {
  /** Where the served folder is on that system, with slashes. */
  readonly root: string;
  readonly separator: string;
  /** Two spellings with the same key are one name. */
  key(name: string): string;
}

const windows: System = { root: "C:/Users/aki/proj", separator: "\\", key: (name) => name.toLowerCase() };
const share: System = { ...windows, root: "//server/share/proj" };
const mac: System = {
  root: "/Users/aki/proj",
  separator: "/",
  key: (name) => name.normalize("NFD").toLowerCase(),
};

/** A disk on which a name has several spellings; `realpath` returns the stored one, as it does there. */
function diskOf({ root, separator, key }: System): Disk {
  const disk = createLocalDisk();

  function here(path: string): string {
    const written = withSlashes(path, separator);
    if (key(written.slice(0, root.length)) !== key(root)) return "/nowhere";
    let at = folder.root;
    for (const name of written.slice(root.length).split("/").slice(1)) {
      const stored = fs.statSync(at, { throwIfNoEntry: false })?.isDirectory()
        ? fs.readdirSync(at).find((each) => key(each) === key(name))
        : undefined;
      at = `${at}/${stored ?? name}`;
    }
    return at;
  }

  function there(path: string): string {
    if (path !== folder.root && !path.startsWith(`${folder.root}/`)) return `${separator}elsewhere`;
    return (root + path.slice(folder.root.length)).replaceAll("/", separator);
  }

  return {
    ...disk,
    open: (path, flags) => disk.open(here(path), flags),
    lstat: (path) => disk.lstat(here(path)),
    lstatSmall: (path) => disk.lstatSmall(here(path)),
    stat: (path) => disk.stat(here(path)),
    lstats: (within, names, use) => disk.lstats(here(within), names, use),
    realpath: (path) => withSlashes(there(fs.realpathSync.native(here(path))), separator),
    kind: () => "local",
    kinds: (within) => disk.kinds(here(within)),
    names: (within, size) => disk.names(here(within), size),
    content: (path, maxBytes, follow) => disk.content(here(path), maxBytes, follow),
  };
}

function ignore(): void {}

function open(system: System) {
  const disk = diskOf(system);
  const person = { home: `${system.root}/../home` };
  const folderRules = createFolderRules({ ...chooseRules({}), root: system.root, disk, person });
  const confine = createConfine(system.root, disk, folderRules, { handles: false });
  const names = createNames(disk, folderRules);
  const walk = createWalk({
    root: { name: "root" },
    confine,
    disk,
    names,
    folderRules,
    refused: ignore,
    unspeakable: ignore,
  });
  return {
    async list(): Promise<readonly string[]> {
      const page = await run(walk.files({ limit: 1000, signal: call().signal }));
      return (page?.items ?? []).map(({ path }) => path);
    },
    /** The text, or undefined if nothing is served there. */
    read: async (path: string): Promise<string | undefined> =>
      run(
        confine.visit(path, function* (location) {
          const fd = yield* confine.open(location);
          if (fd === undefined) return undefined;
          const bytes = yield* settled(disk.read(fd, 100, 1000));
          disk.close(fd);
          return bytes.toString();
        }),
      ),
  };
}

describe.each([
  ["Windows", windows],
  ["a share of Windows", share],
  ["macOS", mac],
])("on %s", (_, system) => {
  it("every listed file is read, and only under its stored name", async () => {
    const files = ["Readme.md", "資料/データ.txt", "がま.txt".normalize("NFD"), "Docs/Deep/a b.txt"];
    for (const path of files) write(path, path);
    const { list, read } = open(system);
    const listed = await list();
    expect(listed.toSorted()).toEqual(files.toSorted());
    for (const path of listed) expect(await read(path), path).toBe(path);
    for (const path of ["README.MD", "readme.md", "docs/Deep/a b.txt", "Docs/DEEP/a b.txt"])
      expect(await read(path), path).toBe(undefined);
  });

  it("no spelling shows a hidden or secret file", async () => {
    for (const path of [".env", "certs/server.pem", ".git/config", "private/x.txt"]) write(path, "secret");
    write(".gitignore", "private/\n");
    const { list, read } = open(system);
    expect(await list()).toEqual([]);
    for (const path of [".env", ".ENV", ".Env", "certs/server.PEM", "CERTS/SERVER.PEM", ".GIT/config", "PRIVATE/x.txt"])
      expect(await read(path), path).toBe(undefined);
  });

  it("a link is followed within the folder, and not out of it", async () => {
    write("real/a.txt", "alpha");
    fs.writeFileSync(`${folder.above}/outside.txt`, "secret");
    link("real", "to-folder");
    link("../outside.txt", "to-outside.txt");
    const { read } = open(system);
    expect(await read("to-folder/a.txt")).toBe("alpha");
    expect(await read("to-outside.txt")).toBe(undefined);
  });
});

describe("on macOS", () => {
  it("a composed spelling of a decomposed name is not a second resource", async () => {
    write("がま.txt".normalize("NFD"), "frog");
    const { list, read } = open(mac);
    expect(await list()).toEqual(["がま.txt".normalize("NFD")]);
    expect(await read("がま.txt".normalize("NFC"))).toBe(undefined);
  });
});

describe("on Windows, a name", () => {
  it("is no path, stream, or other spelling of a shorter name", () => {
    for (const name of [String.raw`a\b`, String.raw`..\b`, "C:", "a.txt:stream", "a.txt::$DATA", "a.txt.", "a.txt "])
      expect(isName(name, "win32"), name).toBe(false);
  });

  it("is no device, with any ending", () => {
    for (const name of ["con", "NUL", "nul.txt", "Aux.tar.gz", "COM1", "lpt9.md", "COM¹", "CONIN$"])
      expect(isName(name, "win32"), name).toBe(false);
    for (const name of ["console", "null.txt", "com10", "common", "README.md", "日本語.md"])
      expect(isName(name, "win32"), name).toBe(true);
  });

  it("may be anything else on other systems", () => {
    for (const name of ["con", "a:b", String.raw`a\b`, "a "]) expect(isName(name, "linux"), name).toBe(true);
  });
});
