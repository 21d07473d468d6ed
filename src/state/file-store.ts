/** Records and logs in files below a folder, for the processes of one machine. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { lastingFailure, ResourceError, unavailable } from "../errors.ts";
import { FileLockError, withFileLock } from "../lib/file-lock.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { Runtime } from "../runtime.ts";
import { checkKey, checkName, compareKeys } from "./check-key.ts";
import { appendEntries, readEntries, trimEntries } from "./file-log.ts";
import { followFolder } from "./follow-folder.ts";
import type { RecordValue, Store, StoredRecord } from "./store.ts";

export interface FileStoreOptions {
  /** Created with the first change. */
  readonly folder: string;
  readonly runtime: Pick<Runtime, "now" | "wait">;
}

interface RecordFile extends StoredRecord {
  /** Milliseconds since the epoch. */
  readonly expires?: number;
}

export function createFileStore({ folder, runtime }: FileStoreOptions): Store {
  const closing = new AbortController();
  const kindFolder = (kind: string): string => join(folder, "records", fileName(kind));
  const recordFile = (kind: string, key: string): string =>
    join(kindFolder(kind), `${createHash("sha256").update(key).digest("hex")}.json`);
  const logFile = (log: string): string => join(folder, "logs", `${fileName(log)}.jsonl`);

  /** Undefined if it is missing or has expired. */
  function load(file: string): StoredRecord | undefined {
    const text = readText(file);
    if (text === undefined) return undefined;
    try {
      const { key, value, version, expires = Infinity } = JSON.parse(text) as RecordFile;
      if (typeof key !== "string" || typeof version !== "string" || typeof value !== "object")
        throw new TypeError("unknown format");
      return expires > runtime.now() ? { key, value, version } : undefined;
    } catch (cause) {
      throw lastingFailure(`the record in ${JSON.stringify(file)} is damaged; restore or remove it`, cause);
    }
  }

  /** One change at a time among all processes. */
  async function change<T>(file: string, work: () => T): Promise<T> {
    try {
      return await withFileLock(file, work, { folder: join(folder, "locks"), signal: closing.signal });
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      if (cause instanceof FileLockError) throw unavailable(cause.message, cause);
      throw unavailable(`${JSON.stringify(file)} cannot be written; check its permissions and space`, cause);
    }
  }

  return {
    async get(kind, key) {
      checkName(kind);
      checkKey(key);
      return load(recordFile(kind, key));
    },

    async list(kind) {
      checkName(kind);
      const files = namesIn(kindFolder(kind)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
      const found = files.flatMap((name) => load(join(kindFolder(kind), name)) ?? []);
      return found.sort((a, b) => compareKeys(a.key, b.key));
    },

    async put(kind, key, value, options = {}) {
      checkName(kind);
      checkKey(key);
      const file = recordFile(kind, key);
      const { expiresInMs } = options;
      const record: StoredRecord = {
        key,
        value: JSON.parse(JSON.stringify(value)) as RecordValue,
        version: randomUUID(),
      };
      return change(file, () => {
        if ("ifVersion" in options && load(file)?.version !== options.ifVersion) return undefined;
        mkdirSync(kindFolder(kind), { recursive: true, mode: 0o700 });
        const content: RecordFile = {
          ...record,
          ...(expiresInMs !== undefined && { expires: runtime.now() + expiresInMs }),
        };
        writeFileAtomically(file, JSON.stringify(content));
        return record;
      });
    },

    async remove(kind, key) {
      checkName(kind);
      checkKey(key);
      const file = recordFile(kind, key);
      if (readText(file) === undefined) return false;
      return change(file, () => {
        const isFound = load(file) !== undefined;
        rmSync(file, { force: true });
        return isFound;
      });
    },

    async append(log, entries) {
      checkName(log);
      if (entries.length === 0) return;
      const file = logFile(log);
      await change(file, () => {
        mkdirSync(join(folder, "logs"), { recursive: true, mode: 0o700 });
        appendEntries(file, entries);
      });
    },

    read(log) {
      checkName(log);
      return readEntries(logFile(log));
    },

    async trim(log, keep) {
      checkName(log);
      const file = logFile(log);
      await change(file, () => trimEntries(file, keep));
    },

    async follow(kind, changed, signal) {
      checkName(kind);
      const either = AbortSignal.any([signal, closing.signal]);
      if (either.aborted) return;
      const path = kindFolder(kind);
      try {
        mkdirSync(path, { recursive: true, mode: 0o700 });
      } catch (cause) {
        throw unavailable(`the folder ${JSON.stringify(path)} cannot be created; check its permissions`, cause);
      }
      followFolder(path, changed, runtime, either);
    },

    async close() {
      closing.abort();
    },
  };
}

/** Replaces characters that some systems do not allow in names of files. There are no capital letters, so names differ also where case is ignored. */
function fileName(name: string): string {
  return name.replaceAll(":", "%3a").replace(/\.$/, "%2e");
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unavailable(`${JSON.stringify(file)} cannot be read; check its permissions`, cause);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw unavailable(`${JSON.stringify(folder)} cannot be read; check its permissions`, cause);
  }
}
