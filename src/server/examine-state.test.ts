/** What doctor says about the shared state, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import { registerInstance } from "../state/instances.ts";
import { migrate } from "../state/migrate.ts";
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
    expect(found["bus"]).toBeUndefined();
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

  it("says that NATS is away", async () => {
    await migrate(open(), sharedMigrations);
    const found = await examine("nats://127.0.0.1:1");
    expect(found["bus"]?.[0]).toMatchObject({ state: "broken", advice: expect.stringContaining("JetStream") });
  });

  it("finds instances with different configs", async () => {
    const database = open();
    await migrate(database, sharedMigrations);
    const instances = await Promise.all(
      ["x", "y"].map((config) =>
        registerInstance(database, { id: config, version: "1", host: `h${config}`, config }, runtime),
      ),
    );
    const found = await examine();
    await Promise.all(instances.map((each) => each.close()));
    expect(found["instances"]?.[1]).toMatchObject({
      state: "hint",
      says: expect.stringContaining("2 different configs"),
    });
  });
});
