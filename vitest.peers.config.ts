/** The tests against peers from npm, which are installed into a cache when a test needs them. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/interop/clients/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 300_000,
    retry: 0,
  },
});
