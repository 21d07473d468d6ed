import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // What needs a database or a store that runs beside is for `npm run test:live`, programs from npm for `npm run test:peers`, what takes
    // minutes for `npm run test:long`.
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
