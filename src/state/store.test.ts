/** The promises of a store, on files and on a real PostgreSQL, and compared with a model. */
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { byteLength } from "../lib/byte-length.ts";
import { compareKeys } from "./check-key.ts";
import { createFileStore } from "./file-store.ts";
import { migrate } from "./migrate.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { RecordValue, Store } from "./store.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, runtime, server } = useDatabase();

const opened: Store[] = [];
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-store-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

function keep(store: Store): Store {
  opened.push(store);
  return store;
}

function inFiles(): Store {
  return keep(createFileStore({ folder, runtime }));
}

function inDatabase(): Store {
  return keep(createPostgresStore({ database: open({ maxConnections: 2 }), runtime }));
}

const engines = [
  { name: "files", skip: undefined, prepare: async () => inFiles },
  {
    name: "PostgreSQL",
    skip: missing,
    async prepare() {
      await migrate(open(), stateMigrations);
      return inDatabase;
    },
  },
];

/** The only file of a kind. */
function fileOf(name: string): string {
  const path = join(folder, "records", name);
  return join(path, readdirSync(path).find((each) => each.endsWith(".json")) ?? "");
}

async function entriesOf(store: Store, log: string): Promise<RecordValue[]> {
  const entries: RecordValue[] = [];
  for await (const entry of store.read(log)) entries.push(entry);
  return entries;
}

const value = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()) as fc.Arbitrary<RecordValue>;
const kind = fc.constantFrom("sets", "tokens");
const key = fc.constantFrom("a", "b", "B", "é", "🦊", "\uffff", "a/../b", "it's");
const condition = fc.constantFrom("any", "absent", "current", "stale", "nonsense");
const step = fc.oneof(
  fc.record({ does: fc.constant("put" as const), kind, key, value, condition }),
  fc.record({ does: fc.constant("remove" as const), kind, key }),
  fc.record({ does: fc.constant("append" as const), log: kind, entries: fc.array(value, { maxLength: 4 }) }),
  fc.record({
    does: fc.constant("trim" as const),
    log: kind,
    keep: fc.record({ entries: fc.nat(5), bytes: fc.nat(100) }),
  }),
);

for (const { name, skip, prepare } of engines)
  describe.skipIf(skip)(`a store in ${name}`, () => {
    it("does what a model does", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          round += 1;
          const records = new Map<string, { readonly value: RecordValue; readonly version: string }>();
          const logs = new Map<string, RecordValue[]>();
          const versions = new Set<string>();
          const nameOf = (text: string) => `${text}${round}`;
          for (const each of steps) {
            if (each.does === "append") {
              await one.append(nameOf(each.log), each.entries);
              logs.set(each.log, [...(logs.get(each.log) ?? []), ...each.entries]);
              continue;
            }
            if (each.does === "trim") {
              await one.trim(nameOf(each.log), each.keep);
              const { entries, bytes } = each.keep;
              let kept = (logs.get(each.log) ?? []).slice(-Math.max(1, entries)).slice(entries === 0 ? 1 : 0);
              while (byteLength(kept.map((entry) => JSON.stringify(entry))) > bytes) kept = kept.slice(1);
              logs.set(each.log, kept);
              continue;
            }
            const id = `${each.kind} ${each.key}`;
            const present = records.get(id);
            if (each.does === "remove") {
              expect(await one.remove(nameOf(each.kind), each.key)).toBe(present !== undefined);
              records.delete(id);
              continue;
            }
            const stale = [...versions].findLast((version) => version !== present?.version);
            const ifVersion = { absent: undefined, current: present?.version, stale, nonsense: "x" }[
              each.condition as "stale"
            ];
            const stored = await one.put(
              nameOf(each.kind),
              each.key,
              each.value,
              each.condition === "any" ? {} : { ifVersion },
            );
            const isAllowed = each.condition === "any" || ifVersion === present?.version;
            expect(stored !== undefined).toBe(isAllowed);
            if (!stored) continue;
            expect(versions).not.toContain(stored.version);
            versions.add(stored.version);
            expect(stored.value).toEqual(JSON.parse(JSON.stringify(each.value)));
            records.set(id, stored);
          }
          // Read by another instance.
          for (const each of ["sets", "tokens"]) {
            const expected = [...records]
              .filter(([id]) => id.startsWith(`${each} `))
              .map(([id, { value: content, version }]) => ({ key: id.slice(each.length + 1), value: content, version }))
              .sort((a, b) => compareKeys(a.key, b.key));
            expect(await two.list(nameOf(each))).toEqual(expected);
            for (const record of expected) expect(await two.get(nameOf(each), record.key)).toEqual(record);
            const entries = (logs.get(each) ?? []).map((entry) => JSON.parse(JSON.stringify(entry)) as RecordValue);
            expect(await entriesOf(two, nameOf(each))).toEqual(entries);
          }
        }),
        { numRuns: 40 },
      );
    });

    it("lets exactly one of many create a record, or replace a version", async () => {
      const create = await prepare();
      const stores = Array.from({ length: 8 }, create);
      const created = await Promise.all(
        stores.map((store, index) => store.put("sets", "a", { index }, { ifVersion: undefined })),
      );
      expect(created.filter((each) => each !== undefined)).toHaveLength(1);
      const ifVersion = created.find((each) => each !== undefined)?.version;
      const replaced = await Promise.all(
        stores.map((store, index) => store.put("sets", "a", { index }, { ifVersion })),
      );
      const [winner] = replaced.filter((each) => each !== undefined);
      expect(replaced.filter((each) => each !== undefined)).toHaveLength(1);
      expect(await stores[0]?.get("sets", "a")).toEqual(winner);
    });

    it("loses no update of many who compare and set", async () => {
      const create = await prepare();
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          const store = create();
          for (let left = 5; left > 0;) {
            const found = await store.get("sets", "n");
            const n = Number(found?.value["n"] ?? 0) + 1;
            if (await store.put("sets", "n", { n }, { ifVersion: found?.version })) left -= 1;
          }
        }),
      );
      expect((await create().get("sets", "n"))?.value).toEqual({ n: 30 });
    });

    it("forgets a record when its time is over", async () => {
      const create = await prepare();
      const store = create();
      await store.put("sets", "long", { n: 1 }, { expiresInMs: 3_600_000 });
      await store.put("sets", "short", { n: 1 }, { expiresInMs: 1 });
      await expect.poll(() => store.get("sets", "short")).toBeUndefined();
      expect((await store.list("sets")).map((each) => each.key)).toEqual(["long"]);
      const again = await store.put("sets", "short", { n: 2 }, { ifVersion: undefined, expiresInMs: 1 });
      expect(again).toBeDefined();
      await expect.poll(() => store.get("sets", "short")).toBeUndefined();
      expect(await store.put("sets", "short", { n: 3 }, { ifVersion: again?.version })).toBeUndefined();
      expect(await store.remove("sets", "short")).toBe(false);
      // Without a time, it stays.
      await store.put("sets", "long", { n: 2 });
      expect(await store.get("sets", "long")).toMatchObject({ value: { n: 2 } });
    });

    it("tells followers about changes of their kind by any instance, until they leave", async () => {
      const create = await prepare();
      const [one, two] = [create(), create()];
      let [sets, tokens] = [0, 0];
      const stop = new AbortController();
      await two.follow("sets", () => void (sets += 1), stop.signal);
      await two.follow("tokens", () => void (tokens += 1), new AbortController().signal);
      await one.put("sets", "a", { n: 1 });
      await expect.poll(() => sets).toBeGreaterThan(0);
      for (const change of [
        () => one.put("sets", "a", { n: 2 }),
        () => two.put("sets", "b", { n: 1 }),
        () => one.remove("sets", "a"),
      ]) {
        const before = sets;
        await change();
        await expect.poll(() => sets).toBeGreaterThan(before);
      }
      expect(tokens).toBe(0);
      stop.abort();
      const before = sets;
      await one.put("sets", "a", { n: 3 });
      await one.put("tokens", "a", { n: 1 });
      await expect.poll(() => tokens).toBeGreaterThan(0);
      expect(sets).toBe(before);
    });

    it("reads a long log in order, while it is trimmed and extended", async () => {
      const create = await prepare();
      const store = create();
      const entries = Array.from({ length: 1203 }, (_each, n) => ({ n }));
      await store.append("audit", entries);
      expect(await entriesOf(store, "audit")).toEqual(entries);
      const seen: unknown[] = [];
      for await (const entry of store.read("audit")) {
        seen.push(entry["n"]);
        if (seen.length === 10) await store.append("audit", [{ n: 1203 }]);
      }
      expect(seen.slice(0, 1203)).toEqual(entries.map(({ n }) => n));
      await store.trim("audit", { entries: 2, bytes: 1000 });
      expect(await entriesOf(store, "audit")).toEqual([{ n: 1202 }, { n: 1203 }]);
    });

    it("trims a log to a number of bytes of JSON in UTF-8", async () => {
      const create = await prepare();
      const store = create();
      const entries = ["前の記録", "a\0b", "\ud800", "last"].map((text) => ({ text }));
      const sizes = entries.map((entry) => Buffer.byteLength(JSON.stringify(entry)));
      await store.append("audit", entries);
      await store.append("other", entries);
      for (const first of [0, 1, 2, 3]) {
        const bytes = sizes.slice(first).reduce((sum, size) => sum + size, 0);
        await store.trim("audit", { entries: 10, bytes });
        expect(await entriesOf(store, "audit")).toEqual(entries.slice(first));
        await store.trim("audit", { entries: 10, bytes: bytes - 1 });
        expect(await entriesOf(store, "audit")).toEqual(entries.slice(first + 1));
      }
      expect(await entriesOf(store, "other")).toEqual(entries);
    });

    it("refuses keys that cannot be stored everywhere", async () => {
      const create = await prepare();
      const store = create();
      for (const wrong of ["a\0b", "\ud800", "x".repeat(2001)])
        expect((await failureOf(store.put("sets", wrong, {}))).kind).toBe("invalid");
      expect((await failureOf(store.get("Sets", "a"))).kind).toBe("invalid");
      await store.put("sets", "x".repeat(2000), { ok: true });
      expect(await store.list("sets")).toHaveLength(1);
    });
  });

describe("a store in files", () => {
  it("says which file is damaged", async () => {
    const store = inFiles();
    await store.put("sets", "a", { n: 1 });
    writeFileSync(fileOf("sets"), readFileSync(fileOf("sets"), "utf8").slice(0, 20));
    const error = await failureOf(store.get("sets", "a"));
    expect(error.message).toContain(fileOf("sets"));
    expect(error.passing).toBe(false);
  });

  it("ignores what a killed process left at the end of a log, and continues after it", async () => {
    const store = inFiles();
    await store.append("audit", [{ n: 1 }]);
    appendFileSync(join(folder, "logs", "audit.jsonl"), '[{"n":2},{"n"');
    expect(await entriesOf(store, "audit")).toEqual([{ n: 1 }]);
    await store.append("audit", [{ n: 3 }]);
    expect(await entriesOf(store, "audit")).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it("keeps every acknowledged change of a process that is killed while it writes", async () => {
    const program = `
      const { createFileStore } = await import(${JSON.stringify(new URL("./file-store.ts", import.meta.url).href)});
      const store = createFileStore({ folder: ${JSON.stringify(folder)}, runtime: { now: () => 0 } });
      for (let n = 1; ; n += 1) {
        await store.put("sets", "n", { n, pad: "x".repeat(10000) });
        await store.append("audit", [{ n }, { n }]);
        console.log(n);
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", 2] });
    let output = "";
    await new Promise<void>((resolve) => {
      child.stdout?.on("data", (chunk) => {
        output += String(chunk);
        if (output.split("\n").length > 20) {
          child.kill("SIGKILL");
          resolve();
        }
      });
    });
    await new Promise((resolve) => child.once("close", resolve));
    const acknowledged = Number(output.trim().split("\n").at(-1));
    const store = inFiles();
    const n = Number((await store.get("sets", "n"))?.value["n"]);
    expect([acknowledged, acknowledged + 1]).toContain(n);
    const entries = await entriesOf(store, "audit");
    expect(entries.length % 2).toBe(0);
    expect(entries.length).toBeGreaterThanOrEqual(2 * acknowledged);
    expect(await store.put("sets", "n", { n: 0 })).toBeDefined();
  });
});

describe.skipIf(missing)("a store in PostgreSQL", () => {
  it("tells followers to read again after the connection broke", async () => {
    await migrate(open(), stateMigrations);
    const store = inDatabase();
    let calls = 0;
    await store.follow("sets", () => void (calls += 1), new AbortController().signal);
    await server().stop("immediate");
    await server().start();
    await expect.poll(() => calls, { timeout: 30_000 }).toBe(1);
    await store.put("sets", "a", { n: 1 });
    await expect.poll(() => calls).toBe(2);
  });

  it("reports that the database is away", async () => {
    await migrate(open(), stateMigrations);
    const store = inDatabase();
    await server().stop("immediate");
    const error = await failureOf(store.put("sets", "a", { n: 1 }));
    await server().start();
    expect(error).toMatchObject({ kind: "unavailable", passing: true });
  });
});
