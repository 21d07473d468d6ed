/** What an index consists of on disk: the database, who may write it, and how far it has come. */
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { IndexStatus } from "./status.ts";

export interface IndexFolder {
  readonly database: string;
  readonly lock: string;
  /** On disk, all files together. */
  bytes(): number;
  /** As the one who writes the index said it last. */
  readStatus(): IndexStatus | undefined;
  writeStatus(status: IndexStatus | undefined): void;
  /** For whoever has the lease. */
  removeDatabase(): void;
}

/** Made for its owner alone: an index holds the text of what was indexed. */
export function indexFolder(folder: string): IndexFolder {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, "index.db");
  const status = join(folder, "status.json");
  const files = [database, `${database}-wal`, `${database}-shm`];
  return {
    database,
    lock: join(folder, "lock.db"),

    bytes: () => files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0),

    readStatus() {
      try {
        return JSON.parse(readFileSync(status, "utf8")) as IndexStatus;
      } catch {
        return undefined;
      }
    },

    writeStatus(now) {
      if (now === undefined) return rmSync(status, { force: true });
      writeFileAtomically(status, JSON.stringify(now), { isLasting: false });
    },

    removeDatabase() {
      for (const file of [...files, status]) rmSync(file, { force: true });
    },
  };
}
