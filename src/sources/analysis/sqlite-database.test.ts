/** The results file is removed or replaced while it is open. */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRuntime } from "../../server/runtime.ts";
import { createAnalysisStore } from "./create-store.ts";
import { all, type Database } from "./sql.ts";
import { createFile } from "./sqlite-database.ts";

let folder: string;
let path: string;
let file: Database;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-analysis-"));
  path = join(folder, "results.db");
  file = createFile(path, createRuntime({ write: () => true }));
});
afterEach(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});

const store = (name: string, isLasting = true) =>
  file.write(() => all("insert into changes (kind, id) values ('put', ?)", name), { isLasting });

function stored(): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database
      .prepare("select id from changes order by seq")
      .all()
      .map(({ id }) => id);
  } finally {
    database.close();
  }
}

it("what is stored after the file was removed is in the new one", async () => {
  await store("before");
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end);
  await store("after");
  expect(stored()).toEqual(["after"]);
});

it("what is stored after the file was replaced is in the current one", async () => {
  await store("before");
  await file.close();
  copyFileSync(path, `${path}.copy`);
  file = createFile(path, createRuntime({ write: () => true }));
  await store("lost with the file");
  renameSync(`${path}.copy`, path);
  for (const end of ["-wal", "-shm"]) rmSync(path + end);
  await store("after");
  expect(stored()).toEqual(["before", "after"]);
});

it("changes of a removed file are not confused with those of the new one", async () => {
  const results = createAnalysisStore({ database: file, maxBytes: 1e9, leaseMs: 1000 });
  await store("before");
  const { last } = await results.changes();
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end);
  // As many as before: the number of the last one is the same.
  await store("after");
  expect(await results.changes(last)).toEqual({ last, changes: "lost" });
  expect(await results.changes(last)).toEqual({ last, changes: [] });
});

it("a store during which the file is removed is rejected", async () => {
  await store("before");
  const removing = file.write(
    function* () {
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end);
      return yield* all("insert into changes (kind, id) values ('put', 'lost')");
    },
    { isLasting: true },
  );
  await expect(removing).rejects.toThrow("was removed or replaced");
});
