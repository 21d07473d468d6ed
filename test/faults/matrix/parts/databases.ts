/** Databases that are served: rows that are read are the rows that are there. */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { flavours, missingFor, startPostgres } from "../../../live/postgres.ts";
import type { ServerProcess, Stage } from "../../stage.ts";
import { type Answer, type Part, type PartDefinition, readText } from "../part.ts";
import { descendantsOf, killAll } from "./gateway.ts";

interface Rows {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly more?: boolean;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** What both kinds share: one table, whose rows are the texts. */
function rowsOf(uri: string): Pick<Part, "list" | "read" | "watches"> {
  const rows = async (server: ServerProcess) => JSON.parse(await readText(server, uri)) as Rows;
  return {
    async list(server): Promise<Answer> {
      // A list that names the table is no claim about its rows, and its failures are none of a read.
      return { names: (await rows(server)).rows.map(({ name }) => name!), claimsAll: true };
    },
    async read(server, name) {
      return (await rows(server)).rows.find((row) => row["name"] === name)?.["text"] ?? "";
    },
    watches: () => ({ uris: [uri] }),
  };
}

function writeConfig(stage: Stage, mount: object): string {
  const config = join(stage.root, "pressmark.config.json");
  writeFileSync(config, JSON.stringify({ mounts: { data: { rows: true, timeoutMs: 2000, ...mount } } }));
  return config;
}

export const sqlite: PartDefinition = {
  name: "SQLite",
  isSlowToPause: true,
  folder: "data",

  async open(stage) {
    const file = join(stage.root, "data", "notes.db");
    const config = writeConfig(stage, { source: "sqlite", path: file, pollMs: 500 });
    const use = (work: (database: DatabaseSync) => void) => {
      const database = new DatabaseSync(file, { timeout: 5000 });
      try {
        work(database);
      } finally {
        database.close();
      }
    };
    use((database) =>
      database.exec("pragma journal_mode = wal; create table notes (name text primary key, text text)"),
    );
    let server: ServerProcess;
    const children = () => descendantsOf(server.pid);
    return {
      ...rowsOf("sqlite://notes.db/notes/rows"),
      start: async (options) => (server = await stage.serve({ ...options, config })),
      async put(name, text) {
        use((database) => database.prepare("insert or replace into notes values (?, ?)").run(name, text));
        // Kept where no fault reaches, to be put back.
        use((database) => database.exec("pragma wal_checkpoint(truncate)"));
        copyFileSync(file, join(stage.root, "copy.db"));
      },
      async remove(name) {
        use((database) => database.prepare("delete from notes where name = ?").run(name));
        use((database) => database.exec("pragma wal_checkpoint(truncate)"));
        copyFileSync(file, join(stage.root, "copy.db"));
      },
      files: () => [file],
      async repair() {
        for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
        copyFileSync(join(stage.root, "copy.db"), `${file}.new`);
        renameSync(`${file}.new`, file);
      },
      upstream: { pids: children, kill: async () => killAll(children(), "SIGKILL"), revive: async () => undefined },
    };
  },
};

/** The first PostgreSQL that can be started here. */
const flavour = flavours.find((each) => missingFor(each) === undefined);
export const missingPostgres = flavour === undefined ? missingFor("debian") : undefined;

export const postgres: PartDefinition = {
  name: "PostgreSQL",
  isSlowToPause: true,

  async open(stage) {
    const database = await startPostgres(flavour!);
    await database.run("postgres", "create table notes (name text primary key, text text)");
    const config = writeConfig(stage, {
      source: "postgres",
      url: database.url("postgres"),
      listen: "notes",
      pollMs: 500,
    });
    const postmaster = () =>
      Number(readFileSync(join(database.folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
    const write = (statement: string) => database.run("postgres", `${statement}; notify notes, 'notes'`);
    return {
      ...rowsOf(`postgres://127.0.0.1:${database.port}/postgres/public/notes/rows`),
      start: (options) => stage.serve({ ...options, config }),
      put: (name, text) =>
        write(
          `insert into notes values (${quoted(name)}, ${quoted(text)}) on conflict (name) do update set text = excluded.text`,
        ),
      remove: (name) => write(`delete from notes where name = ${quoted(name)}`),
      upstream: {
        pids: () => [postmaster(), ...descendantsOf(postmaster())],
        kill: () => database.stop("immediate"),
        revive: () => database.start(),
      },
      close: () => database.close(),
    };
  },
};
