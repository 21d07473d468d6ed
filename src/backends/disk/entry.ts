/** Metadata of a file or folder, without opening it. */
import type { BigIntStats, Stats } from "node:fs";
import { documentTypes, pictureTypes } from "../documents/document-types.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Entry } from "../../source.ts";
import { iconsOf } from "./icons.ts";

/** Added to each document, so that a client knows that its text can be requested. */
const asTextMeta: Readonly<Record<string, unknown>> = { "pressmark/as": ["text"] };

/** The stats of a file that are used. Plain numbers: bigints would cost more than the system call when many files are listed. */
export type FileFacts = Pick<Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs">;

/** The same numbers as from a stat call without bigints. */
export function fileFactsOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileFacts {
  return { dev: Number(dev), ino: Number(ino), size: Number(size), mtimeMs: toMs(mtimeNs), ctimeMs: toMs(ctimeNs) };
}

function toMs(ns: bigint): number {
  return Number(ns / 1_000_000_000n) * 1000 + Number(ns % 1_000_000_000n) / 1e6;
}

export interface FileEntryOptions {
  readonly icons?: boolean | undefined;
  /** Whether the text of pictures can be requested. */
  readonly ocr?: boolean | undefined;
}

/** Includes a version if it is certain to differ after the next change. */
export function fileEntry(
  path: string,
  name: string,
  facts: FileFacts,
  hasVersion: boolean,
  { icons = false, ocr = false }: FileEntryOptions,
): Entry {
  const { size } = facts;
  const annotations = { lastModified: toIso(facts.mtimeMs) };
  const mimeType = mimeOfName(name);
  const version = hasVersion ? versionOf(facts) : undefined;
  const hasText = mimeType !== undefined && (documentTypes.has(mimeType) || (ocr && pictureTypes.has(mimeType)));
  // The common case, as one object literal for speed.
  if (mimeType !== undefined && !icons && !hasText)
    return version === undefined
      ? { path, name, size, annotations, mimeType }
      : { path, name, size, annotations, mimeType, version };
  return {
    path,
    name,
    size,
    annotations,
    mimeType,
    version,
    ...(hasText && { meta: asTextMeta }),
    ...(icons && { icons: iconsOf(mimeType) }),
  };
}

export function folderEntry(path: string, name: string, { mtimeMs }: FileFacts, { icons }: FileEntryOptions): Entry {
  const annotations = { lastModified: toIso(mtimeMs) };
  const folder = { path, name, mimeType: directoryType, annotations };
  return icons ? { ...folder, icons: iconsOf(directoryType) } : folder;
}

let lastDev = Number.NaN;
let devText = "";
let lastChange = Number.NaN;
let changeText = "";

/**
 * Differs after every change of a file. Built from whole numbers, which are formatted quickly; the two times are usually equal, until a
 * program sets the first or someone moves the file.
 */
export function versionOf({ dev, ino, size, mtimeMs, ctimeMs }: FileFacts): string {
  if (dev !== lastDev) {
    lastDev = dev;
    devText = `${dev}-`;
  }
  const second = Math.floor(ctimeMs / 1000);
  if (second !== lastChange) {
    lastChange = second;
    changeText = `-${second}-`;
  }
  const version = `${devText}${ino}${changeText}${Math.round((ctimeMs - second * 1000) * 1e6)}-${size}`;
  return mtimeMs === ctimeMs ? version : `${version}-${mtimeMs}`;
}

const maxDateMs = 8.64e15;
let lastSecond = Number.NaN;
let lastText = "";
/** Cached date endings, from `.000Z` to `.999Z`. */
const endings: string[] = [];

/** Same as `Date.prototype.toISOString`, but much faster for many times within one second, as in a checkout. */
export function toIso(ms: number): string {
  if (!(Math.abs(ms) <= maxDateMs)) return new Date(0).toISOString();
  const whole = Math.floor(ms);
  const second = Math.floor(whole / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = toSecond(second);
  }
  const thousandths = whole - second * 1000;
  return lastText + (endings[thousandths] ??= `.${String(thousandths).padStart(3, "0")}Z`);
}

const daySeconds = 86_400;
let lastDay = Number.NaN;
let lastDate = "";

function toSecond(second: number): string {
  const day = Math.floor(second / daySeconds);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = new Date(day * daySeconds * 1000).toISOString().slice(0, -"00:00:00.000Z".length);
  }
  const left = second - day * daySeconds;
  const minutes = Math.floor(left / 60);
  return `${lastDate}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(left % 60)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}
