/** Parses the objects of the Drive API: everything from there is validated before use. */

export interface DrivePermission {
  readonly type: string;
  readonly email?: string;
  readonly domain?: string;
  /** Whether users can find the file, not only open it by its link. */
  readonly isDiscoverable: boolean;
  /** ISO 8601. */
  readonly expires?: string;
}

export interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description?: string;
  readonly parent?: string;
  /** The shared drive that contains it. */
  readonly driveId?: string;
  /** Counts every change, also of name or folder. */
  readonly version: number;
  readonly modifiedTime?: string;
  readonly size?: number;
  readonly md5?: string;
  readonly isTrashed: boolean;
  readonly canDownload: boolean;
  /** Opens a file shared by a link. */
  readonly resourceKey?: string;
  readonly target?: { readonly id: string; readonly resourceKey?: string };
  /** Absent if Drive does not return it: for files in a shared drive, and for files that we may not share. */
  readonly permissions?: readonly DrivePermission[];
}

export interface SharedDrive {
  readonly id: string;
  readonly name: string;
}

export type DriveChange =
  | { readonly kind: "file"; readonly file: DriveFile }
  /** Deleted, or no longer visible to us. */
  | { readonly kind: "removed"; readonly id: string }
  /** A shared drive was changed, added or removed. */
  | { readonly kind: "drive" };

export const folderType = "application/vnd.google-apps.folder";
export const shortcutType = "application/vnd.google-apps.shortcut";

const permissionFields = "type,emailAddress,domain,allowFileDiscovery,expirationTime,deleted,view";
export const permissionListFields = `permissions(${permissionFields}),nextPageToken`;

/** The requested fields: by default Drive returns almost none. */
export function fileFields(withPermissions: boolean): string {
  const always =
    "id,name,mimeType,description,parents,driveId,version,modifiedTime,size,md5Checksum,trashed,resourceKey,shortcutDetails(targetId,targetResourceKey),capabilities(canDownload)";
  return withPermissions ? `${always},permissions(${permissionFields})` : always;
}

/** Drive ids have no other characters; other text could change the meaning of a URL or query. */
export function isDriveId(text: string): boolean {
  return /^[\w-]{1,256}$/.test(text);
}

const maxLength = 1000;

type Said = Readonly<Record<string, unknown>>;

export function isDriveObject(value: unknown): value is Said {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textIn(given: Said, name: string): string | undefined {
  const value = given[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listIn(given: Said, name: string): readonly Said[] {
  const value = given[name];
  return Array.isArray(value) ? value.filter(isDriveObject) : [];
}

/** Undefined for an invalid object. */
export function toDriveFile(given: unknown): DriveFile | undefined {
  if (!isDriveObject(given)) return undefined;
  const [id, mimeType] = [textIn(given, "id"), textIn(given, "mimeType")];
  if (id === undefined || !isDriveId(id) || mimeType === undefined) return undefined;
  const parents = given["parents"];
  const parent: unknown = Array.isArray(parents) ? parents[0] : undefined;
  const capabilities = given["capabilities"];
  const details = given["shortcutDetails"];
  const modified = textIn(given, "modifiedTime");
  return {
    id,
    mimeType: isFileType(mimeType) ? mimeType : "application/octet-stream",
    name: shortIn(given, "name") ?? id,
    version: numberIn(given, "version") ?? 0,
    isTrashed: given["trashed"] === true,
    canDownload: !isDriveObject(capabilities) || capabilities["canDownload"] !== false,
    description: shortIn(given, "description"),
    parent: typeof parent === "string" && isDriveId(parent) ? parent : undefined,
    driveId: textIn(given, "driveId"),
    modifiedTime: modified !== undefined && Number.isNaN(Date.parse(modified)) ? undefined : modified,
    size: numberIn(given, "size"),
    md5: textIn(given, "md5Checksum"),
    resourceKey: textIn(given, "resourceKey"),
    target: isDriveObject(details) ? targetOf(details) : undefined,
    permissions: Array.isArray(given["permissions"]) ? toPermissions(given) : undefined,
  };
}

/** Permissions that allow reading. Deleted ones, and views that show less than the file, allow none. */
export function toPermissions(given: Said): DrivePermission[] {
  return listIn(given, "permissions").flatMap((each) => {
    const type = textIn(each, "type");
    if (type === undefined || each["deleted"] === true || textIn(each, "view") !== undefined) return [];
    const [email, domain, expires] = ["emailAddress", "domain", "expirationTime"].map((name) => textIn(each, name));
    const isDiscoverable = each["allowFileDiscovery"] === true;
    return [{ type, isDiscoverable, email: email?.toLowerCase(), domain: domain?.toLowerCase(), expires }];
  });
}

export function toChange(given: Said): DriveChange | undefined {
  if (given["changeType"] === "drive") return { kind: "drive" };
  const id = textIn(given, "fileId");
  const file = toDriveFile(given["file"]);
  if (given["removed"] !== true && file) return { kind: "file", file };
  return id !== undefined && isDriveId(id) ? { kind: "removed", id } : undefined;
}

/** The uploader chooses the type: it must not pass for a directory. */
function isFileType(mimeType: string): boolean {
  return /^[\w.+-]{1,127}\/[\w.+-]{1,127}$/.test(mimeType) && !mimeType.startsWith("inode/");
}

/** Cut to a sensible length, never inside a character. */
function shortIn(given: Said, name: string): string | undefined {
  return textIn(given, name)?.slice(0, maxLength).toWellFormed();
}

/** Numbers are sent as texts. */
function numberIn(given: Said, name: string): number | undefined {
  const value = given[name];
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function targetOf(details: Said): DriveFile["target"] {
  const [id, resourceKey] = [textIn(details, "targetId"), textIn(details, "targetResourceKey")];
  if (id === undefined || !isDriveId(id)) return undefined;
  return { id, resourceKey };
}
