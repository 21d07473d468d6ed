/** `pressmark serve` limits the memory that the C library of Linux keeps for threads, and stays the process that was started. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createScratch, startServe } from "../faults/pressmark-process.ts";

/** The limit in the environment of a server that was started with these variables, and its exit. */
async function serveWith(variables: NodeJS.ProcessEnv): Promise<readonly [limit: string | undefined, exit: unknown]> {
  const { folder, env, remove } = createScratch();
  try {
    const { child, exited } = await startServe([folder], { cwd: folder, env: { ...env, ...variables } });
    const variable = readFileSync(`/proc/${child.pid}/environ`, "utf8")
      .split("\0")
      .find((one) => one.startsWith("MALLOC_ARENA_MAX="));
    child.kill("SIGTERM");
    return [variable?.slice("MALLOC_ARENA_MAX=".length), await exited];
  } finally {
    remove();
  }
}

it.runIf(process.platform === "linux")(
  "serve replaces itself with a limit, unless one is set or it is not wanted",
  async () => {
    expect(await serveWith({})).toEqual(["1", 0]);
    expect(await serveWith({ MALLOC_ARENA_MAX: "5" })).toEqual(["5", 0]);
    expect(await serveWith({ PRESSMARK_V8_DEFAULTS: "1" })).toEqual([undefined, 0]);
  },
);
