/** The files of an index are removed, replaced or garbled while it is in use. */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStage, type ServerProcess, type Stage, until } from "./stage.ts";

const count = 200;
let stage: Stage;

beforeEach(() => {
  stage = createStage();
  for (let at = 0; at < count; at += 1)
    stage.write(`${at % 7}/${at}.md`, `# Number ${at}\n\ngreen tea, ${`word${at % 50} and more `.repeat(80)}`);
});

afterEach(() => stage.close());

const file = (name: string): string => join(stage.indexFolder, name);

/** In place, so that whoever has it open sees it. */
function garble(path: string): void {
  writeFileSync(path, Buffer.alloc(Math.max(4096, statSync(path).size), "garbled "), { flag: "r+" });
}

function anotherDatabase(): string {
  const path = join(stage.root, "another.db");
  const database = new DatabaseSync(path);
  database.exec("create table t (x); insert into t values (1)");
  database.close();
  return path;
}

/** In one step: while files are removed one by one, the server may write others into the folder. */
function removeFolder(): void {
  const removed = join(stage.root, "removed");
  renameSync(stage.indexFolder, removed);
  rmSync(removed, { recursive: true });
}

const faults: Readonly<Record<string, () => void>> = {
  "whose folder is removed": removeFolder,
  "whose database is removed": () => rmSync(file("index.db")),
  "whose database is replaced": () => renameSync(anotherDatabase(), file("index.db")),
  "whose database is overwritten by another": () => copyFileSync(anotherDatabase(), file("index.db")),
  "whose database is garbled": () => garble(file("index.db")),
  "whose database is emptied": () => truncateSync(file("index.db")),
  "whose log is garbled": () => garble(file("index.db-wal")),
  "whose log is emptied": () => truncateSync(file("index.db-wal")),
  "whose log is removed": () => rmSync(file("index.db-wal")),
  "whose shared memory is emptied": () => truncateSync(file("index.db-shm")),
  "whose shared memory is garbled": () => garble(file("index.db-shm")),
  "whose lock is removed": () => rmSync(file("lock.db")),
  "whose lock is garbled": () => writeFileSync(file("lock.db"), "garbled ".repeat(1000)),
  "whose files are all garbled": () => {
    for (const name of ["index.db", "index.db-wal", "index.db-shm", "lock.db", "status.json"]) garble(file(name));
  },
  "whose database is replaced by a folder": () => {
    rmSync(file("index.db"));
    mkdirSync(file("index.db"));
    writeFileSync(join(file("index.db"), "mine.txt"), "not of the index");
  },
};

/** Faults for which what was indexed is to be still in the log. */
const inLog = /log|shared memory|all garbled/;

/** Either all that there is, or said that it is not all. */
async function askHonestly(server: ServerProcess): Promise<void> {
  const { names, ready, failures = [] } = await server.search("tea");
  if (ready === 1) expect({ found: names.length, failures }).toEqual({ found: 50, failures: [] });
}

describe("an index in use", () => {
  it.each(Object.entries(faults))(
    "%s never claims to be complete, and is whole again by itself",
    async (name, inject) => {
      let server = await stage.serve();
      await stage.untilTrue(server, "tea");
      if (!inLog.test(name)) {
        // When the last process ends, the log is written to the database.
        await server.end("SIGTERM");
        server = await stage.serve();
        await stage.untilTrue(server, "tea");
      }
      inject();
      for (let round = 0; round < 5; round += 1) await askHonestly(server);
      stage.write("new.md", "# New\n\ngreen tea at last");
      await until("the new file", async () => {
        await askHonestly(server);
        const { names, ready } = await server.search("last");
        return { holds: names.includes("new.md") && ready === 1, seen: { names, ready, log: server.log } };
      });
      await stage.untilTrue(server, "tea");
      expect(server.isAlive).toBe(true);
    },
    90_000,
  );

  it("that is gone for one process and kept by another is one again", async () => {
    const first = await stage.serve();
    await stage.untilTrue(first, "tea");
    const second = await stage.serve();
    await stage.untilTrue(second, "tea");
    removeFolder();
    await askHonestly(first);
    await askHonestly(second);
    stage.write("new.md", "green tea");
    for (const server of [first, second]) await stage.untilTrue(server, "tea");
    await first.end("SIGKILL");
    await askHonestly(second);
    stage.write("newer.md", "green tea");
    await stage.untilTrue(second, "tea");
  }, 90_000);
});

describe("an index that is opened", () => {
  const obstacles: Readonly<Record<string, () => void>> = {
    "with a garbled lock": () => writeFileSync(file("lock.db"), "garbled ".repeat(1000)),
    "with a garbled database": () => garble(file("index.db")),
    "with another's database": () => renameSync(anotherDatabase(), file("index.db")),
    "with folders in the place of its files": () => {
      for (const name of ["index.db", "lock.db", "status.json", "about.json"]) {
        rmSync(file(name), { force: true });
        mkdirSync(file(name));
        writeFileSync(join(file(name), "mine.txt"), "not of the index");
      }
    },
    "with a file in the place of its folder": () => {
      const folder = stage.indexFolder;
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "not of the index");
    },
  };

  it.each(Object.entries(obstacles))(
    "%s is repaired, and nothing is lost that is not of the index",
    async (_, inject) => {
      const before = await stage.serve();
      await stage.untilTrue(before, "tea");
      await before.end("SIGTERM");
      const { indexFolder } = stage;
      inject();
      const server = await stage.serve();
      await stage.untilTrue(server, "tea");
      const isFile = statSync(`${indexFolder}.aside`, { throwIfNoEntry: false })?.isFile();
      if (isFile) expect(readFileSync(`${indexFolder}.aside`, "utf8")).toBe("not of the index");
      if (server.log.includes("moved aside") && !isFile)
        expect(readFileSync(join(indexFolder, "lock.db.aside", "mine.txt"), "utf8")).toBe("not of the index");
    },
    90_000,
  );
});
