/** The promises of leases, on files and on a real PostgreSQL. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../errors.ts";
import type { SharedDatabase } from "./database.ts";
import type { HeldLease, Leases } from "./leases.ts";
import { createLocalLeases } from "./local-leases.ts";
import { migrate } from "./migrate.ts";
import { checkFence, createPostgresLeases } from "./postgres-leases.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, runtime, server, logged } = useDatabase();

const never = new AbortController().signal;
const opened: Leases[] = [];
let folder = "";
let made = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-leases-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

function keep(leases: Leases): Leases {
  opened.push(leases);
  return leases;
}

function local(): Leases {
  return keep(createLocalLeases({ folder, instance: `i${(made += 1)}`, runtime, pollMs: 10 }));
}

const short = { ttlMs: 2400, renewMs: 200, pollMs: 20 };

function inDatabase(database: SharedDatabase): Leases {
  return keep(createPostgresLeases({ database, instance: `i${(made += 1)}`, runtime, ...short }));
}

/** A database that this process cannot reach for a while. */
function cuttable(): { readonly database: SharedDatabase; cut(isCut: boolean): void } {
  const database = open();
  let isCut = false;
  return {
    cut: (value) => void (isCut = value),
    database: {
      ...database,
      query: (text, values) => (isCut ? Promise.reject(unavailable("cut off")) : database.query(text, values)),
    },
  };
}

const engines = [
  { name: "files", skip: undefined, prepare: async () => local },
  {
    name: "PostgreSQL",
    skip: missing,
    async prepare() {
      await migrate(open(), stateMigrations);
      return () => inDatabase(open());
    },
  },
];

function ended({ signal }: HeldLease): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

for (const { name, skip, prepare } of engines)
  describe.skipIf(skip)(`leases in ${name}`, () => {
    it("have one holder at a time", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      const held = await one.tryAcquire("mount:docs");
      expect(held).toMatchObject({ name: "mount:docs" });
      expect(held?.signal.aborted).toBe(false);
      expect(await two.tryAcquire("mount:docs")).toBeUndefined();
      expect(await one.tryAcquire("mount:docs")).toBeUndefined();
      expect(await two.tryAcquire("mount:other")).toBeDefined();
      expect((await two.list()).map((each) => [each.name, each.isExpired])).toEqual([
        ["mount:docs", false],
        ["mount:other", false],
      ]);
      expect((await two.list())[0]?.fence).toBe(held?.fence);
    });

    it("pass to one who waits when they are released, with a greater fence", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      const first = await one.acquire("a", never);
      const waiting = two.acquire("a", never);
      const own = one.acquire("a", never);
      await first.release();
      expect(first.signal.aborted).toBe(true);
      const second = await Promise.race([waiting, own]);
      expect(second.fence).toBeGreaterThan(first.fence);
      await second.release();
      const [third, fourth] = await Promise.all([waiting, own]);
      expect(third.fence).not.toBe(fourth.fence);
    });

    it("are held by one of many who compete", async () => {
      const create = await prepare();
      let holders = 0;
      const fences: number[] = [];
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          const lease = await create().acquire("a", never);
          holders += 1;
          expect(holders).toBe(1);
          fences.push(lease.fence);
          await new Promise((resolve) => setImmediate(resolve));
          holders -= 1;
          await lease.release();
        }),
      );
      expect(fences).toEqual(fences.toSorted((a, b) => a - b));
      expect(new Set(fences).size).toBe(6);
    });

    it("are no longer waited for when the signal is aborted", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      const held = await one.acquire("a", never);
      const stop = new AbortController();
      const waiting = two.acquire("a", stop.signal);
      expect(two.waiting()).toEqual(["a"]);
      stop.abort();
      expect(two.waiting()).toEqual([]);
      expect((await failureOf(waiting)).kind).toBe("cancelled");
      expect((await failureOf(two.acquire("a", stop.signal))).kind).toBe("cancelled");
      await held.release();
      expect(await one.tryAcquire("a")).toBeDefined();
    });

    it("are all released by closing, and then nobody waits", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      const held = await one.acquire("a", never);
      await two.acquire("b", never);
      const waiting = failureOf(one.acquire("b", never));
      await one.close();
      expect(held.signal.aborted).toBe(true);
      expect((await waiting).kind).toBe("cancelled");
      expect((await two.list()).map(({ isExpired }) => isExpired)).toEqual([true, false]);
      expect((await two.list()).map(({ isReleased }) => isReleased)).toEqual([true, false]);
      expect(await two.tryAcquire("a")).toBeDefined();
      expect((await failureOf(one.tryAcquire("a"))).kind).toBe("cancelled");
    });
  });

describe("leases in files", () => {
  it("are free when their process is killed", async () => {
    const program = `
      const { createLocalLeases } = await import(${JSON.stringify(new URL("./local-leases.ts", import.meta.url).href)});
      const leases = createLocalLeases({ folder: ${JSON.stringify(folder)}, instance: "other", runtime: {} });
      await leases.tryAcquire("a");
      console.log("held");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", 2] });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const mine = local();
    expect(await mine.tryAcquire("a")).toBeUndefined();
    const waiting = mine.acquire("a", never);
    child.kill("SIGKILL");
    expect((await waiting).fence).toBe(2);
  });
});

describe.skipIf(missing)("leases in PostgreSQL", () => {
  it("are renewed for as long as they are held", async () => {
    await migrate(open(), stateMigrations);
    const one = inDatabase(open());
    const two = inDatabase(open());
    const held = await one.acquire("a", never);
    const [before] = await open().query<{ expires: Date }>("select expires from leases");
    await expect
      .poll(
        async () =>
          (
            await open().query("select from leases where expires > $1::timestamptz + interval '2 s'", [
              String(before?.expires.toISOString()),
            ])
          ).length,
        { timeout: 30_000 },
      )
      .toBe(1);
    expect(held.signal.aborted).toBe(false);
    expect(await two.tryAcquire("a")).toBeUndefined();
  });

  it("end for a holder that is cut off before another gets them, and its writes are refused", async () => {
    await migrate(open(), stateMigrations);
    const { database, cut } = cuttable();
    const order: string[] = [];
    const held = await inDatabase(database).acquire("a", never);
    await open().transaction((sql) => checkFence(sql, held));
    cut(true);
    void ended(held).then(() => order.push("ended"));
    const taken = await inDatabase(open()).acquire("a", never);
    order.push("taken");
    expect(order).toEqual(["ended", "taken"]);
    expect(taken.fence).toBeGreaterThan(held.fence);
    expect((await failureOf(open().transaction((sql) => checkFence(sql, held)))).kind).toBe("denied");
    await open().transaction((sql) => checkFence(sql, taken));
  });

  it("end when another instance has taken them, as after a pause of the whole process", async () => {
    await migrate(open(), stateMigrations);
    const held = await inDatabase(open()).acquire("a", never);
    await open().query("update leases set holder = 'other', fence = fence + 1");
    await ended(held);
    expect(logged.join()).toContain("another instance has taken");
  });

  it("end when an older state of the database is restored, so that what was written since is written again", async () => {
    await migrate(open(), stateMigrations);
    const leases = inDatabase(open());
    const held = await leases.acquire("a", never);
    await open().query("update leases set expires = expires - interval '1 hour'");
    await ended(held);
    expect((await leases.acquire("a", never)).fence).toBeGreaterThan(held.fence);
  });

  it("are not taken while a transaction relies on them, and are renewed meanwhile", async () => {
    await migrate(open(), stateMigrations);
    const { database, cut } = cuttable();
    const other = inDatabase(open());
    const held = await inDatabase(database).acquire("a", never);
    const expiry = async () => (await open().query<{ at: string }>("select expires::text as at from leases"))[0]?.at;
    await open().transaction(async (sql) => {
      await checkFence(sql, held);
      const before = await expiry();
      await expect.poll(expiry, { timeout: 30_000 }).not.toBe(before);
      cut(true);
      await ended(held);
      await expect.poll(async () => (await other.list())[0]?.isExpired, { timeout: 30_000 }).toBe(true);
      expect(await other.tryAcquire("a")).toBeUndefined();
    });
    expect(await other.tryAcquire("a")).toBeDefined();
  });

  it("are acquired once the database is back", async () => {
    await migrate(open(), stateMigrations);
    const leases = inDatabase(open());
    await server().stop("immediate");
    const waiting = leases.acquire("a", never);
    await expect.poll(() => logged.join(), { timeout: 30_000 }).toContain("cannot be renewed or acquired");
    await server().start();
    expect((await waiting).fence).toBeGreaterThan(0);
    expect(logged.join()).toContain("available again");
  });
});
