/** A log in a file. Each line holds the entries of one append, so that an append is stored as a whole or not at all. */
import {
  closeSync,
  createReadStream,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { createInterface } from "node:readline";
import { lastingFailure, unavailable } from "../errors.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { KeptEntries, RecordValue } from "./store.ts";

const newline = 10;

/** The caller holds the lock of the file. */
export function appendEntries(file: string, entries: readonly RecordValue[]): void {
  const fd = openSync(file, "a+", 0o600);
  try {
    removeUnfinishedLine(fd);
    const line = Buffer.from(`${JSON.stringify(entries)}\n`);
    for (let written = 0; written < line.length;) written += writeSync(fd, line, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A process that was killed may have left the beginning of a line. */
function removeUnfinishedLine(fd: number): void {
  const { size } = fstatSync(fd);
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - block.length);
    const read = readSync(fd, block, 0, end - start, start);
    const at = block.subarray(0, read).lastIndexOf(newline);
    if (at !== -1 || start === 0) {
      const length = at === -1 ? 0 : start + at + 1;
      if (length < size) ftruncateSync(fd, length);
      return;
    }
    end = start;
  }
}

/** Oldest first. A file that is replaced meanwhile is read to its end. */
export async function* readEntries(file: string): AsyncGenerator<RecordValue> {
  const input = createReadStream(file, { encoding: "utf8" });
  try {
    let previous: string | undefined;
    let number = 0;
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (previous !== undefined) yield* parse(previous, file, (number += 1));
      previous = line;
    }
    // A last line without its end is being written, or was left by a process that was killed.
    if (previous !== undefined && isWhole(previous)) yield* parse(previous, file, number + 1);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code !== undefined) throw unavailable(`${JSON.stringify(file)} cannot be read; check its permissions`, cause);
    throw cause;
  } finally {
    input.destroy();
  }
}

/** The caller holds the lock of the file. */
export function trimEntries(file: string, { entries: maxEntries, bytes: maxBytes }: KeptEntries): void {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw cause;
  }
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const entries = lines.flatMap((line, index) => (line === "" ? [] : parse(line, file, index + 1)));
  let first = entries.length;
  const kept: string[] = [];
  for (let bytes = 0; first > 0 && kept.length < maxEntries; first -= 1) {
    const entry = JSON.stringify(entries[first - 1]);
    bytes += Buffer.byteLength(entry);
    if (bytes > maxBytes) break;
    kept.push(`[${entry}]\n`);
  }
  if (first > 0) writeFileAtomically(file, kept.toReversed().join(""));
}

function isWhole(line: string): boolean {
  try {
    return Array.isArray(JSON.parse(line));
  } catch {
    return false;
  }
}

function parse(line: string, file: string, number: number): readonly RecordValue[] {
  try {
    const entries: unknown = JSON.parse(line);
    if (Array.isArray(entries)) return entries as RecordValue[];
  } catch {
    // Reported below.
  }
  throw lastingFailure(`line ${number} of ${JSON.stringify(file)} is damaged; restore the file, or remove the line`);
}
