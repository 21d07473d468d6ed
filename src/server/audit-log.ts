/** A log of who read what: in files of the state folder, one JSON object per line, or shared by instances. Never contains content. */
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../lib/parse-json.ts";
import type { Runtime } from "../runtime.ts";
import { toAuditEntries, toAuditEntry } from "./audit-entry.ts";

/** What happened. Absent members are unknown or do not apply. */
export interface AuditEvent {
  readonly what: "read" | "search" | "act" | "watch" | "sign-in" | "token" | "trust" | "config" | "quota";
  readonly caller?: string;
  /** Address of the client; for sessions of older revisions, of the client that opened the session. */
  readonly address?: string;
  readonly outcome: "allowed" | "denied" | "missing" | "failed";
  /** Hashed if the config says so. */
  readonly uri?: string;
  /** Several instead of one. */
  readonly uris?: readonly string[];
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
  /** The members that are stored without their middle because they were longer than 2 KiB: the size in UTF-8 and the SHA-256 of the whole text. */
  readonly cut?: Partial<Record<"caller" | "uri" | "query" | "detail", CutAuditText>>;
  /** The instance that wrote it, if several share the log. */
  readonly instance?: string;
}

interface CutAuditText {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface AuditOptions {
  readonly hashUris?: boolean;
  readonly queries?: boolean;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

interface FileAuditOptions extends AuditOptions {
  readonly folder: string;
  /** Size at which a new file begins. */
  readonly maxBytes?: number;
  /** Number of files to keep. */
  readonly maxFiles?: number;
}

interface AuditSinkOptions extends AuditOptions {
  /** Stores entries in order; called once at a time. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** Delay before entries are stored again that could not be. Default: they are lost. */
  readonly retryMs?: number;
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

export function createAuditLog({
  folder,
  maxBytes = 10 * 1024 * 1024,
  maxFiles = 10,
  ...options
}: FileAuditOptions): AuditLog {
  const { runtime } = options;
  const file = join(folder, current);
  let rotations = 0;

  async function append(entries: readonly AuditEntry[]): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    if (size >= maxBytes) await rotate();
    await appendFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
    if (size === 0) await chmod(file, 0o600);
  }

  async function rotate(): Promise<void> {
    const time = new Date(runtime.now()).toISOString().replaceAll(/[-:.]/g, "");
    rotations += 1;
    await rename(file, join(folder, `audit-${time}-${rotations}.jsonl`));
    const old = (await readdir(folder)).filter((name) => rotated.test(name)).sort();
    for (const name of old.slice(0, Math.max(0, old.length - (maxFiles - 1)))) await rm(join(folder, name));
  }

  return createAuditSink({ ...options, append });
}

/** Collects entries, and stores them together. */
export function createAuditSink(options: AuditSinkOptions): AuditLog {
  const { append, retryMs, runtime } = options;
  let waiting: AuditEntry[] = [];
  /** Events that could not be recorded, and of which the log does not tell yet. */
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isAway = false;
  const failure =
    retryMs === undefined
      ? "the audit log cannot be written; what happens is not recorded"
      : `the audit log cannot be written yet; up to ${maxWaiting} events are kept until it can`;

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (writing = writing.then(store));
  }

  async function store(): Promise<void> {
    if (waiting.length === 0) return;
    const missing = lost;
    lost = 0;
    const entries = missing === 0 ? waiting : [...waiting, lossOf(missing)];
    waiting = [];
    try {
      await append(entries);
    } catch (cause) {
      if (!isAway) runtime.log("error", failure, { cause });
      isAway = true;
      lost += missing;
      const kept = missing === 0 ? entries : entries.slice(0, -1);
      if (retryMs === undefined) {
        lost += kept.length;
        return;
      }
      waiting = [...kept, ...waiting];
      flushIn(retryMs);
      return;
    }
    // By default a server logs no level below "warn", and has logged the failure.
    if (isAway)
      runtime.log(
        "warn",
        `the audit log is written again; ${missing === 0 ? "nothing is missing" : areMissing(missing)}`,
      );
    else if (missing > 0) runtime.log("warn", `${areMissing(missing)} in the audit log`);
    isAway = false;
  }

  function lossOf(count: number): AuditEntry {
    const time = new Date(runtime.now()).toISOString();
    return { time, what: "config", outcome: "failed", detail: `${count} events could not be recorded` };
  }

  function flushIn(ms: number): void {
    timer ??= setTimeout(() => void flush(), ms).unref();
  }

  return {
    write(event) {
      if (waiting.length >= maxWaiting) {
        lost += 1;
        return;
      }
      const time = new Date(runtime.now()).toISOString();
      if (event.uris === undefined) waiting.push(toAuditEntry(time, event, options));
      else waiting.push(...toAuditEntries(time, event, options));
      flushIn(flushMs);
    },
    async close() {
      await flush();
      // No retry: nobody would wait for it.
      clearTimeout(timer);
      timer = undefined;
      const missing = lost + waiting.length;
      if (missing > 0) runtime.log("error", `${areMissing(missing)} in the audit log, because the server stopped`);
      waiting = [];
      lost = 0;
    },
  };
}

function areMissing(count: number): string {
  return count === 1 ? "1 event is missing" : `${count} events are missing`;
}

/** All entries of a log, oldest first. Lines that cannot be read are left out. */
export async function* readAuditLog(folder: string): AsyncGenerator<AuditEntry> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => rotated.test(name)).sort();
  for (const name of [...names, current]) {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    for (const line of text.split("\n")) {
      if (line === "") continue;
      // A line may have been cut by a crash.
      const entry = parseJson(line);
      if (isAuditEntry(entry)) yield entry;
    }
  }
}

/** Another version may have stored something else. */
export function isAuditEntry(value: unknown): value is AuditEntry {
  const { time, what, outcome } = (value ?? {}) as Partial<Record<keyof AuditEntry, unknown>>;
  return [time, what, outcome].every((each) => typeof each === "string") && new Date(String(time)).toJSON() === time;
}
