/** What a view leaves behind in the session of a real server: nothing that the next query, or another user, could notice. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type pg from "pg";
import { z } from "zod";
import { missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import type { Source } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { refusal } from "../../testing/refusal.ts";
import definition, { openPostgres } from "../postgres.ts";

/** What a function of a view does, by the name of the view. */
const deeds: Readonly<Record<string, string>> = {
  locks: "PERFORM pg_advisory_lock(42); PERFORM pg_advisory_lock(1, 2); PERFORM pg_advisory_lock_shared(43);",
  prepares: "EXECUTE 'PREPARE left_behind AS SELECT 1';",
  sets: "PERFORM set_config('app.left_behind', 'yes', false); PERFORM set_config('search_path', 'public', false);",
  commands: "EXECUTE 'SET SESSION work_mem = ''1MB'''; EXECUTE 'SET SESSION TimeZone = ''Asia/Tokyo''';",
  becomes: "PERFORM set_config('role', 'another', false);",
  declares: "EXECUTE 'DECLARE left_behind CURSOR WITH HOLD FOR SELECT 1';",
  listens: "EXECUTE 'LISTEN left_behind';",
};

const tables = `
  CREATE ROLE another;
  CREATE ROLE pressmark LOGIN PASSWORD 'x' IN ROLE another;
  CREATE TABLE plain (id int PRIMARY KEY); INSERT INTO plain VALUES (1);
  CREATE VIEW state AS SELECT current_user::text AS role, current_setting('app.left_behind', true) AS setting,
    current_setting('search_path') AS path, current_setting('work_mem') AS memory,
    (SELECT count(*) FROM pg_prepared_statements WHERE name <> '')::int AS prepared,
    (SELECT count(*) FROM pg_cursors WHERE name <> '')::int AS cursors,
    (SELECT count(*) FROM pg_listening_channels())::int AS channels,
    (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')::int AS locks;
  ${Object.entries(deeds)
    .flatMap(([name, deed]) =>
      [
        ["", ""],
        ["_fails", "RAISE 'no';"],
        ["_sleeps", "PERFORM pg_sleep(60);"],
      ].map(
        ([ending, then]) => `
          CREATE FUNCTION ${name}${ending}() RETURNS int LANGUAGE plpgsql AS $$ BEGIN ${deed} ${then} RETURN 1; END $$;
          CREATE VIEW ${name}${ending}_view AS SELECT public.${name}${ending}() AS n;`,
      ),
    )
    .join("\n")}
  GRANT SELECT ON ALL TABLES IN SCHEMA public TO pressmark, another;`;

function read(source: Source, view: string, signal = new AbortController().signal) {
  return source.read({ path: `public/${view}/rows` }, { caller: { id: "test" }, signal });
}

async function stateOf(source: Source): Promise<unknown> {
  const [part] = await read(source, "state");
  return (JSON.parse((part!.body as { text: string }).text) as { rows: readonly unknown[] }).rows[0];
}

describe.skipIf(missingFor("debian"))(`after reading a view of PostgreSQL (${missingFor("debian") ?? "real"})`, () => {
  let server: PostgresServer;
  let admin: pg.Client;
  const opened: Source[] = [];
  beforeAll(async () => {
    server = await startPostgres("debian");
    await server.run("postgres", tables);
    admin = await server.connect("postgres");
  }, 60_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((source) => source.close?.()));
  });
  afterAll(async () => {
    await admin?.end();
    await server?.close();
  });

  function open(timeoutMs = 5000): Source {
    const settings = {
      url: server.url("postgres", "pressmark", "x"),
      rows: true,
      maxConnections: 1,
      timeoutMs,
    };
    const source = openPostgres(definition.options(z).parse(settings), createClock().runtime);
    opened.push(source);
    return source;
  }

  const clean = {
    role: "pressmark",
    setting: expect.toBeOneOf([null, ""]),
    path: "pg_catalog",
    memory: "4MB",
    prepared: 0,
    cursors: 0,
    channels: 0,
    locks: 0,
  };

  const backend = async () =>
    (await admin.query("SELECT pid FROM pg_stat_activity WHERE usename = 'pressmark'")).rows.map(({ pid }) => pid);

  const locksHeld = async () =>
    (await admin.query("SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory'")).rows[0].n as number;

  for (const name of Object.keys(deeds)) {
    it(`that ${name}, nothing is left`, async () => {
      const source = open();
      await read(source, `${name}_view`);
      expect(await locksHeld()).toBe(0);
      expect(await stateOf(source)).toEqual(clean);
    });

    it(`that ${name} and fails, nothing is left`, async () => {
      const source = open();
      await refusal(read(source, `${name}_fails_view`), ["unexpected"], name);
      expect(await locksHeld()).toBe(0);
      expect(await stateOf(source)).toEqual(clean);
    });
  }

  it("that locks and takes too long, nothing is left", async () => {
    const source = open(300);
    await refusal(read(source, "locks_sleeps_view"), ["unavailable"], "sleeps");
    expect(await locksHeld()).toBe(0);
    await refusal(read(source, "prepares_sleeps_view"), ["unavailable"], "sleeps");
    expect(await stateOf(source)).toEqual(clean);
  });

  it("that locks, by a cancelled caller, nothing is left", async () => {
    const source = open();
    const leaving = new AbortController();
    const left = read(source, "locks_sleeps_view", leaving.signal);
    left.catch(() => undefined);
    await vi.waitFor(async () => expect(await locksHeld()).toBe(3));
    leaving.abort();
    await refusal(left, ["cancelled"], "left");
    await vi.waitFor(async () => expect(await locksHeld()).toBe(0), { timeout: 10_000 });
    expect(await stateOf(source)).toEqual(clean);
  });

  it("the connection is reused", async () => {
    const source = open();
    await read(source, "locks_view");
    const before = await backend();
    expect(before).toHaveLength(1);
    for (const view of ["plain", "locks_view", "state"]) await read(source, view);
    await refusal(read(source, "locks_fails_view"), ["unexpected"], "fails");
    expect(await backend()).toEqual(before);
  });
});
