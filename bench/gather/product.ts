/** The parts of one checkout of Pressmark that a measurement needs, so that two checkouts can be compared in one run. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

type Product = Pick<typeof import("../../src/errors.ts"), "notFound"> &
  Pick<typeof import("../../src/context/gather.ts"), "gather"> &
  Pick<typeof import("../../src/access/policy.ts"), "openPolicy"> &
  Pick<typeof import("../../src/router/create-resources.ts"), "createResources"> &
  Pick<typeof import("../../src/search/sqlite-store.ts"), "openStore"> &
  Pick<typeof import("../../src/search/crawl.ts"), "createCrawl"> &
  Pick<typeof import("../../src/server/runtime.ts"), "createRuntime"> & {
    readonly git: (typeof import("../../src/sources/git.ts"))["default"];
  };

/** Loads it from the folder of a checkout; default: this one. */
export async function loadProduct(folder = resolve(import.meta.dirname, "../..")): Promise<Product> {
  const load = (path: string) => import(pathToFileURL(resolve(folder, "src", path)).href);
  const [{ default: git }, ...parts] = await Promise.all(
    [
      "sources/git.ts",
      "errors.ts",
      "context/gather.ts",
      "access/policy.ts",
      "router/create-resources.ts",
      "search/sqlite-store.ts",
      "search/crawl.ts",
      "server/runtime.ts",
    ].map(load),
  );
  return Object.assign({ git }, ...parts) as Product;
}

export type { Product };
