/** Where the ledger of a mount stands: beside what can be made again, one for each account and each choice of what is served. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, surroundingsOf } from "../../lib/own-folders.ts";
import { ResourceError } from "../../errors.ts";
import type { Tools } from "../../source.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import type { DriveSourceOptions } from "./options.ts";

/** Changes with what stands in a ledger, so that it is made anew. */
const ledgerVersion = 2;

/** Where it cannot be kept, that is said, and it lives as long as the mount. */
export async function keptLedger(options: DriveSourceOptions, tools: Tools): Promise<Ledger> {
  const { folders, keep } = options;
  if (!keep) return openLedger({ file: undefined, folders });
  const file = join(cacheFolder(surroundingsOf(process.env)), "gdrive", `${keyOf(options)}.sqlite`);
  try {
    const ledger = await openLedger({ file, folders }).catch((cause: unknown) => {
      if (!isDamaged(cause)) throw cause;
      throwAway(file);
      return openLedger({ file, folders });
    });
    return watched(ledger, () => throwAway(file));
  } catch (cause) {
    tools.log("warn", "what is known of Drive cannot be kept, so all of it is looked at after each start", { cause });
    return openLedger({ file: undefined, folders });
  }
}

/** All of it can be had again. */
function throwAway(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

/** Damage in the middle shows only when one comes there. Whoever has the file open goes on with it; the next start makes it anew. */
function watched(ledger: Ledger, damaged: () => void): Ledger {
  const seen = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      if (!isDamaged(cause)) throw cause;
      damaged();
      const says = "what is kept of Drive was damaged and has been thrown away; start again, and it is made anew";
      throw new ResourceError("unavailable", says, { cause, passing: false });
    }
  };
  return new Proxy(ledger, {
    get(from, key) {
      const value: unknown = seen(() => Reflect.get(from, key));
      if (typeof value !== "function") return value;
      return (...asked: unknown[]): unknown => seen(() => Reflect.apply(value, from, asked));
    },
  });
}

/** Whether a file is no database, or one that was broken. */
function isDamaged(cause: unknown): boolean {
  const { errcode } = cause as { readonly errcode?: unknown };
  return errcode === 11 || errcode === 26;
}

function keyOf(options: DriveSourceOptions): string {
  const { myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl } = options;
  const made = [ledgerVersion, myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl];
  return createHash("sha256").update(JSON.stringify(made)).digest("hex").slice(0, 32);
}
