/** Searches wait for the first pass of a small index. Its threads are real; time passes when the test says so. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Runtime, SourceDefinition } from "../../source.ts";
import file from "../../sources/file.ts";
import { createRuntime } from "../runtime.ts";
import { createServerIndex } from "../server-index.ts";

const never = new AbortController().signal;

async function openIndex({ live = true, isBroken = false } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-first-pass-")));
  const folder = join(root, "files");
  mkdirSync(folder);
  writeFileSync(join(folder, "ink.md"), "Ink dries overnight.\n");
  let nowMs = 0;
  let elapse: (() => void) | undefined;
  const waits: number[] = [];
  const real = createRuntime({ write: () => true });
  const runtime: Runtime = {
    ...real,
    monotonicMs: () => nowMs,
    wait(ms, signal) {
      waits.push(ms);
      return new Promise((resolve, reject) => {
        elapse = () => {
          nowMs += ms;
          resolve();
        };
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      });
    },
  };
  const options = { root: folder, maxBytes: 1e6 };
  const source = await file.open(options, real);
  // A file where the folder of the index should be.
  const cacheFolder = join(root, "cache");
  if (isBroken) writeFileSync(cacheFolder, "");
  const index = createServerIndex({ cacheFolder, project: { folders: [folder] }, runtime, live });
  index.serve([{ name: "files", source, definition: file as SourceDefinition, options }], {});
  onTestFinished(async () => {
    await index.close();
    await source.close?.();
    rmSync(root, { recursive: true, force: true });
  });
  return { index, waits, elapse: () => elapse?.() };
}

it("ends the wait when the pass is done, and the search finds everything", async () => {
  const { index, waits } = await openIndex();
  await index.awaitFirstPass!(["files"], never);
  expect(waits).toEqual([1000]);
  expect(index.ready("files")).toBe(1);
  expect(await index.search({ text: "overnight", limit: 5 }, never)).toHaveLength(1);
});

it("ends the wait after a second in all, however many searches there are", async () => {
  const { index, waits, elapse } = await openIndex();
  const first = index.awaitFirstPass!(["files"], never);
  elapse();
  await first;
  await index.awaitFirstPass!(["files"], never);
  expect(waits).toEqual([1000]);
});

it("ends the wait with its caller", async () => {
  const { index } = await openIndex();
  const caller = new AbortController();
  const waiting = index.awaitFirstPass!(["files"], caller.signal);
  caller.abort();
  await waiting;
});

it("does not wait for an index that fails", async () => {
  const { index } = await openIndex({ isBroken: true });
  await index.awaitFirstPass!(["files"], never);
  expect(index.ready("files")).toBe(0);
});

it("leaves waiting to a single command", async () => {
  const { index, waits } = await openIndex({ live: false });
  await index.awaitFirstPass!(["files"], never);
  expect(waits).toEqual([]);
});
