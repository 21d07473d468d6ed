/** What doctor says about the shared state, on a real PostgreSQL. */
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterEach, describe, expect, it } from "vitest";
import { natsMissing, startNats } from "../../test/live/nats.ts";
import { registerInstance } from "../state/instances.ts";
import { migrate } from "../state/migrate.ts";
import { streamNames } from "../state/nats-connection.ts";
import { readServerId } from "../state/server-id.ts";
import { useDatabase } from "../state/test-database.ts";
import type { CheckResult } from "./examine.ts";
import { examineState } from "./examine-state.ts";
import { sharedMigrations } from "./shared-migrations.ts";

const { missing, open, url, server, runtime } = useDatabase();
const signal = new AbortController().signal;

async function examine(bus?: string, state = url(), clock = runtime): Promise<Record<string, CheckResult[]>> {
  const findings = await examineState({ state, bus }, clock, signal);
  expect(JSON.stringify(findings)).not.toContain(server().password);
  return Object.groupBy(findings, ({ about }) => about) as Record<string, CheckResult[]>;
}

/** Returns what the server has in NATS. */
async function createServer() {
  await migrate(open(), sharedMigrations);
  return streamNames(open().schema, (await readServerId(open()))!);
}

describe.skipIf(missing)("doctor", () => {
  it("says nothing about a server that shares nothing", async () => {
    expect(await examineState({}, runtime, signal)).toEqual([]);
  });

  it("finds everything in order", async () => {
    await migrate(open(), sharedMigrations);
    const instance = await registerInstance(open(), { id: "a", version: "1.0.0" }, runtime);
    const found = await examine();
    await instance.close();
    expect(Object.values(found).flatMap((each) => each.map(({ state }) => state))).toEqual([
      "ok",
      "ok",
      "ok",
      "ok",
      "ok",
    ]);
    expect(found["state"]?.[0]?.says).toMatch(/^PostgreSQL 18\.\d+, schema test_\d+, answers in [\d.]+ ms$/);
    expect(found["bus"]?.[0]?.says).toMatch(/^PostgreSQL carried a message in \d+ ms$/);
    expect(found["instances"]?.[0]?.says).toBe("1 running, version 1.0.0");
    await examine();
    // Rows of topics are never removed.
    expect(await open().query("select topic from topics")).toEqual([{ topic: "doctor" }]);
  });

  it("says that tables are missing, and changes nothing", async () => {
    const found = await examine();
    expect(found["state tables"]?.[0]).toMatchObject({
      state: "hint",
      advice: "start an instance, or run: pressmark migrate",
    });
    expect(found["bus"]?.[0]).toMatchObject({ state: "ok", says: expect.stringContaining("creates the tables") });
    expect(await open().query("select from pg_namespace where nspname = $1", [open().schema])).toEqual([]);
  });

  it("compares the clocks", async () => {
    await migrate(open(), sharedMigrations);
    const found = await examine(undefined, url(), { ...runtime, now: () => Date.now() + 60_000 });
    expect(found["state"]?.[1]).toMatchObject({ state: "hint", says: expect.stringMatching(/differ by (?:59|60) s$/) });
  });

  it("says what is wrong with the database", async () => {
    const away = await examine(undefined, url().replace(`:${server().port}/`, ":1/"));
    expect(away["state"]).toEqual([
      { about: "state", state: "broken", says: expect.stringContaining('check "server.state"') },
    ]);
    const wrong = await examine(undefined, url().replace(server().password, "planted"));
    expect(wrong["state"]?.[0]?.says).toMatch(/rejects the user or the password/);
  });

  it("names instances with different configs, also those of one machine", async () => {
    const database = open();
    await migrate(database, sharedMigrations);
    // One after the other: the oldest is named first.
    const registerOne = (config: string) =>
      registerInstance(database, { id: `ada:${config}`, version: "1", host: "ada", config }, runtime);
    const instances = [await registerOne("x"), await registerOne("y")];
    const found = await examine();
    await Promise.all(instances.map((each) => each.close()));
    expect(found["instances"]?.[1]).toMatchObject({
      state: "hint",
      says: "the running instances have 2 different configs: ada:x x, ada:y y",
    });
  });
});

describe.skipIf(missing ?? natsMissing())("doctor with NATS", () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  async function start(config?: string): Promise<number> {
    const nats = await startNats(config);
    opened.push(nats);
    return nats.port;
  }

  it("sends a message through the stream of the server, and creates none", async () => {
    const port = await start();
    const bus = `nats://127.0.0.1:${port}`;
    expect((await examine(bus))["bus"]).toEqual([
      { about: "bus", state: "ok", says: "NATS offers JetStream; the first instance creates the stream" },
    ]);
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    expect((await streams.list().next()).map(({ config }) => config.name)).toEqual([]);
    const { stream, prefix } = await createServer();
    await streams.add({ name: stream, subjects: [`${prefix}>`] });
    await connection.close();
    expect((await examine(bus))["bus"]?.[0]?.says).toMatch(/^NATS carried a message in \d+ ms$/);
  });

  it("says why NATS cannot be used", async () => {
    const port = await start(`authorization { user: "pressmark", password: "right" }`);
    const bare = await start(`accounts { A: { users: [{ user: u, password: p }] } }`);
    const refused = 'NATS refuses the user, password or token of "server.bus", or their permissions';
    const cases: readonly (readonly [string, string])[] = [
      [
        "nats://127.0.0.1:1",
        'NATS is not reachable at present: "connection refused"; check "server.bus" and the server',
      ],
      ["nats://nowhere.invalid", 'NATS is not reachable at present: "getaddrinfo ENOTFOUND nowhere.invalid"'],
      [`nats://127.0.0.1:${port}`, refused],
      [`nats://pressmark:wrong@127.0.0.1:${port}`, refused],
      [`nats://u:p@127.0.0.1:${bare}`, 'start nats-server with "-js"'],
    ];
    for (const [bus, says] of cases)
      expect((await examine(bus))["bus"], bus).toEqual([
        { about: "bus", state: "broken", says: expect.stringContaining(says) },
      ]);
  });

  it("names the stream that receives the subjects of the server, also before there are tables", async () => {
    const port = await start();
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    const { schema } = open();
    await streams.add({ name: `pressmark_${schema}`, subjects: [`pressmark.${schema}.>`] });
    await connection.close();
    const taken = [
      { about: "bus", state: "broken", says: expect.stringContaining(`the stream "pressmark_${schema}" in NATS`) },
    ];
    expect((await examine(`nats://127.0.0.1:${port}`))["bus"]).toEqual(taken);
    await createServer();
    expect((await examine(`nats://127.0.0.1:${port}`))["bus"]).toEqual(taken);
  });

  it("says that the user may not read the stream", async () => {
    const { stream, prefix } = await createServer();
    const mayNot = `permissions: { publish: { deny: "$JS.API.CONSUMER.>" } }`;
    const port = await start(
      `authorization { users: [{ user: admin, password: a }, { user: some, password: s, ${mayNot} }] }`,
    );
    const connection = await connect({ port, user: "admin", pass: "a" });
    await (
      await jetstreamManager(connection)
    ).streams.add({
      name: stream,
      subjects: [`${prefix}>`],
    });
    await connection.close();
    expect((await examine(`nats://some:s@127.0.0.1:${port}`))["bus"]?.[0]).toMatchObject({
      state: "broken",
      says: expect.stringContaining("or their permissions"),
    });
  });
});
