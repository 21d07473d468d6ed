/** A log of who read what: in files of the state folder, one JSON object per line, or shared by instances. Never contains content. */
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../lib/parse-json.ts";
import type { Runtime } from "../runtime.ts";
import { createAuditSink } from "./audit-sink.ts";

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

export interface AuditLog {
  /**
   * Written soon; never throws. If more waits to be written than may, returns a promise that resolves when there is room again, or when nothing can be
   * written: a request is answered after that, so that no caller can make the log lose events.
   */
  write(event: AuditEvent): Promise<void> | undefined;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

const current = "audit.jsonl";
const rotated = /^audit-\d{8}T\d{9}Z-\d+\.jsonl$/;

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
