import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { type Applied, openConfigFile } from "./config-file.ts";

it.each([
  ["alike", "••••"],
  ["ignored", "second-secret"],
] as const)("a retry that is %s logs a new secret as %s", async (applied: Applied, shown) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-retry-")));
  const closing = new AbortController();
  try {
    writeFileSync(join(folder, "token"), "first-secret");
    writeFileSync(
      join(folder, "c.yaml"),
      'server: { token: "${file:token}" }\nmounts: { m: { source: memory, resources: { a: A } } }\n',
    );
    const { runtime, logged } = createClock();
    const waits: (() => void)[] = [];
    const retrying = { ...runtime, wait: () => new Promise<void>((resolve) => waits.push(resolve)) };
    const world = { from: folder, env: {}, stateFolder: join(folder, "state") };
    const file = (await openConfigFile({ file: join(folder, "c.yaml"), named: true }, world, retrying))!;
    writeFileSync(join(folder, "token"), "second-secret");
    const isDone = Promise.withResolvers<void>();
    let retries = 0;
    const following = file.follow(
      async () => {
        retries += 1;
        if (retries === 2) isDone.resolve();
        return applied;
      },
      closing.signal,
      () => true,
    );
    const ticking = setInterval(() => {
      for (const end of waits.splice(0)) end();
    }, 1);
    await isDone.promise;
    closing.abort();
    await following.catch(() => undefined);
    clearInterval(ticking);
    file.runtime.log("warn", "second-secret");
    expect(logged.at(-1)?.message).toBe(shown);
  } finally {
    closing.abort();
    rmSync(folder, { recursive: true, force: true });
  }
});
