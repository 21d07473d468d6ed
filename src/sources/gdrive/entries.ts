/** Drive files and folders as entries, addressed by id: a renamed or moved file keeps its address. */
import { documentTypes } from "../../backends/documents/document-types.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Entry } from "../../source.ts";
import { isNative, usualType } from "./formats.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerRow } from "./rows.ts";

/** The fields that describe a file. */
export type DriveFileFacts = Pick<LedgerRow, "id" | "name" | "mimeType" | "version"> &
  Partial<Pick<LedgerRow, "description" | "modifiedTime" | "size" | "md5">>;

/** `isJudged` if not every caller may see it: then it is checked again when it is shown. */
export function toEntry(file: DriveFileFacts, isJudged: boolean): Entry {
  const { id, name, mimeType, description, modifiedTime, size } = file;
  const path = `file/${id}`;
  const meta = {
    ...(isNative(mimeType) && { "pressmark/driveType": mimeType }),
    ...(documentTypes.has(mimeType) && { "pressmark/as": ["text"] }),
  };
  return {
    path,
    name,
    title: name,
    mimeType: typeOf(file),
    version: versionOf(file),
    description,
    // For exported files, Drive reports the storage used, not the length.
    ...(size !== undefined && !isNative(mimeType) && { size }),
    ...(modifiedTime !== undefined && { annotations: { lastModified: modifiedTime } }),
    ...(Object.keys(meta).length > 0 && { meta }),
    ...(isJudged && { reveals: { path } }),
  };
}

const generic = new Set(["application/octet-stream", "text/plain"]);

/** The type that Drive states, unless it is generic: then by the name. */
function typeOf({ name, mimeType }: DriveFileFacts): string {
  return (generic.has(mimeType) ? mimeOfName(name) : undefined) ?? usualType(mimeType);
}

/** Google documents have no checksum. The version includes everything that an entry shows. */
function versionOf({ md5, name, version, modifiedTime = "" }: DriveFileFacts): string {
  return md5 === undefined ? `${version} ${modifiedTime}` : `${md5} ${name}`;
}

export function toFolder({ id, name }: Pick<LedgerRow, "id" | "name">, isJudged: boolean): Entry {
  const path = `folder/${id}`;
  return { path, name, title: name, mimeType: directoryType, ...(isJudged && { reveals: { path } }) };
}

/** The direct children of a folder, each once and in address order; a shortcut counts as its target. */
export function driveChildren(ledger: Ledger, folder: string, isJudged: boolean): Entry[] {
  const found = new Map<string, Entry>();
  let above: ReadonlySet<string> | undefined;
  for (const row of ledger.childrenOf(folder)) {
    const real = row.kind === "shortcut" ? targetOf(ledger, row) : row;
    if (!real?.isShown) continue;
    // A shortcut to a parent folder would make a cycle.
    if (row !== real && real.kind === "folder" && (above ??= ledger.above(folder)).has(real.id)) continue;
    const entry = real.kind === "folder" ? toFolder(real, isJudged) : toEntry(real, isJudged);
    found.set(entry.path, entry);
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The target of a shortcut; a shortcut to a shortcut leads nowhere. */
export function targetOf(ledger: Ledger, { target }: Pick<LedgerRow, "target">): LedgerRow | undefined {
  const row = target && ledger.row(target.id);
  return row?.kind === "shortcut" ? undefined : row;
}
