/** The shared database on a real PostgreSQL: schema, transactions, errors, notifications. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import { ResourceError } from "../errors.ts";
import { makeCertificate } from "../server/test-certificate.ts";
import { parseStateUrl } from "./state-url.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, url, server, runtime, logged } = useDatabase();

async function withTable() {
  const database = open();
  await database.query(`create schema ${database.schema}`);
  await database.query("create table things (n bigint primary key, what text)");
  return database;
}

describe("the URL of the shared database", () => {
  it("names the schema, by default pressmark", () => {
    expect(parseStateUrl("postgres://u@h/db").schema).toBe("pressmark");
    expect(parseStateUrl("postgres://u@h/db?sslmode=require&schema=team_1")).toMatchObject({
      schema: "team_1",
      target: { sslmode: "require", database: "db" },
    });
  });

  it.each(["Team", "a-b", "x;drop", "pg_x", "a".repeat(41), ""])("refuses the schema %j", (schema) => {
    expect(() => parseStateUrl(`postgres://u@h/db?schema=${encodeURIComponent(schema)}`)).toThrow(/small letters/);
  });

  it("is never repeated in an error, and errors name the setting", () => {
    expect(() => parseStateUrl("mysql://u:planted@h/db")).toThrow(/^"server.state" must start with postgres/);
    for (const each of [
      "postgres://user:ge?schema=planted1@host/db",
      "postgres://user:1/a?sslmode=planted@host/db",
      "postgres://user:1/a?sslrootcert=planted@host/db&sslmode=require",
      "postgres://user:1/a?sslplanted@host/db",
    ]) {
      const parsing = () => parseStateUrl(each);
      expect(parsing).toThrow(/"server.state"|"sslrootcert"/);
      expect(parsing).not.toThrow("planted");
    }
  });
});

describe.skipIf(missing)("the shared database", () => {
  it("finds tables in its schema, and returns numbers as numbers", async () => {
    const database = await withTable();
    await database.query("insert into things values ($1, $2)", [7, "it's"]);
    expect(await database.query("select n, what, count(*) over () as all from things")).toEqual([
      { n: 7, what: "it's", all: 1 },
    ]);
    expect(await database.query("select n from things where n = any($1::bigint[])", [[7, 8]])).toEqual([{ n: 7 }]);
    expect(await database.query("select octet_length($1::bytea) as n", [new Uint8Array([0, 1])])).toEqual([{ n: 2 }]);
  });

  it("commits when the work resolves, and rolls back when it rejects, with the error of the work", async () => {
    const database = await withTable();
    await database.transaction((sql) => sql.query("insert into things values (1, 'a')"));
    const mine = new ResourceError("denied", "not you");
    await expect(
      database.transaction(async (sql) => {
        await sql.query("insert into things values (2, 'b')");
        throw mine;
      }),
    ).rejects.toBe(mine);
    expect(await database.query("select n from things")).toEqual([{ n: 1 }]);
  });

  it("rejects if the work ignored a failed statement", async () => {
    const database = await withTable();
    const work = database.transaction(async (sql) => {
      await sql.query("insert into things values (1, 'a')");
      await sql.query("insert into things values (1, 'a')").catch(() => undefined);
    });
    expect((await failureOf(work)).kind).toBe("unavailable");
    expect(await database.query("select n from things")).toEqual([]);
  });

  it("reads one state in a snapshot, and does not write in it", async () => {
    const database = await withTable();
    const seen = await database.snapshot(async (sql) => {
      const before = await sql.query("select n from things");
      await database.query("insert into things values (1, 'a')");
      return [before, await sql.query("select n from things")];
    });
    expect(seen).toEqual([[], []]);
    await expect(database.snapshot((sql) => sql.query("insert into things values (2, 'b')"))).rejects.toThrow(
      ResourceError,
    );
    expect(await database.query("select n from things")).toEqual([{ n: 1 }]);
  });

  it("stops a transaction whose signal is aborted, and commits nothing of it", async () => {
    const database = await withTable();
    const stop = new AbortController();
    const work = database.transaction(async (sql) => {
      await sql.query("insert into things values (1, 'a')");
      stop.abort();
    }, stop.signal);
    expect((await failureOf(work)).kind).toBe("cancelled");
    expect(await database.query("select n from things")).toEqual([]);
  });

  it("keeps its connections after an error of the work", async () => {
    const database = open({ maxConnections: 1 });
    const pid = async () => (await database.query<{ pid: number }>("select pg_backend_pid() as pid"))[0]?.pid;
    const before = await pid();
    await expect(database.transaction(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    expect(await pid()).toBe(before);
  });

  it("says what to do, and shows no password", async () => {
    const wrong = open({ url: url().replace(server().password, "planted") });
    const error = await failureOf(wrong.query("select 1"));
    expect(error).toMatchObject({ kind: "unavailable", passing: false });
    expect(error.message).toMatch(/rejects the user or the password; check "server.state"/);
    expect(`${error.stack} ${String(error.cause)}`).not.toMatch(/planted/);
    const absent = open({ url: "postgres://u:planted@127.0.0.1:1/db" });
    expect((await failureOf(absent.query("select 1"))).message).toMatch(/no database listens there/);
    expect((await failureOf(open().query("select * from absent"))).message).toMatch(/pressmark migrate/);
  });

  it("is unavailable for a moment while the server has no free connection", async () => {
    await server().run("postgres", "create role busy login password 'secret' connection limit 0");
    const database = open({ url: server().url("postgres", "busy", "secret") });
    expect(await failureOf(database.query("select 1"))).toMatchObject({
      kind: "unavailable",
      passing: true,
      message: expect.stringContaining("has no free connection"),
    });
  });

  it("limits the time of a statement", async () => {
    const error = await failureOf(open({ timeoutMs: 200 }).query("select pg_sleep(60)"));
    expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining("longer than 200 ms") });
  });

  it("receives notifications again after the connection broke, and says when it was not connected", async () => {
    const database = open();
    const heard: string[] = [];
    const stop = new AbortController();
    const until = (entry: string, count = 1) =>
      expect.poll(() => heard.filter((each) => each === entry).length, { timeout: 30_000 }).toBe(count);
    database.listen(
      "test_channel",
      {
        notified: (payload) => void heard.push(payload),
        connected: () => void heard.push("connected"),
        lost: () => void heard.push("lost"),
      },
      stop.signal,
    );
    await until("connected");
    await database.query("select pg_notify('test_channel', 'one')");
    await until("one");
    await server().run(
      "postgres",
      "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' or query = 'select'",
    );
    await until("connected", 2);
    await database.query("select pg_notify('test_channel', 'two')");
    await until("two");
    stop.abort();
    expect(heard).toEqual(["connected", "one", "lost", "connected", "two"]);
    expect(logged.join()).not.toContain(server().password);
  });

  it("notices a network that drops everything", async () => {
    // Forwards bytes until it is told to be silent.
    let isSilent = false;
    const sockets: Socket[] = [];
    const proxy = createServer((from) => {
      const to = connect(server().port, "127.0.0.1");
      sockets.push(from, to);
      for (const [a, b] of [
        [from, to],
        [to, from],
      ] as const) {
        a.on("error", () => undefined);
        a.on("data", (chunk) => void (isSilent || b.write(chunk)));
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as { readonly port: number };
    const stop = new AbortController();
    const { promise: lost, resolve } = Promise.withResolvers<unknown>();
    const database = open({
      url: url().replace(`:${server().port}/`, `:${port}/`),
      // Twenty times as fast.
      runtime: { ...runtime, wait: (ms, signal) => runtime.wait(ms / 20, signal) },
    });
    try {
      database.listen(
        "test_channel",
        { notified: () => undefined, connected: () => void (isSilent = true), lost: resolve },
        stop.signal,
      );
      expect(String(await lost)).toMatch(/did not respond/);
    } finally {
      stop.abort();
      await database.close();
      for (const socket of sockets) socket.destroy();
      proxy.close();
    }
  });
});

describe.skipIf(missing)("the shared database behind TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-state-tls-"));
  let encrypted: PostgresServer;
  beforeAll(async () => {
    const { cert, key } = makeCertificate(folder, "server");
    encrypted = await startPostgres("npm", {
      settings: ["ssl = on", "ssl_cert_file = 'FOLDER/server.pem'", "ssl_key_file = 'FOLDER/server.key'"],
      files: { "server.pem": readFileSync(cert, "utf8"), "server.key": readFileSync(key, "utf8") },
    });
  }, 60_000);
  afterAll(async () => {
    await encrypted?.close();
    rmSync(folder, { recursive: true });
  });

  it.each(["require", `verify-full&sslrootcert=${join(folder, "server.pem")}`])(
    "stops a statement that is cancelled, with sslmode=%s",
    async (mode) => {
      const database = open({ url: `${encrypted.url("postgres")}?sslmode=${mode}`, timeoutMs: 600_000 });
      const running = async () =>
        (
          await database.query(
            "select from pg_stat_activity join pg_stat_ssl using (pid) where ssl and wait_event = 'PgSleep'",
          )
        ).length;
      const stop = new AbortController();
      const work = failureOf(database.snapshot((sql) => sql.query("select pg_sleep(600)"), stop.signal));
      await expect.poll(running, { timeout: 30_000 }).toBe(1);
      stop.abort();
      expect((await work).kind).toBe("cancelled");
      await expect.poll(running, { timeout: 30_000 }).toBe(0);
    },
  );
});
