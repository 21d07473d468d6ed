/** Rows of the ledger, and their conversion. */
import type { DriveFile, DrivePermission } from "./drive-objects.ts";

export interface DriveChangeLog {
  /** "" for the account's own files, else the id of a shared drive. */
  readonly name: string;
  /** Where its changes continue. During a listing: where to start afterwards. */
  readonly token: string;
  /** Whether all its files are in the ledger; until then, the number of the running scan. */
  readonly isListed: boolean;
  readonly look: number;
}

/** A file in the ledger. */
export interface LedgerRow extends Omit<DriveFile, "isTrashed" | "driveId"> {
  readonly kind: "file" | "folder" | "shortcut";
  /** Whether it is listed: it exists, is readable, and lies below a served folder. */
  readonly isShown: boolean;
}

/** A file id, with its resource key if it is shared by a link. */
export type Opened = Pick<DriveFile, "id" | "resourceKey">;

export interface LedgerChange {
  readonly id: string;
  readonly kind: "appeared" | "changed" | "gone";
  readonly of: LedgerRow["kind"];
  /** Folders that it entered or left, or in which it was renamed. */
  readonly places: readonly { readonly folder: string; readonly kind: "appeared" | "gone" }[];
}

export type Raw = Readonly<Record<string, unknown>>;

export function toLog(row: Raw): DriveChangeLog {
  return {
    name: String(row["name"]),
    token: String(row["token"]),
    isListed: row["listed"] === 1,
    look: Number(row["look"]),
  };
}

/** The target of a shortcut. */
export function toOpened(row: Raw): Opened {
  const { target, target_key: key } = row;
  return { id: String(target), ...(key !== null && { resourceKey: String(key) }) };
}

export function toRow(row: Raw): LedgerRow {
  const optional = {
    description: row["description"],
    parent: row["parent"],
    modifiedTime: row["modified"],
    size: row["size"],
    md5: row["md5"],
    resourceKey: row["resource_key"],
    target:
      row["target"] === null
        ? null
        : { id: row["target"], ...(row["target_key"] !== null && { resourceKey: row["target_key"] }) },
    permissions: row["permissions"] === null ? null : (JSON.parse(String(row["permissions"])) as DrivePermission[]),
  };
  return {
    id: String(row["id"]),
    kind: row["kind"] as LedgerRow["kind"],
    name: String(row["name"]),
    mimeType: String(row["mime"]),
    version: Number(row["version"]),
    canDownload: row["downloads"] === 1,
    isShown: row["shown"] === 1,
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)) as Partial<LedgerRow>),
  };
}

/** Undefined for a file that was never shown and is not shown now. */
export function changeOf(row: Raw, moves: readonly Raw[], seq: number): LedgerChange | undefined {
  const [born, died, isShown] = [Number(row["born"]), Number(row["died"]), row["shown"] === 1];
  if (!isShown && died <= seq) return undefined;
  const kind = isShown ? (born > seq ? "appeared" : "changed") : "gone";
  const left = moves.map(({ parent }) => parent).filter((parent) => parent !== row["parent"]);
  const isPlaced = kind !== "changed" || Number(row["placed"]) > seq;
  const places = [
    ...(isPlaced && row["parent"] !== null
      ? [{ folder: String(row["parent"]), kind: isShown ? "appeared" : "gone" } as const]
      : []),
    ...left.map((folder) => ({ folder: String(folder), kind: "gone" }) as const),
  ];
  return { id: String(row["id"]), kind, of: row["kind"] as LedgerRow["kind"], places };
}
