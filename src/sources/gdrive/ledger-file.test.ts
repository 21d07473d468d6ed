/** A ledger file that is damaged while it is open. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../server/runtime.ts";
import gdrive from "../gdrive.ts";
import { openLedgerFile } from "./ledger-file.ts";
import { known, startTestSync } from "./test-sync.ts";

const { signal } = new AbortController();
const cacheBefore = process.env["XDG_CACHE_HOME"];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-ledger-"));
  process.env["XDG_CACHE_HOME"] = folder;
});
afterEach(() => {
  if (cacheBefore === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = cacheBefore;
  rmSync(folder, { recursive: true });
});

/** Each takes the files of the ledger. */
const faults: Readonly<Record<string, (files: readonly string[]) => void>> = {
  "is overwritten": (files) => {
    // The shared memory file too: otherwise SQLite uses cached pages.
    for (const file of files) writeFileSync(file, Buffer.alloc(statSync(file).size, "garbled "), { flag: "r+" });
  },
  "has lost its tables": ([database]) => {
    const other = new DatabaseSync(database!);
    other.exec("drop table notes");
    other.close();
  },
};

it.skipIf(process.platform !== "linux").each(Object.keys(faults))(
  "that %s is created again without a restart (skipped: needs XDG folders)",
  async (fault) => {
    const drive = await startTestSync();
    drive.build();
    const options = gdrive.options(z).parse({ anonymous: true, rootUrl: drive.fake.rootUrl });
    const ledger = await openLedgerFile(options, createRuntime({ write: () => true }));
    await drive.sync(ledger).now(signal);
    const stored = join(folder, "pressmark", "gdrive");
    faults[fault]!(
      readdirSync(stored)
        .sort()
        .map((name) => join(stored, name)),
    );
    await expect(drive.sync(ledger).now(signal)).rejects.toThrow("was damaged and is created again");
    for (;;) {
      try {
        await drive.sync(ledger).now(signal);
        break;
      } catch (cause) {
        expect(String(cause)).toContain("is created again");
      }
    }
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
    await drive.fake.close();
  },
);
