/** Parses the differences between two trees (`--raw -z`), and selects what may be shown. */
import { isUtf8 } from "node:buffer";
import type { HistoryRules } from "./history-rules.ts";
import { kindOfMode, type TreeEntry } from "./trees.ts";

export interface RawChange {
  /** `A`, `D`, `M`, `T`, or `R` followed by a number. */
  readonly status: string;
  /** Before and after; undefined if the file does not exist there, or its name is not UTF-8. */
  readonly before: RawSide | undefined;
  readonly after: RawSide | undefined;
}

interface RawSide {
  readonly path: string;
  readonly entry: TreeEntry;
}

type FileChangeKind = "added" | "deleted" | "modified" | "type changed" | "renamed";

export interface ServedChange {
  readonly path: string;
  readonly change: FileChangeKind;
  /** Its previous path. */
  readonly from?: string;
  readonly isFolder: boolean;
  /** Whether only one side is served: then the other is not mentioned, and the change is an addition or a deletion. */
  readonly isHalf: boolean;
}

/** `end` is the end of the list, where the patch begins after `--raw -p`. A truncated record is left out. */
export function parseRawDiff(bytes: Buffer): { readonly changes: RawChange[]; readonly end: number } {
  const changes: RawChange[] = [];
  let at = 0;
  const take = (): Buffer | undefined => {
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    const field = bytes.subarray(at, end);
    at = end + 1;
    return field;
  };
  while (bytes[at] === colon) {
    const [before = "", after = "", old = "", now = "", status = ""] = take()?.toString("latin1", 1).split(" ") ?? [];
    const first = take();
    const second = status.startsWith("R") ? take() : first;
    if (!first || !second) break;
    changes.push({ status, before: toSide(before, old, first), after: toSide(after, now, second) });
  }
  return { changes, end: bytes[at] === 0 ? at + 1 : at };
}

const colon = 0x3a;

function toSide(mode: string, hash: string, name: Buffer): RawSide | undefined {
  if (mode === "000000" || !isUtf8(name)) return undefined;
  return { path: name.toString("utf8"), entry: { kind: kindOfMode(mode), hash } };
}

interface ServedChanges {
  readonly served: readonly (ServedChange | undefined)[];
  /** Number of changes that the folder rules hide. */
  readonly leftOut: number;
  /** Whether access rules hide something from the caller. */
  readonly hasForbidden: boolean;
}

/** Each change as it may be shown, in the same order; undefined if nothing of it is served. */
export async function servedChanges(changes: readonly RawChange[], rules: HistoryRules): Promise<ServedChanges> {
  const sides = changes.flatMap(({ before, after }) => [before, after]).filter((side) => side !== undefined);
  const verdicts = await rules.servesEach(sides.map(({ path, entry }) => [path, entry] as const));
  const isServed = new Map(sides.map((side, index) => [side, verdicts[index]]));
  const isOpen = rules.isOpen("");
  let leftOut = 0;
  let hasForbidden = false;
  const served = changes.map((change) => {
    const isUnknown = change.after && isUnknownLink(change.after.entry);
    const before = !isUnknown && change.before && isServed.get(change.before) ? change.before : undefined;
    const after = !isUnknown && change.after && isServed.get(change.after) ? change.after : undefined;
    const isHalf = isTwoSided(change.status) && (before === undefined || after === undefined);
    const shown = after ?? before;
    const known = [change.before, change.after].filter((side) => side !== undefined);
    // Rules cannot judge a name that is not UTF-8, and a link may be hidden because of its target.
    const isForbidden =
      !isOpen &&
      (known.length === 0 ||
        known.some(
          (side) =>
            rules.isForbidden(side.path, side.entry.kind) || (side.entry.kind === "link" && !isServed.get(side)),
        ));
    hasForbidden ||= isForbidden;
    if ((!shown || isHalf) && !isForbidden) leftOut += 1;
    if (!shown) return undefined;
    const isFolder = before?.entry.kind === "folder" || after?.entry.kind === "folder";
    const what = before && after ? changeOf(change.status) : after ? "added" : "deleted";
    return {
      path: shown.path,
      change: what,
      isFolder,
      isHalf,
      ...(what === "renamed" && before && { from: before.path }),
    };
  });
  return { served, leftOut, hasForbidden };
}

/** A changed link of a checkout has no hash yet, so its target cannot be judged. */
function isUnknownLink({ kind, hash }: TreeEntry): boolean {
  return kind === "link" && /^0+$/.test(hash);
}

function isTwoSided(status: string): boolean {
  return status !== "A" && status !== "D";
}

function changeOf(status: string): FileChangeKind {
  switch (status.charAt(0)) {
    case "T":
      return "type changed";
    case "R":
      return "renamed";
    default:
      return "modified";
  }
}
