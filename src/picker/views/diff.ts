/** Parses a unified diff: files, and in each the runs of added, removed and unchanged lines. */
import { cutAt } from "../../lib/cut-at.ts";
import { decodeForDisplay } from "../../lib/readable-uri.ts";

type LineKind = "added" | "removed" | "same" | "hunk" | "note";

export interface DiffLine {
  readonly kind: LineKind;
  /** Without the sign. */
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

export interface FileDiff {
  /** The new name, or the old one of a removed file; empty for text before the first file. */
  readonly name: string;
  readonly was?: string;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
}

const hunk = /^@@+ -(\d{1,9})(?:,(\d{1,9}))? (?:-\d+(?:,\d+)? )*\+(\d{1,9})(?:,(\d{1,9}))? @@+/;

/** Maximum length of a line with file names. */
const maxName = 1000;

export function parseDiff(text: string): readonly FileDiff[] {
  const files: FileDiff[] = [];
  let lines: DiffLine[] = [];
  let hasHunk = false;
  let [before, after] = [0, 0];
  /** Remaining lines of the hunk: within it, no line is a header. */
  let [leftBefore, leftAfter] = [0, 0];
  let [name, was]: [string, string | undefined] = ["", undefined];

  const flush = (): void => {
    const count = (kind: LineKind): number => lines.filter((line) => line.kind === kind).length;
    if (lines.length > 0 || name !== "")
      files.push({
        name,
        lines,
        added: count("added"),
        removed: count("removed"),
        ...(was !== undefined && was !== name && { was }),
      });
    lines = [];
    hasHunk = false;
    [name, was] = ["", undefined];
  };

  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  for (const [index, raw] of all.entries()) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    if (leftBefore > 0 || leftAfter > 0) {
      if (takeChange(line)) continue;
      [leftBefore, leftAfter] = [0, 0];
    }
    const [found, fromBefore = "", lengthBefore = "1", fromAfter = "", lengthAfter = "1"] = hunk.exec(line) ?? [];
    if (found !== undefined) {
      [before, after] = [Number(fromBefore), Number(fromAfter)];
      [leftBefore, leftAfter] = [Number(lengthBefore), Number(lengthAfter)];
      lines.push({ kind: "hunk", text: line });
      hasHunk = true;
    } else if (line.startsWith("diff ")) {
      flush();
      name = newNameIn(line.slice(0, maxName));
      lines.push({ kind: "note", text: line });
    } else if (line.startsWith("--- ") && all[index + 1]?.startsWith("+++ ")) {
      // Without a "diff" line, the next file begins here.
      if (hasHunk) flush();
      was = nameOf(line);
      if (was !== undefined && name === "") name = was;
      lines.push({ kind: "note", text: line });
    } else if (line.startsWith("+++ ") && all[index - 1]?.startsWith("--- ")) {
      name = nameOf(line) ?? name;
      lines.push({ kind: "note", text: line });
    } else {
      if (line.startsWith("rename from ")) was = unquoted(line.slice("rename from ".length, maxName));
      lines.push({ kind: "note", text: line });
    }
  }
  flush();
  return files;

  function takeChange(line: string): boolean {
    const sign = line[0] ?? " ";
    const rest = line.slice(1);
    if (sign === "+") lines.push({ kind: "added", text: rest, after: after++ });
    else if (sign === "-") lines.push({ kind: "removed", text: rest, before: before++ });
    else if (sign === " ") lines.push({ kind: "same", text: rest, before: before++, after: after++ });
    else if (sign === "\\") {
      lines.push({ kind: "note", text: line });
      return true;
    } else return false;
    if (sign !== "+") leftBefore -= 1;
    if (sign !== "-") leftAfter -= 1;
    return true;
  }
}

/** The new name of `diff --git a/old b/new`, with quotes if needed; otherwise the whole line. */
function newNameIn(line: string): string {
  const last = Math.max(line.lastIndexOf(" b/"), line.lastIndexOf(' "b/'));
  if (last < 0 || !/^diff --git "?a\//.test(line)) return line.slice("diff ".length);
  return unquoted(line.slice(last + 1)).slice("b/".length);
}

/** Undefined for `/dev/null`. */
function nameOf(line: string): string | undefined {
  const path = unquoted(cutAt(line.slice(4, maxName), /\t/));
  return path === "/dev/null" ? undefined : path.replace(/^[ab]\//, "");
}

/** Git writes a name with unusual characters in quotes, and each byte outside of ASCII as `\345`. */
function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const encoded = name
    .replaceAll(/^"|"$/g, "")
    .replaceAll("%", "%25")
    .replaceAll(/\\([0-3][0-7]{2}|["\\])/g, (_, code: string) =>
      code.length === 1 ? code : `%${Number.parseInt(code, 8).toString(16).padStart(2, "0")}`,
    );
  return decodeForDisplay(encoded);
}

export interface RunOfLines {
  readonly kind: LineKind;
  readonly lines: readonly DiffLine[];
}

/** Lines that stand beside each other; undefined where a side has none. Hunks and notes are on the left alone. */
type DiffPair = readonly [before: DiffLine | undefined, after: DiffLine | undefined];

/** Puts removed lines beside the added lines that follow them. */
export function diffPairs(lines: readonly DiffLine[]): readonly DiffPair[] {
  const runs = diffRuns(lines);
  return runs.flatMap((run, index): readonly DiffPair[] => {
    switch (run.kind) {
      case "removed": {
        const added = linesOf(runs[index + 1], "added");
        const length = Math.max(run.lines.length, added.length);
        return Array.from({ length }, (_, at): DiffPair => [run.lines[at], added[at]]);
      }
      case "added":
        return runs[index - 1]?.kind === "removed" ? [] : run.lines.map((line): DiffPair => [undefined, line]);
      case "same":
        return run.lines.map((line): DiffPair => [line, line]);
      default:
        return run.lines.map((line): DiffPair => [line, undefined]);
    }
  });
}

function linesOf(run: RunOfLines | undefined, kind: LineKind): readonly DiffLine[] {
  return run?.kind === kind ? run.lines : [];
}

/** Groups consecutive lines of one kind. */
export function diffRuns(lines: readonly DiffLine[]): readonly RunOfLines[] {
  const runs: { kind: LineKind; lines: DiffLine[] }[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.kind === line.kind) last.lines.push(line);
    else runs.push({ kind: line.kind, lines: [line] });
  }
  return runs;
}
