/** Tests that take minutes: what `npm test` tries a little of, for as long as it is worth. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
    retry: 0,
  },
});
