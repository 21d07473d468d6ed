import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { Call } from "../../resources.ts";
import type { ServerIndex } from "../../server/server-index.ts";
import { bringUpToDate } from "./indexing.ts";
import { createProgress } from "./progress.ts";

/** Returns the output on standard error while an index reports this progress, at these times in seconds. */
async function shown(isTTY: boolean, steps: readonly (readonly [seconds: number, done: number, total: number])[]) {
  const err = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  let ms = 0;
  const index = {
    async caughtUp({ progress }: Pick<Call, "signal" | "progress">) {
      for (const [seconds, done, total] of steps) {
        ms = seconds * 1000;
        progress?.(done, total);
      }
    },
  } as Partial<ServerIndex> as ServerIndex;
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  const progress = createProgress(err, () => ms);
  const warn = (sentence: string) => void err.write(`${sentence}\n`);
  await bringUpToDate({ index, call, progress, warn }, undefined, () => ms);
  return String(err.read() ?? "");
}

const steps = [
  [0, 0, 0],
  [4, 100, 4800],
  [11, 1200, 4800],
  [12, 1300, 4800],
  [22, 4800, 4800],
] as const;

it("a long update is one line that is replaced on a terminal, and a line every ten seconds elsewhere", async () => {
  expect(await shown(false, steps)).toBe("indexing: 1,200 of 4,800\nindexing: 4,800 of 4,800\n");
  expect(await shown(true, steps.slice(0, 3))).toContain("25 %, 1,200 of 4,800");
});
