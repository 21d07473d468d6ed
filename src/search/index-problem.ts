/** Reasons why an index cannot be opened or written, as messages for people. No message names a path, because callers see it too. */

export type ProblemReason =
  | "read-only"
  | "no-permission"
  | "disk-full"
  | "damaged"
  | "replaced"
  | "blocked"
  | "too-many-files"
  | "other-version"
  | "failed";

export interface IndexProblem {
  readonly reason: ProblemReason;
  readonly message: string;
}

type LossReason = "damaged" | "replaced";

/** The files of an index are no longer those that were opened, or are damaged. */
export class IndexLostError extends Error {
  override readonly name = "IndexLostError";
  readonly reason: LossReason;

  constructor(reason: LossReason, options?: ErrorOptions) {
    super(sentences[reason], options);
    this.reason = reason;
  }
}

/** The index was made by another version of this program. */
export class IndexVersionError extends Error {
  override readonly name = "IndexVersionError";
}

const sentences: Readonly<Record<ProblemReason, string>> = {
  "read-only": "the folder of the search index is read-only",
  "no-permission": "no permission to write to the folder of the search index",
  "disk-full": "the disk of the search index is full",
  damaged: "the search index is damaged; it is being rebuilt",
  replaced: "the search index was removed or replaced; it is being rebuilt",
  blocked: "the path of the search index is not a folder",
  "too-many-files": "this process has too many files open to open the search index",
  "other-version":
    "the search index was made by another version of Pressmark; if a server of that version is running, restart it",
  failed: "the search index cannot be opened",
};

export function toIndexProblem(cause: unknown): IndexProblem {
  const reason = reasonOf(cause);
  return { reason, message: sentences[reason] };
}

function reasonOf(cause: unknown): ProblemReason {
  if (cause instanceof IndexLostError) return cause.reason;
  if (cause instanceof IndexVersionError) return "other-version";
  const { code, errcode, cause: inner } = (cause ?? {}) as NodeJS.ErrnoException & { errcode?: number };
  if (errcode === readOnlyMoved) return "replaced";
  if (isLoss(cause)) return "damaged";
  const reason = (errcode === undefined ? undefined : byResult[errcode & 0xff]) ?? byCode[code ?? ""];
  return reason ?? (inner === undefined ? "failed" : reasonOf(inner));
}

/**
 * True if an error means that a file is damaged: SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY_DBMOVED,
 * SQLITE_IOERR_SHORT_READ, or compressed data that cannot be read (`Z_…`).
 */
export function isLoss(cause: unknown): boolean {
  const { errcode, code = "" } = (cause ?? {}) as { errcode?: number; code?: string };
  if (errcode === undefined) return code.startsWith("Z_");
  return errcode === readOnlyMoved || errcode === shortRead || byResult[errcode & 0xff] === "damaged";
}

/** SQLITE_READONLY_DBMOVED: https://sqlite.org/rescode.html#readonly_dbmoved */
const readOnlyMoved = 1032;
const shortRead = 522;

/** Primary result codes of SQLite: https://sqlite.org/rescode.html */
const byResult: Readonly<Record<number, ProblemReason>> = {
  3: "no-permission",
  8: "read-only",
  11: "damaged",
  13: "disk-full",
  26: "damaged",
};

const byCode: Readonly<Record<string, ProblemReason>> = {
  EROFS: "read-only",
  EACCES: "no-permission",
  EPERM: "no-permission",
  ENOSPC: "disk-full",
  EDQUOT: "disk-full",
  ENOTDIR: "blocked",
  EEXIST: "blocked",
  EISDIR: "blocked",
  EMFILE: "too-many-files",
  ENFILE: "too-many-files",
};
