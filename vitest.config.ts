import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Tests that need a database or a store are run by `npm run test:live`, those that take minutes by `npm run test:long`, and those
    // that install public servers and hosts by `npm run test:peers`.
    exclude: [
      ...configDefaults.exclude,
      "test/live/**",
      "test/long/**",
      "test/interop/servers/**",
      "test/interop/hosts/**",
    ],
    // Tests start servers, watchers and processes of their own: a process each keeps them apart, and two at a time leave a
    // small machine enough air for what they start.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    retry: 0,
  },
});
