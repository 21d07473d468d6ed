import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";

const module = JSON.stringify(pathToFileURL(join(import.meta.dirname, "v8-memory.ts")).href);

/** A thread that was busy and holds nothing any more. Reports its memory whenever it changes. */
const thread = `
  const { parentPort } = require("node:worker_threads");
  const { getHeapStatistics } = require("node:v8");
  import(${module}).then(({ releaseMemoryWhenIdle }) => {
    releaseMemoryWhenIdle();
    let held = Array.from({ length: 600_000 }, (_, at) => ({ at, name: "name " + at }));
    const most = getHeapStatistics().total_physical_size;
    held = undefined;
    setInterval(() => parentPort.postMessage({ most, now: getHeapStatistics().total_physical_size }), 50);
  });
`;

it("releases memory immediately, unless V8 is to keep its defaults", () => {
  const script = `
    const { getHeapStatistics } = require("node:v8");
    import(${module}).then(({ releaseMemory }) => {
      globalThis.held = Array.from({ length: 600_000 }, (_, at) => ({ at, name: "name " + at }));
      const most = getHeapStatistics().total_physical_size;
      delete globalThis.held;
      releaseMemory();
      console.log(getHeapStatistics().total_physical_size < most / 3);
    });
  `;
  const isReleased = (env: object) =>
    execFileSync(process.execPath, ["-e", script], { env: { ...process.env, ...env }, encoding: "utf8" }).trim();
  expect(isReleased({})).toBe("true");
  expect(isReleased({ PRESSMARK_V8_DEFAULTS: "1" })).toBe("false");
});

it("releases the memory of a busy moment", async () => {
  const worker = new Worker(thread, { eval: true });
  try {
    const { most, now } = await new Promise<{ most: number; now: number }>((resolve, reject) => {
      worker.on("error", reject);
      worker.on("message", (sizes: { most: number; now: number }) => {
        if (sizes.now < sizes.most / 3) resolve(sizes);
      });
    });
    expect(now).toBeLessThan(most / 3);
  } finally {
    await worker.terminate();
  }
});
