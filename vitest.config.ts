import { configDefaults, defineConfig } from "vitest/config";

/** Modules whose tests start nothing and change nothing global: they share two processes, which saves loading the same code for each file. */
const shared = ["access", "config", "context", "layers", "lib", "picker", "protocol", "router", "search", "watch"].map(
  (module) => `src/${module}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    // Tests start servers, watchers and processes of their own: a process each keeps them apart. They wait for a third of their time, so
    // three at a time keep a machine with two processors busy.
    pool: "forks",
    maxWorkers: 3,
    // Far more than any needs: a test that is late because others run beside it has not failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    projects: [
      { extends: true, test: { name: "modules", include: shared, isolate: false } },
      {
        extends: true,
        test: {
          name: "product",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          // Tests that need a database or a store are run by `npm run test:live`, those that take minutes by `npm run test:long`, and those
          // that install public servers, clients and hosts by `npm run test:peers`.
          exclude: [
            ...configDefaults.exclude,
            ...shared,
            "test/live/**",
            "test/long/**",
            "test/interop/{servers,clients,hosts,tools,bundles}/**",
            "test/site/site.test.ts",
            "test/package/nodes/**",
          ],
        },
      },
    ],
  },
});
