import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { FileLockError, withFileLock } from "./file-lock.ts";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-lock-"));
  folder = join(root, "locks");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const script = (body: string) => {
  const file = join(root, "work.mjs");
  const module = pathToFileURL(join(import.meta.dirname, "file-lock.ts")).href;
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from "node:fs";
     import { withFileLock } from ${JSON.stringify(module)};
     const [, , folder, count] = process.argv;
     ${body}`,
  );
  return file;
};

describe("a lock on a file", () => {
  it("is held by one at a time, and passed on when the work is done or has failed", async () => {
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      if (name === "one") throw new Error("failed");
      return name;
    };
    const one = withFileLock("a", work("one"), { folder });
    const two = withFileLock("a", work("two"), { folder });
    await expect(one).rejects.toThrow("failed");
    expect(await two).toBe("two");
    expect(order).toEqual(["one begins", "one ends", "two begins", "two ends"]);
  });

  it("does not block another file", async () => {
    const inner = withFileLock("a", () => withFileLock("b", () => "both", { folder }), { folder });
    expect(await inner).toBe("both");
  });

  it("loses no change that several processes make to one file", async () => {
    const count = join(root, "count");
    writeFileSync(count, "0");
    const file = script(`
      for (let round = 0; round < 20; round++)
        await withFileLock(count, async () => {
          const before = Number(readFileSync(count, "utf8"));
          await new Promise((resolve) => setImmediate(resolve));
          writeFileSync(count, String(before + 1));
        }, { folder });`);
    const children = Array.from({ length: 4 }, () => fork(file, [folder, count], { execArgv: [] }));
    expect(await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number))).toEqual([
      0, 0, 0, 0,
    ]);
    expect(readFileSync(count, "utf8")).toBe("80");
  });

  it("is held until its process is killed, also if the garbage collector runs while nothing can end the work", async () => {
    const file = script(
      `await withFileLock(count, () => {
         setInterval(() => {}, 1000);
         setImmediate(() => { gc(); setImmediate(() => process.send("collected")); });
         return new Promise(() => {});
       }, { folder });`,
    );
    const child = fork(file, [folder, "a"], { execArgv: ["--expose-gc"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "message");
    await expect(withFileLock("a", () => "free", { folder, timeoutMs: 0 })).rejects.toThrow(FileLockError);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await withFileLock("a", () => "free", { folder, timeoutMs: 0 })).toBe("free");
  });

  it("reports what to do if it cannot be acquired", async () => {
    writeFileSync(folder, "");
    await expect(withFileLock("a", () => "free", { folder })).rejects.toThrow(
      /cannot create the folder .*; check its permissions/,
    );
  });
});
