/** Tests against public servers, clients and hosts, which they install from npm into a cache folder. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "test/interop/{servers,clients,hosts,tools,bundles}/**/*.test.ts",
      "test/site/site.test.ts",
      "test/package/nodes/**/*.test.ts",
    ],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 600_000,
    retry: 0,
  },
});
