import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { monotonicMs } from "./monotonic-ms.ts";

const look = () => [performance.now(), monotonicMs(), performance.now()] as const;

it("runs as fast as the clock of the engine", async () => {
  const [earliest, ours, latest] = look();
  await new Promise(setImmediate);
  const [from, then, until] = look();
  expect(then - ours).toBeGreaterThan(from - latest - 1e-3);
  expect(then - ours).toBeLessThan(until - earliest + 1e-3);
});

it("loads no module", async () => {
  const module = JSON.stringify(pathToFileURL(join(import.meta.dirname, "monotonic-ms.ts")).href);
  const script = `(await import(${module})).monotonicMs(); console.log(process.moduleLoadList.includes("NativeModule perf_hooks"))`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  expect(stdout).toBe("false\n");
});
