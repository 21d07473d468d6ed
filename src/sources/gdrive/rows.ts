/** What stands in the ledger, in our words. */
import type { DriveFile, DrivePermission } from "./drive-objects.ts";

export interface DriveChangeLog {
  /** "" for the account's own, else the id of a shared drive. */
  readonly name: string;
  /** Where its changes go on. While it is being listed: what to begin from afterwards. */
  readonly token: string;
  /** Whether all of its files are in; until then, the number of the look that is under way. */
  readonly isListed: boolean;
  readonly look: number;
}

/** A file as it is known here. */
export interface LedgerRow extends Omit<DriveFile, "isTrashed" | "driveId"> {
  readonly kind: "file" | "folder" | "shortcut";
  /** Whether it is in lists: there, readable, and below what is served. */
  readonly isShown: boolean;
}

/** A file and what opens it, where it is shared by a link. */
export type Opened = Pick<DriveFile, "id" | "resourceKey">;

export interface LedgerChange {
  readonly id: string;
  readonly kind: "appeared" | "changed" | "gone";
  readonly of: LedgerRow["kind"];
  /** The folders into which it came, in which it has another name, or that it left. */
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

/** Where a shortcut leads. */
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

/** Undefined for what no one has seen and no one sees. */
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
