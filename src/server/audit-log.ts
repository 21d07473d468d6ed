/** A log of who read what: one JSON object per line, rotated, in the state folder. Never contains content. */
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Runtime } from "../runtime.ts";

/** What happened. Absent members are unknown or do not apply. */
export interface AuditEvent {
  readonly what: "read" | "search" | "act" | "watch" | "sign-in" | "token" | "trust" | "config" | "quota";
  readonly caller?: string;
  /** Address of the client; for sessions of older revisions, of the client that opened the session. */
  readonly address?: string;
  readonly outcome: "allowed" | "denied" | "missing" | "failed";
  /** Hashed if the config says so. */
  readonly uri?: string;
  /** Number of the rule that decided, from 1. */
  readonly rule?: number;
  readonly bytes?: number;
  readonly count?: number;
  /** Only if the config says so. */
  readonly query?: string;
  readonly detail?: string;
}

export interface AuditEntry extends AuditEvent {
  readonly time: string;
}

interface AuditOptions {
  readonly folder: string;
  /** Size at which a new file begins. */
  readonly maxBytes?: number;
  /** Number of files to keep. */
  readonly maxFiles?: number;
  readonly hashUris?: boolean;
  readonly queries?: boolean;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

export interface AuditLog {
  /** Written soon; never throws. */
  write(event: AuditEvent): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

const current = "audit.jsonl";
const rotated = /^audit-\d{8}T\d{9}Z-\d+\.jsonl$/;
/** Lines are written together after this long. */
const flushMs = 100;
/** Lines that wait for a slow disk; more are counted and left out. */
const maxWaiting = 10_000;

/** The folder of the audit log of a config. */
export function auditFolder(stateFolder: string, config: string): string {
  return join(stateFolder, "audit", createHash("sha256").update(config).digest("hex").slice(0, 32));
}

export function createAuditLog(options: AuditOptions): AuditLog {
  const { folder, maxBytes = 10 * 1024 * 1024, maxFiles = 10, hashUris = false, queries = false, runtime } = options;
  const file = join(folder, current);
  let waiting: string[] = [];
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let hasFailed = false;
  let rotations = 0;

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return writing;
    const lines = waiting;
    waiting = [];
    return (writing = writing.then(() => append(lines)).catch(sayFailure));
  }

  async function append(lines: readonly string[]): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    if (size >= maxBytes) await rotate();
    await appendFile(file, lines.join(""), { mode: 0o600 });
    if (size === 0) await chmod(file, 0o600);
    hasFailed = false;
  }

  async function rotate(): Promise<void> {
    const time = new Date(runtime.now()).toISOString().replaceAll(/[-:.]/g, "");
    rotations += 1;
    await rename(file, join(folder, `audit-${time}-${rotations}.jsonl`));
    const old = (await readdir(folder)).filter((name) => rotated.test(name)).sort();
    for (const name of old.slice(0, Math.max(0, old.length - (maxFiles - 1)))) await rm(join(folder, name));
  }

  function sayFailure(cause: unknown): void {
    if (!hasFailed) runtime.log("error", "the audit log cannot be written; what happens is not recorded", { cause });
    hasFailed = true;
  }

  return {
    write({ uri, query, ...event }) {
      if (waiting.length >= maxWaiting) {
        lost += 1;
        return;
      }
      const time = new Date(runtime.now()).toISOString();
      const shownUri =
        uri === undefined || !hashUris ? uri : `sha256:${createHash("sha256").update(uri).digest("hex")}`;
      const entry: AuditEntry = { time, ...event, uri: shownUri, query: queries ? query : undefined };
      waiting.push(`${JSON.stringify(entry)}\n`);
      if (lost > 0) {
        const detail = `${lost} events could not be recorded`;
        waiting.push(`${JSON.stringify({ time, what: "config", outcome: "failed", detail } satisfies AuditEntry)}\n`);
        lost = 0;
      }
      timer ??= setTimeout(() => void flush(), flushMs).unref();
    },
    close: flush,
  };
}

/** All entries of a log, oldest first. Lines that cannot be read are left out. */
export async function* readAuditLog(folder: string): AsyncGenerator<AuditEntry> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => rotated.test(name)).sort();
  for (const name of [...names, current]) {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    for (const line of text.split("\n")) {
      if (line === "") continue;
      try {
        yield JSON.parse(line) as AuditEntry;
      } catch {
        // A line that was cut by a crash.
      }
    }
  }
}
