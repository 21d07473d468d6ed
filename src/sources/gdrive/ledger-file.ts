/** Where the ledger of a mount stands: beside what can be made again, one for each account and each choice of what is served. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileIdentity } from "../../lib/file-identity.ts";
import { cacheFolder, systemPathsOf } from "../../lib/system-paths.ts";
import { ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import type { DriveSourceOptions } from "./options.ts";

/** Changes with what stands in a ledger, so that it is made anew. */
const ledgerVersion = 2;

/** Where it cannot be kept, that is said, and it lives as long as the mount. */
export async function openLedgerFile(options: DriveSourceOptions, runtime: Runtime): Promise<Ledger> {
  const { folders, keep } = options;
  if (!keep) return openLedger({ file: undefined, folders });
  const file = join(cacheFolder(systemPathsOf(process.env)), "gdrive", `${keyOf(options)}.sqlite`);
  try {
    const ledger = await openLedger({ file, folders }).catch((cause: unknown) => {
      if (!isDamaged(cause)) throw cause;
      throwAway(file);
      return openLedger({ file, folders });
    });
    return renewed(ledger, file, () => openLedger({ file, folders }), runtime);
  } catch (cause) {
    runtime.log("warn", "what is known of Drive cannot be kept, so all of it is looked at after each start", { cause });
    return openLedger({ file: undefined, folders });
  }
}

/** All of it can be had again. */
function throwAway(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

/** Damage in the middle shows only when one comes there. The file is then thrown away and made anew, unless another thread or process has done so. */
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
      log("warn", "what is kept of Drive was damaged, and cannot be made anew yet", { cause });
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
      throw new ResourceError("unavailable", "what is kept of Drive was damaged and is made anew; try again", {
        cause,
      });
    }
  }

  return new Proxy(first, {
    get(_, key) {
      if (key === "generation") return generation;
      const value: unknown = seen(() => Reflect.get(ledger, key));
      if (key === "close") isClosed = true;
      if (typeof value !== "function") return value;
      return (...asked: unknown[]): unknown => seen(() => Reflect.apply(value, ledger, asked));
    },
  });
}

/** Whether a file is no database, or one that was broken or cut short: https://sqlite.org/rescode.html */
function isDamaged(cause: unknown): boolean {
  const code = Number((cause as { readonly errcode?: unknown }).errcode);
  const [corrupt, notDatabase, shortRead] = [11, 26, 522];
  return (code & 0xff) === corrupt || (code & 0xff) === notDatabase || code === shortRead;
}

function keyOf(options: DriveSourceOptions): string {
  const { myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl } = options;
  const made = [ledgerVersion, myDrive, drives, folders, keyFile, subject, account, anonymous, access, rootUrl];
  return createHash("sha256").update(JSON.stringify(made)).digest("hex").slice(0, 32);
}
