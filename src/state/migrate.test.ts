/** Migrations on a real PostgreSQL: instances of several versions at the same time. */
import { describe, expect, it } from "vitest";
import type { SharedDatabase } from "./database.ts";
import { migrate, readMigrations } from "./migrate.ts";
import type { Migration } from "./migrations.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, server, url } = useDatabase();

const first: Migration = { area: "a", number: 1, title: "create", statements: ["create table a (old text)"] };
const expand: Migration = { area: "a", number: 2, title: "add", statements: ["alter table a add column new text"] };
const contract: Migration = {
  area: "a",
  number: 3,
  title: "remove",
  needs: 2,
  statements: ["alter table a drop column old"],
};
const later: Migration = { area: "a", number: 4, title: "add more", statements: ["create table more (n integer)"] };

const titles = (migrations: readonly { readonly title: string }[]) => migrations.map(({ title }) => title);

async function columns(database: SharedDatabase): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    "select column_name::text as name from information_schema.columns where table_schema = $1 and table_name = 'a' order by 1",
    [database.schema],
  );
  return rows.map(({ name }) => name);
}

describe("the migrations of this version", () => {
  it.each(["user", "default", "order"])("creates a schema that is named as a word of SQL: %s", async (schema) => {
    const database = open({ url: url().replace(/schema=.*/, `schema=${schema}`) });
    await migrate(database, stateMigrations);
    expect(
      await database.query(
        "select table_schema from information_schema.tables where table_name = 'leases' and table_schema = $1",
        [schema],
      ),
    ).toHaveLength(1);
  });

  it("are numbered from 1", () => {
    expect(stateMigrations.map(({ number }) => number)).toEqual(stateMigrations.map((_each, index) => index + 1));
  });
});

describe.skipIf(missing)("migrate", () => {
  it("creates the schema and applies everything once, also if many instances start together", async () => {
    const databases = Array.from({ length: 6 }, () => open());
    const applied = await Promise.all(databases.map((each) => migrate(each, stateMigrations)));
    expect(applied.filter(({ length }) => length > 0)).toHaveLength(1);
    const state = await readMigrations(open(), stateMigrations);
    expect(state.pending).toEqual([]);
    expect(titles(state.applied)).toEqual(titles(stateMigrations));
    expect(await open().query("select * from records")).toEqual([]);
  });

  it("says what is pending, and changes nothing", async () => {
    const database = open();
    expect((await readMigrations(database, [first])).pending).toEqual([first]);
    expect((await readMigrations(database, [first])).pending).toEqual([first]);
  });

  it("at start expands, and leaves what older instances use", async () => {
    const database = open();
    await migrate(database, [first]);
    expect(titles(await migrate(database, [first, expand, contract, later]))).toEqual(["add", "add more"]);
    expect(await columns(database)).toEqual(["new", "old"]);
    expect(titles((await readMigrations(database, [first, expand, contract, later])).pending)).toEqual(["remove"]);
    // The older version still starts.
    expect(await migrate(database, [first])).toEqual([]);
  });

  it("contracts on request; then versions that need the removed part refuse, and others run", async () => {
    const database = open();
    await migrate(database, [first]);
    await migrate(database, [first, expand, contract], { withContract: true });
    expect(await columns(database)).toEqual(["new"]);
    expect(await migrate(database, [first, expand])).toEqual([]);
    const error = await failureOf(migrate(database, [first]));
    expect(error).toMatchObject({ kind: "unavailable", passing: false });
    expect(error.message).toMatch(/newer version of Pressmark \(a 2, this one knows 1\); update Pressmark/);
    expect((await failureOf(readMigrations(database, [first]))).message).toBe(error.message);
  });

  it("keeps nothing of a migration that fails", async () => {
    const database = open();
    const faulty = { ...expand, statements: ["create table b (n integer)", "create table a (n integer)"] };
    await failureOf(migrate(database, [first, faulty]));
    expect((await readMigrations(database, [first])).applied).toEqual([]);
    expect(titles(await migrate(database, [first, expand]))).toEqual(["create", "add"]);
  });

  it("does not use a schema with tables of something else", async () => {
    const database = open();
    await database.query(`create schema ${database.schema}`);
    await database.query("create table records (n integer)");
    expect((await failureOf(migrate(database, stateMigrations))).message).toMatch(/choose another with \?schema=/);
  });

  it("says what an administrator must run if the role may not create the schema", async () => {
    await server().run("postgres", "create role plain login password 'plain'");
    const target = new URL(url());
    target.username = "plain";
    target.password = "plain";
    const database = open({ url: target.href });
    expect((await failureOf(migrate(database, stateMigrations))).message).toContain(
      `CREATE SCHEMA "${database.schema}" AUTHORIZATION "plain"`,
    );
    await server().run("postgres", `CREATE SCHEMA "${database.schema}" AUTHORIZATION "plain"`);
    expect(await migrate(database, stateMigrations)).toHaveLength(stateMigrations.length);
  });

  it("refuses a database with another encoding", async () => {
    await server().run("postgres", "create database latin encoding 'LATIN1' locale 'C' template template0");
    const database = open({ url: server().url("latin") });
    expect((await failureOf(migrate(database, stateMigrations))).message).toMatch(/encoding "LATIN1"/);
  });
});
