/** The shared state of several instances on a real PostgreSQL. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { signalFamily } from "../../test/live/signal-family.ts";
import type { ResourceError } from "../errors.ts";
import type { SharedDatabase } from "./database.ts";
import { checkVersions, listInstances } from "./instances.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { openSharedState, type SharedStateOptions } from "./open-shared-state.ts";
import type { SharedState } from "./shared-state.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, url, server, runtime, logged } = useDatabase();
const opened: SharedState[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

async function start(options: Partial<SharedStateOptions> = {}): Promise<SharedState> {
  const state = await openSharedState({ state: url(), runtime, version: "1.0.0", ...options });
  opened.push(state);
  return state;
}

async function connections(database: SharedDatabase): Promise<number> {
  const rows = await database.query<{ n: number }>(
    "select count(*) as n from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  return Number(rows[0]?.n);
}

const configWarnings = (): string[] =>
  logged.filter((line) => line.startsWith("warn another instance was started with another config"));

describe.skipIf(missing)("the shared state", () => {
  it("is the same for all instances, which are listed while they run", async () => {
    const [one, two] = await Promise.all([
      start({ host: "left", config: "sha256:1" }),
      start({ host: "right", version: "1.1.0" }),
    ]);
    expect(one.instance).not.toBe(two.instance);
    await one.store.put("sets", "a", { n: 1 });
    expect((await two.store.get("sets", "a"))?.value).toEqual({ n: 1 });
    expect(await one.leases.tryAcquire("a")).toBeDefined();
    expect(await two.leases.tryAcquire("a")).toBeUndefined();
    const stop = new AbortController();
    const { promise: heard, resolve } = Promise.withResolvers<unknown>();
    await two.bus.subscribe("t", { message: ({ body }) => resolve(body), gap: () => undefined }, stop.signal);
    await one.bus.publish({ topic: "t", body: { n: 2 }, fence: 0 });
    expect(await heard).toEqual({ n: 2 });
    stop.abort();
    const listed = await listInstances(open());
    expect(listed.map(({ host, version, isAlive }) => [host, version, isAlive]).sort()).toEqual([
      ["left", "1.0.0", true],
      ["right", "1.1.0", true],
    ]);
    expect(listed.find(({ host }) => host === "left")).toMatchObject({ address: "127.0.0.1", config: "sha256:1" });
    await one.close();
    expect((await listInstances(open())).map(({ host }) => host)).toEqual(["right"]);
    expect(await two.leases.tryAcquire("a")).toBeDefined();
  });

  it("applies migrations of other modules, too", async () => {
    const own = { area: "x", number: 1, title: "create x", statements: ["create table x (n integer)"] };
    const facts: unknown[] = [];
    const logging = { ...runtime, log: (...[, , given]: Parameters<typeof runtime.log>) => void facts.push(given) };
    const { database } = await start({ migrations: [own], runtime: logging });
    expect(facts).toEqual([{ migrations: expect.stringMatching(/^state 1: create .*; x 1: create x$/) }]);
    expect(await database.query("select n from x")).toEqual([]);
    expect((await readMigrations(database, [...stateMigrations, own])).pending).toEqual([]);
  });

  it("lists an instance that is killed as not alive", async () => {
    const { database } = await start();
    await database.query(
      "insert into instances (id, host, version, seen) values ('dead', 'h', '1', clock_timestamp() - interval '20 s')",
    );
    expect((await listInstances(database)).find(({ id }) => id === "dead")?.isAlive).toBe(false);
  });

  it("names an instance after its host and process", async () => {
    const { instance } = await start({ host: "left hand.example" });
    expect(instance).toMatch(new RegExp(`^left-hand\\.example:${process.pid}:[0-9a-f]{8}$`));
  });

  it("warns once of each instance that was started with another config", async () => {
    let beats = 0;
    const beating: SharedStateOptions["runtime"] = {
      ...runtime,
      wait: (ms, signal) => runtime.wait(ms === 5000 && (beats += 1) ? 10 : ms, signal),
      log: (level, message, facts) => runtime.log(level, message, { cause: facts?.["instance"] }),
    };
    const left = await start({ host: "left", config: "1", runtime: beating });
    await start({ host: "same", config: "1" });
    await start({ host: "unknown" });
    const right = await start({ host: "right", config: "2" });
    await expect.poll(configWarnings, { timeout: 30_000 }).toHaveLength(1);
    const before = beats;
    await expect.poll(() => beats, { timeout: 30_000 }).toBeGreaterThan(before + 3);
    expect(configWarnings()).toEqual([expect.stringContaining(right.instance)]);
    expect(left.databaseProblem).toBeUndefined();
  });

  it("knows whether the database answers", async () => {
    const state = await start({
      runtime: { ...runtime, wait: (ms, signal) => runtime.wait(Math.min(ms, 50), signal) },
    });
    expect(state.databaseProblem).toBeUndefined();
    await server().stop("immediate");
    await expect.poll(() => state.databaseProblem, { timeout: 30_000 }).toMatch(/check "server.state"/);
    // Clients see errors of records, and cannot check the config.
    const error = await failureOf(state.store.put("sets", "a", {}));
    expect([error.kind, error.message]).toEqual(["unavailable", "the database of this server is away; try again soon"]);
    expect(logged).toContainEqual(
      expect.stringMatching(/^warn the shared database does not answer .*check "server.state"/),
    );
    await server().start();
    await expect.poll(() => state.databaseProblem, { timeout: 30_000 }).toBeUndefined();
  });

  it("knows whether an instance of another version runs", async () => {
    const state = await start({ host: "left", version: "1.0.0" });
    await checkVersions(open(), "1.0.0");
    expect((await failureOf(checkVersions(open(), "2.0.0"))).message).toMatch(/are running: left \(1\.0\.0\); update/);
    await state.close();
    await checkVersions(open(), "2.0.0");
  });

  it("is not changed for a newer version while an instance of an older one starts", async () => {
    await start({ version: "2.0.0" });
    const lock = Promise.withResolvers<void>();
    // Holds the lock of migrations while both wait for it.
    const holding = migrate(open(), stateMigrations, { finish: () => lock.promise });
    const watching = open();
    const waiting = async () => {
      const rows = await watching.query("select from pg_locks where locktype = 'advisory' and not granted");
      return rows.length;
    };
    await expect
      .poll(async () => (await watching.query("select from pg_locks where locktype = 'advisory'")).length)
      .toBe(1);
    const starting = start({ version: "1.0.0", host: "older" });
    await expect.poll(waiting).toBe(1);
    const contract = { area: "state", number: 99, title: "remove", needs: 99, statements: ["drop table logs"] };
    const migrating = failureOf(
      migrate(open(), [...stateMigrations, contract], {
        withContract: true,
        check: (sql) => checkVersions(sql, "2.0.0"),
      }),
    );
    await expect.poll(waiting).toBe(2);
    lock.resolve();
    await Promise.all([holding, starting]);
    expect((await migrating).message).toMatch(/are running: older \(1\.0\.0\); update/);
    expect(await watching.query("select from logs")).toEqual([]);
  });

  it("leaves no connection open", async () => {
    const observer = open({ maxConnections: 1 });
    const before = await connections(observer);
    const state = await start();
    await state.store.follow("sets", () => undefined, new AbortController().signal);
    await state.close();
    await expect.poll(() => connections(observer)).toBe(before);
  });

  it("closes while the database does not respond, and waits for none of its time limits", async () => {
    const state = await start();
    await state.leases.acquire("a", new AbortController().signal);
    await state.bus.subscribe("t", { message: () => undefined, gap: () => undefined }, new AbortController().signal);
    await state.store.follow("sets", () => undefined, new AbortController().signal);
    const [line] = readFileSync(join(server().folder, "data/postmaster.pid"), "utf8").split("\n");
    signalFamily(Number(line), "SIGSTOP");
    try {
      let statement: ResourceError | undefined;
      const waiting = failureOf(
        state.database.snapshot(async (sql) => void (statement = await failureOf(sql.query("select 1")))),
      );
      await state.close();
      // At its own limit it would be "unavailable", and the database would have stopped responding.
      expect((await waiting).kind).toBe("cancelled");
      await expect.poll(() => statement?.message).toMatch(/^the connection to the database broke/);
      expect(logged).toContainEqual(expect.stringMatching(/^warn the shared database does not respond; .* expire/));
      // A socket that stays open would keep the process running.
      await expect.poll(() => process.getActiveResourcesInfo()).not.toContain("TCPSocketWrap");
    } finally {
      signalFamily(Number(line), "SIGCONT");
    }
  });

  it("waits for a database that starts later", async () => {
    await server().stop("fast");
    const starting = start();
    await expect.poll(() => logged.join(), { timeout: 30_000 }).toContain("cannot be used yet; trying for 30 s");
    await server().start();
    expect((await starting).database.schema).toMatch(/^test_/);
  });

  it("waits for a free connection", async () => {
    await server().run(
      "postgres",
      "create role crowded login password 'secret' connection limit 0; grant create on database postgres to crowded",
    );
    const starting = start({ state: `${server().url("postgres", "crowded", "secret")}?schema=crowded` });
    await Promise.race([
      starting,
      expect.poll(() => logged.join(), { timeout: 30_000 }).toMatch(/cannot be used yet; .*has no free connection/),
    ]);
    await server().run("postgres", "alter role crowded connection limit -1");
    expect((await starting).database.schema).toBe("crowded");
  });

  it("gives up after a time, and says what to do without the password", async () => {
    const absent = url().replace(`:${server().port}/`, ":1/");
    const error = await failureOf(start({ state: absent, startMs: 50 }));
    expect(error.message).toMatch(
      /could not be used for 0 s: no database listens there; check that it runs, and check "server.state"; then start again$/,
    );
    expect(error.passing).toBe(false);
    expect(`${error.stack} ${logged.join()}`).not.toContain(server().password);
  });

  it("does not wait for what only a person can change", async () => {
    const wrong = url().replace(server().password, "planted");
    expect((await failureOf(start({ state: wrong }))).message).toMatch(/rejects the user or the password/);
    expect(logged).toEqual([]);
  });

  it("stops waiting when the signal is aborted", async () => {
    const stop = new AbortController();
    const starting = start({ state: url().replace(`:${server().port}/`, ":1/"), signal: stop.signal });
    await expect.poll(() => logged.join()).toContain("cannot be used yet");
    stop.abort();
    expect((await failureOf(starting)).kind).toBe("cancelled");
  });
});
