/** After a crash at any point, no change is lost and none is applied twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { DriveApi } from "./drive-api.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { known, startTestSync, type TestSync } from "./test-sync.ts";

const { signal } = new AbortController();
const dead = `99999999 ${hostname()} dead`;

class Crash extends Error {}

/** A crash around one of these equals a crash before the next step. */
const harmless = new Set(["note", "row", "known", "unknownTargets"]);

/** Both, until the nth operation: crashes before it, or right after it. */
function crashing(ledger: Ledger, api: DriveApi, nth: number, when: "before" | "after") {
  let count = 0;
  const guard = <T extends Ledger | DriveApi>(record: T): T =>
    new Proxy(record, {
      get(from, key) {
        const value: unknown = Reflect.get(from, key);
        if (typeof value !== "function") return value;
        return (...requested: unknown[]): unknown => {
          // A read request has changed nothing.
          const isDone = when === "before" || record === ledger;
          if (isDone && !harmless.has(String(key))) count += 1;
          // A crashed process does nothing more.
          if (count > nth || (count === nth && when === "before")) throw new Crash();
          const done: unknown = Reflect.apply(value, from, requested);
          if (count < nth) return done;
          throw new Crash();
        };
      },
    });
  return { ledger: guard(ledger), api: guard(api), died: () => count >= nth };
}

/** Collects the changes, like a reader that gets nothing else. */
function createReader() {
  const held = new Map<string, string>();
  let seq = 0;
  return {
    held: () => Object.fromEntries([...held].sort()),
    read(ledger: Ledger): void {
      const upTo = ledger.seq;
      for (const { id, kind, of } of ledger.changesSince(seq, 1000)!) {
        const row = ledger.row(id);
        if (of !== "file") continue;
        if (kind === "gone") held.delete(id);
        else if (row?.kind === "file") held.set(id, `${row.name} ${row.version}`);
      }
      seq = upTo;
    },
  };
}

/** Crashes at each operation in turn, and checks that the next process knows everything. Returns how often. */
async function sweep(
  when: "before" | "after",
  begin: (drive: TestSync, ledger: Ledger) => Promise<void>,
): Promise<number> {
  for (let nth = 1; ; nth += 1) {
    const drive = await startTestSync();
    const ledger = await openLedger({ file: undefined, folders: [] });
    const reader = createReader();
    drive.build();
    await begin(drive, ledger);
    reader.read(ledger);
    const dying = crashing(ledger, drive.api(), nth, when);
    await drive
      .sync(dying.ledger, { api: dying.api, holder: dead })
      .now(signal)
      .catch((cause: unknown) => expect(cause).toBeInstanceOf(Crash));
    reader.read(ledger);
    await drive.sync(ledger).now(signal);
    expect(known(ledger), `crash ${nth}`).toEqual(drive.truth());
    reader.read(ledger);
    expect(reader.held(), `crash ${nth}`).toEqual(drive.truth());
    ledger.close();
    await drive.fake.close();
    if (!dying.died()) return nth - 1;
  }
}

it.each(["before", "after"] as const)(
  "a crash %s any operation of the first listing loses no change and applies none twice",
  async (when) => {
    expect(await sweep(when, async () => undefined)).toBeGreaterThan(8);
  },
);

it.each(["before", "after"] as const)(
  "a crash %s any operation while following changes loses no change and applies none twice",
  async (when) => {
    const crashes = await sweep(when, async (drive, ledger) => {
      await drive.sync(ledger).now(signal);
      drive.stir();
    });
    expect(crashes).toBeGreaterThan(8);
  },
);

it("a batch that cannot be written is not written in part, and its token stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  const drive = await startTestSync();
  const file = join(folder, "ledger.sqlite");
  try {
    drive.build();
    const ledger = await openLedger({ file, folders: [] });
    await drive.sync(ledger).now(signal);
    const before = [known(ledger), ledger.logs, ledger.seq];
    const [log] = ledger.logs;
    const fits = await drive.api().file({ id: "a" }, signal);
    // Not a valid value for a table.
    const misfit = { ...fits, id: "b", version: 99, name: Symbol("no text") as unknown as string };
    expect(() =>
      ledger.advance({ log: "", files: [{ ...fits, version: 99 }, misfit], removed: ["c"] }, log!.token, "next"),
    ).toThrow();
    ledger.close();
    const again = await openLedger({ file, folders: [] });
    expect([known(again), again.logs, again.seq]).toEqual(before);
    again.close();
  } finally {
    await drive.fake.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
