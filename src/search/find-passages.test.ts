import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "./sqlite-store.ts";
import { searchContract, toAsyncStore } from "./test-search-contract.ts";

searchContract(async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-find-"));
  const store = toAsyncStore(openStore(join(folder, "index.db")));
  return {
    store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
