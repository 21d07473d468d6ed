import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeLeftovers } from "./leftovers.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-write-"));
  file = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("a written file", () => {
  it("is readable by its owner only, or has the mode of the replaced file, and leaves nothing beside it", () => {
    writeFileAtomically(file, "one");
    expect([readFileSync(file, "utf8"), modeOf(file)]).toEqual(["one", 0o600]);
    chmodSync(file, 0o664);
    writeFileAtomically(file, "two", { keepsMode: true });
    expect([readFileSync(file, "utf8"), modeOf(file)]).toEqual(["two", 0o664]);
    writeFileAtomically(file, Buffer.from("three"));
    expect([readFileSync(file, "utf8"), modeOf(file)]).toEqual(["three", 0o600]);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("does not replace another if it must be new", () => {
    writeFileAtomically(file, "one", { isNew: true });
    expect(() => writeFileAtomically(file, "two", { isNew: true })).toThrow(
      expect.objectContaining({ code: "EEXIST" }),
    );
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("leaves nothing if it cannot be written", () => {
    expect(() => writeFileAtomically(folder, "one")).toThrow();
    expect(readdirSync(join(folder, "..")).filter((name) => name.includes(`.${folder.split("/").at(-1)!}`))).toEqual(
      [],
    );
  });

  it("is complete whenever its writer is killed, and leftovers are removed later", async () => {
    const [module, size] = [join(import.meta.dirname, "write-file-atomically.ts"), 200_000];
    const script = join(folder, "write.mjs");
    writeFileSync(
      script,
      `import { writeFileAtomically } from ${JSON.stringify(pathToFileURL(module).href)};
       process.send("ready");
       for (let round = 0; ; round++) writeFileAtomically(process.argv[2], String(round % 10).repeat(${size}));`,
    );
    writeFileAtomically(file, "0".repeat(size));
    for (let kill = 0; kill < 10; kill++) {
      const child = fork(script, [file], { execArgv: [], stdio: "ignore" });
      await once(child, "message");
      // Until it has written something, with varying delays.
      const before = statSync(file).ino;
      while (statSync(file).ino === before) await new Promise((resolve) => setImmediate(resolve));
      for (let turn = 0; turn < kill * 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      child.kill("SIGKILL");
      await once(child, "exit");
      const text = readFileSync(file, "utf8");
      expect(text).toBe(text.charAt(0).repeat(size));
    }
    removeLeftovers(folder);
    expect(readdirSync(folder)).toEqual(["file", "write.mjs"]);
  });
});

it("nothing else writes a user's files", () => {
  const root = join(import.meta.dirname, "..");
  const ofTests = /(?:\.test|(?:^|[/\\])test-[^/\\]*)\.tsx?$|^testing/;
  const found = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !ofTests.test(name))
    .filter((name) =>
      /\b(?:(?:rename|writeFile|copyFile|appendFile)(?:Sync)?|linkSync)\(/.test(readFileSync(join(root, name), "utf8")),
    );
  const others = [
    // Writes a new file line by line; one that a crash cuts fails the checksum when it is restored.
    join("cli", "commands", "backup.ts"),
    // Moves aside what is not an index.
    join("search", "index-folder.ts"),
    // Appends lines; one that a crash cuts is left out when the log is read.
    join("server", "audit-log.ts"),
    // Writes a file to check whether the disk has space, and removes it.
    join("server", "examine-index.ts"),
    // Copies git's index into a temporary file, because comparing a checkout writes to it.
    join("sources", "git", "changes.ts"),
  ];
  expect(found.toSorted()).toEqual([join("lib", "write-file-atomically.ts"), ...others].toSorted());
});
