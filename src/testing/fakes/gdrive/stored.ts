/** The files of the fake and their history: increasing versions, and a log for each drive. */

interface FakePermission {
  readonly type: "user" | "group" | "domain" | "anyone";
  readonly emailAddress?: string;
  readonly domain?: string;
  readonly allowFileDiscovery?: boolean;
  readonly expirationTime?: string;
  readonly view?: string;
}

/** A file as a test sets it. Missing fields stay unchanged. */
export interface FakeFile {
  readonly name?: string;
  readonly mimeType?: string;
  readonly parent?: string;
  readonly driveId?: string;
  readonly description?: string;
  /** Of an uploaded file. */
  readonly content?: string | Uint8Array;
  /** Of a Google document, by export type. */
  readonly exports?: Readonly<Record<string, string | Uint8Array>>;
  readonly target?: string;
  readonly canDownload?: boolean;
  readonly permissions?: readonly FakePermission[];
  readonly owner?: string;
}

export interface StoredFile extends FakeFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly owner: string;
  readonly version: number;
  readonly modifiedTime: string;
  readonly isTrashed: boolean;
}

export interface FakeSharedDrive {
  readonly id: string;
  readonly name: string;
  /** Mail addresses. */
  readonly members: readonly string[];
}

/** A change in a log; "drive" for a shared drive that was added, removed or changed. */
interface LoggedChange {
  readonly seq: number;
  readonly log: string;
  readonly fileId?: string;
  readonly driveId?: string;
}

export interface FakeStore {
  readonly files: ReadonlyMap<string, StoredFile>;
  readonly drives: ReadonlyMap<string, FakeSharedDrive>;
  readonly log: readonly LoggedChange[];
  readonly seq: number;
  put(id: string, file: FakeFile): StoredFile;
  trash(id: string): void;
  remove(id: string): void;
  setDrive(id: string, drive: Omit<FakeSharedDrive, "id"> | undefined): void;
  maySee(user: string, file: StoredFile): boolean;
}

const startMs = Date.UTC(2026, 0, 1);

export function createDriveStore(owner: string, changed: (log: string) => void): FakeStore {
  const files = new Map<string, StoredFile>();
  const drives = new Map<string, FakeSharedDrive>();
  const log: LoggedChange[] = [];
  let seq = 100;

  function note(change: Omit<LoggedChange, "seq">): void {
    seq += 1;
    log.push({ ...change, seq });
    changed(change.log);
  }

  return {
    files,
    drives,
    log,
    get seq() {
      return seq;
    },

    put(id, given) {
      const before = files.get(id);
      const version = (before?.version ?? 0) + 1;
      const isContent = given.content !== undefined || given.exports !== undefined || !before;
      const file: StoredFile = {
        name: id,
        mimeType: "text/plain",
        owner,
        ...before,
        ...given,
        id,
        version,
        isTrashed: false,
        modifiedTime: isContent ? new Date(startMs + seq * 1000).toISOString() : (before?.modifiedTime ?? ""),
      };
      files.set(id, file);
      // A move to another drive appears in both logs.
      const was = before?.driveId ?? "";
      const now = file.driveId ?? "";
      if (before && was !== now) note({ log: was, fileId: id });
      note({ log: now, fileId: id });
      return file;
    },

    trash(id) {
      const file = files.get(id)!;
      files.set(id, { ...file, isTrashed: true, version: file.version + 1 });
      note({ log: file.driveId ?? "", fileId: id });
    },

    remove(id) {
      const file = files.get(id);
      files.delete(id);
      if (file) note({ log: file.driveId ?? "", fileId: id });
    },

    setDrive(id, drive) {
      if (drive) drives.set(id, { ...drive, id });
      else {
        drives.delete(id);
        for (const file of files.values()) if (file.driveId === id) files.delete(file.id);
      }
      note({ log: "", driveId: id });
    },

    maySee(user, { driveId, owner: whose, permissions = [] }) {
      if (driveId !== undefined && drives.get(driveId)?.members.includes(user)) return true;
      const isNamed = permissions.some(
        ({ type, emailAddress }) => type === "anyone" || (type === "user" && emailAddress === user),
      );
      return isNamed || (driveId === undefined && whose === user);
    },
  };
}
