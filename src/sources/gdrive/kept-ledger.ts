/** Where the ledger of a mount stands: beside what can be made again, one for each account and each choice of what is served. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, surroundingsOf } from "../../lib/own-folders.ts";
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
    return await openLedger({ file, folders }).catch((cause: unknown) => {
      if (!isDamaged(cause)) throw cause;
      // All of it can be had again.
      for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
      return openLedger({ file, folders });
    });
  } catch (cause) {
    tools.log("warn", "what is known of Drive cannot be kept, so all of it is looked at after each start", { cause });
    return openLedger({ file: undefined, folders });
  }
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
