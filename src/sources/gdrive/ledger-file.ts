/** The ledger file of a mount, in the cache folder: one per account and per selection of served files. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileIdentity } from "../../lib/file-identity.ts";
import { cacheFolder, systemPathsOf } from "../../lib/system-paths.ts";
import { unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import type { DriveSourceOptions } from "./options.ts";

/** Changes with the content of a ledger, so that it is created again. */
const ledgerVersion = 2;

/** If it cannot be stored, a warning is logged and it lives in memory. */
export async function openLedgerFile(options: DriveSourceOptions, runtime: Runtime): Promise<Ledger> {
  const { folders, keep } = options;
  if (!keep) return openLedger({ file: undefined, folders });
  const file = join(cacheFolder(systemPathsOf(runtime.env)), "gdrive", `${ledgerKey(options)}.sqlite`);
  try {
    const ledger = await openLedger({ file, folders }).catch((cause: unknown) => {
      if (!isDamaged(cause)) throw cause;
      throwAway(file);
      return openLedger({ file, folders });
    });
    return renewed(ledger, file, () => openLedger({ file, folders }), runtime);
  } catch (cause) {
    runtime.log("warn", "the file list of Drive cannot be stored; all files are listed again after each start", {
      cause,
    });
    return openLedger({ file: undefined, folders });
  }
}

/** The ledger can be rebuilt completely. */
function throwAway(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

/**
 * Damage inside the file shows only on access. The file is then deleted and created again, unless another thread or process has done so.
 */
function renewed(first: Ledger, file: string, open: () => Promise<Ledger>, { log }: Pick<Runtime, "log">): Ledger {
  let ledger = first;
  let identity = fileIdentity(file);
  let generation = 0;
  let renewing = false;
  let isClosed = false;

  async function renew(): Promise<void> {
    const damaged = ledger;
    try {
      if (fileIdentity(file) === identity) throwAway(file);
      ledger = await open();
      identity = fileIdentity(file);
      generation += 1;
      if (isClosed) ledger.close();
      damaged.close();
    } catch (cause) {
      log("warn", "the stored file list of Drive was damaged, and cannot be created again yet", { cause });
    } finally {
      renewing = false;
    }
  }

  function seen<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isDamaged(cause)) throw cause;
      if (!renewing && !isClosed) {
        renewing = true;
        void renew();
      }
      throw unavailable("the stored file list of Drive was damaged and is created again; try again", cause);
    }
  }

  return new Proxy(first, {
    get(_, key) {
      if (key === "generation") return generation;
      const value: unknown = seen(() => Reflect.get(ledger, key));
      if (key === "close") isClosed = true;
      if (typeof value !== "function") return value;
      return (...requested: unknown[]): unknown => seen(() => Reflect.apply(value, ledger, requested));
    },
  });
}

/** Whether a file is no database, a damaged or truncated one, or has lost its tables: https://sqlite.org/rescode.html */
function isDamaged(cause: unknown): boolean {
  const { errcode, message } = cause as { readonly errcode?: unknown; readonly message?: unknown };
  const code = Number(errcode);
  const [error, corrupt, notDatabase, shortRead] = [1, 11, 26, 522];
  if (code === error) return String(message).startsWith("no such table");
  return (code & 0xff) === corrupt || (code & 0xff) === notDatabase || code === shortRead;
}

/** Differs for another account and another selection of served files. */
export function ledgerKey(options: DriveSourceOptions): string {
  const { myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl } = options;
  const made = [ledgerVersion, myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl];
  return createHash("sha256").update(JSON.stringify(made)).digest("hex").slice(0, 32);
}
