import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { watchFile } from "./watch-file.ts";
import { createRuntime } from "./runtime.ts";

let folder: string;
let file: string;
let stop: AbortController;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-follow-"));
  file = join(folder, "config.yaml");
  stop = new AbortController();
  writeFileSync(file, "first");
});

afterEach(() => {
  stop.abort();
  rmSync(folder, { recursive: true, force: true });
});

/** Calls of `changed`, in order. */
function follow(runtime = createRuntime({ write: () => true })) {
  let waiting: (() => void) | undefined;
  let count = 0;
  const ended = watchFile(
    file,
    async () => {
      count += 1;
      waiting?.();
    },
    { runtime, signal: stop.signal },
  );
  return {
    ended,
    get count() {
      return count;
    },
    /** Waits for one more call if there were fewer. */
    async until(least: number): Promise<void> {
      if (count < least) await new Promise<void>((resolve) => (waiting = resolve));
    },
  };
}

describe("a file that is followed", () => {
  it("is noticed when it is written in place", async () => {
    const followed = follow();
    writeFileSync(file, "second");
    await followed.until(1);
    writeFileSync(file, "third, longer");
    await followed.until(2);
  });

  it("is noticed when an editor saves beside it and renames", async () => {
    const followed = follow();
    writeFileSync(join(folder, ".config.yaml.swp"), "second");
    renameSync(join(folder, ".config.yaml.swp"), file);
    await followed.until(1);
    renameSync(file, join(folder, "config.yaml~"));
    writeFileSync(file, "third");
    await followed.until(2);
  });

  it("is noticed when it is back after it was gone", async () => {
    const followed = follow();
    unlinkSync(file);
    writeFileSync(join(folder, "other"), "not ours");
    writeFileSync(file, "back");
    await followed.until(1);
  });

  it("is noticed as often as it changes, and not for its neighbours", async () => {
    const followed = follow();
    writeFileSync(join(folder, "other"), "not ours");
    writeFileSync(file, "second");
    await followed.until(1);
    expect(followed.count).toBe(1);
  });

  it("is polled if the system reports nothing", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "pressmark-elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "target"), "first");
      unlinkSync(file);
      symlinkSync(join(elsewhere, "target"), file);
      const clock = createClock();
      const followed = follow(clock.runtime);
      writeFileSync(join(elsewhere, "target"), "second");
      await clock.advance(60_000);
      expect(followed.count).toBe(1);
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it("is followed no longer when the signal ends", async () => {
    const followed = follow();
    stop.abort();
    await followed.ended;
    expect(followed.count).toBe(0);
  });
});
