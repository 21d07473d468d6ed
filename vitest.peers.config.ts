/** Tests against public servers and hosts from npm, which are installed once into a cache; where CI is set, they must be there. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/interop/servers/**/*.test.ts", "test/interop/hosts/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 600_000,
    retry: 0,
  },
});
