import { configDefaults, defineConfig } from "vitest/config";

/** Modules whose tests start nothing and change nothing global: they share two processes, which saves loading the same code for each file. */
const shared = ["access", "config", "context", "layers", "lib", "picker", "protocol", "router", "search", "watch"].map(
  (module) => `src/${module}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    // Tests start servers, watchers and processes of their own: a process each keeps them apart, and two at a time leave a
    // small machine enough air for what they start.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    retry: 0,
    projects: [
      { extends: true, test: { name: "modules", include: shared, isolate: false } },
      {
        extends: true,
        test: {
          name: "product",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          // What needs a database or a store that runs beside is for `npm run test:live`, what takes minutes for `npm run test:long`.
          exclude: [...configDefaults.exclude, ...shared, "test/live/**", "test/long/**"],
        },
      },
    ],
  },
});
