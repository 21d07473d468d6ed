import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeLease } from "./lease.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-lease-"));
  file = join(folder, "lock.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a lease", () => {
  it("is held by one at a time, also within a process", () => {
    const first = takeLease(file);
    expect(first).toBeDefined();
    expect(takeLease(file)).toBeUndefined();
    first?.release();
    const second = takeLease(file);
    expect(second).toBeDefined();
    second?.release();
  });

  it("is held until its process is killed, also if nothing refers to it", async () => {
    const script = join(folder, "take.mjs");
    const module = pathToFileURL(join(import.meta.dirname, "lease.ts")).href;
    writeFileSync(
      script,
      `import { takeLease } from ${JSON.stringify(module)};
       const said = takeLease(${JSON.stringify(file)}) ? "taken" : "busy";
       setImmediate(() => { gc(); setImmediate(() => process.send(said)); });
       setInterval(() => {}, 1000);`,
    );
    const child = fork(script, { execArgv: ["--expose-gc"], stdio: "ignore" });
    try {
      expect(await once(child, "message")).toEqual(["taken", undefined]);
      expect(takeLease(file)).toBeUndefined();
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const lease = takeLease(file);
    expect(lease).toBeDefined();
    lease?.release();
  });

  it("can be taken if the file is corrupt, and then by one at a time", () => {
    writeFileSync(file, "garbled ".repeat(1000));
    const first = takeLease(file);
    expect(first?.isHeld()).toBe(true);
    expect(takeLease(file)).toBeUndefined();
    // Corrupted while the lease is held: it is still held.
    writeFileSync(file, "garbled ".repeat(1000), { flag: "r+" });
    expect([first?.isHeld(), takeLease(file)]).toEqual([true, undefined]);
    first?.release();
    takeLease(file)?.release();
  });

  it("is no longer held once the file is removed or replaced", () => {
    const lease = takeLease(file);
    rmSync(file);
    expect(lease?.isHeld()).toBe(false);
    writeFileSync(file, "");
    expect(lease?.isHeld()).toBe(false);
    lease?.release();
  });

  it("that cannot be taken gives an error", () => {
    expect(() => takeLease(join(folder, "nowhere", "lock.db"))).toThrow();
  });
});
