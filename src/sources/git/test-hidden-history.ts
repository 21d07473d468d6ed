/** Random histories of visible and hidden files, and the same histories in which the hidden files never existed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { hiddenMessage } from "../../backends/git/commits.ts";
import type { TestRepository } from "./test-repository.ts";

/** Everything hidden contains this word, and nothing else does. */
export const canary = "wombat";
export const hiddenPaths = [
  `private-${canary}/a.md`,
  `private-${canary}/deep/b.md`,
  `docs/${canary}.md`,
  `${canary}.md`,
] as const;
export const visiblePaths = ["readme.md", "docs/guide.md", "docs/deep/plan.md", "src/日本.ts", "src/x.ts"] as const;
const isHidden = (path: string) => path.includes(canary);

export interface HistoryStep {
  readonly branch: "main" | "side";
  /** A write, a removal, or a rename. */
  readonly changes: readonly { readonly path: string; readonly to?: string; readonly text?: number }[];
}

const anyPath = fc.constantFrom(...visiblePaths, ...hiddenPaths);
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ path: anyPath, text: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ path: anyPath }) },
  { weight: 2, arbitrary: fc.record({ path: anyPath, to: anyPath }) },
);
export const hiddenHistory: fc.Arbitrary<HistoryStep[]> = fc.array(
  fc.record({
    branch: fc.constantFrom("main" as const, "main" as const, "side" as const),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 7 },
);

export function hiddenHistoryText(path: string, text: number): string {
  return `${isHidden(path) ? canary : "kettle"} ${text}\n${"a shared line\n".repeat(text * 4)}`;
}

type Tree = ReadonlyMap<string, string>;

interface Tip {
  readonly tree: Tree;
  readonly mark?: number;
  /** Whether a visible file was committed. */
  readonly isSeen?: boolean;
}

/** The files after the changes. On the side branch, visible files are in a folder of their own, so that a merge changes them. */
function apply(before: Tree, { branch, changes }: HistoryStep): Tree {
  const tree = new Map(before);
  const place = (path: string) => (branch === "main" || isHidden(path) ? path : `side/${path}`);
  for (const { path, to, text } of changes) {
    const old = tree.get(place(path));
    if (text === undefined) tree.delete(place(path));
    else tree.set(place(path), hiddenHistoryText(path, text));
    if (to === undefined || old === undefined) continue;
    // A text that becomes visible is not secret any more.
    tree.set(place(to), isHidden(to) ? old : old.replaceAll(canary, "kettle"));
  }
  return tree;
}

/** Imports the history, as it is or without what is hidden, checks out main, and returns the visible commits in order. */
export function importHistory(
  repository: TestRepository,
  history: readonly HistoryStep[],
  { withHidden }: { readonly withHidden: boolean },
): string[] {
  const lines: string[] = [];
  const seen: number[] = [];
  const tips: { main: Tip; side?: Tip } = { main: { tree: new Map() } };
  let mark = 0;

  function commit(branch: HistoryStep["branch"], tree: Tree, merged?: number): void {
    const before: Tip = tips[branch] ?? tips.main;
    const paths = [...new Set([...before.tree.keys(), ...tree.keys()])].filter(
      (path) => before.tree.get(path) !== tree.get(path),
    );
    const visible = paths.filter((path) => !isHidden(path));
    const made = withHidden ? paths : visible;
    mark += 1;
    tips[branch] = { ...before, tree };
    if (made.length === 0) return;
    tips[branch] = { tree, mark, isSeen: before.isSeen || visible.length > 0 };
    if (visible.length > 0) seen.push(mark);
    const isMixed = visible.length < paths.length;
    const message = isMixed ? (withHidden ? `about ${canary} ${mark}` : hiddenMessage) : `plain ${mark}`;
    lines.push(`commit refs/heads/${branch}`, `mark :${mark}`);
    lines.push(`committer Ada <ada@example.org> ${1_750_000_000 + mark} +0000`, `data ${message.length}`, message);
    if (before.mark !== undefined) lines.push(`from :${before.mark}`);
    if (merged !== undefined) lines.push(`merge :${merged}`);
    for (const path of made) {
      const text = tree.get(path);
      if (text === undefined) lines.push(`D ${JSON.stringify(path)}`);
      else lines.push(`M 100644 inline ${JSON.stringify(path)}`, `data ${Buffer.byteLength(text)}`, text);
    }
  }

  for (const step of history) {
    commit(step.branch, apply((tips[step.branch] ?? tips.main).tree, step));
    const { main, side } = tips;
    const merged = new Map([...main.tree, ...[...(side?.tree ?? [])].filter(([path]) => path.startsWith("side/"))]);
    const isMerge = step.changes.length === 3 && main.isSeen && side?.isSeen;
    if (isMerge && [...merged].some(([path, text]) => main.tree.get(path) !== text)) commit("main", merged, side.mark);
  }
  for (const [branch, { mark: tip }] of Object.entries(tips))
    if (tip !== undefined) lines.push(`reset refs/heads/${branch}`, `from :${tip}`, "");
  repository.gitBytes(
    ["fast-import", "--quiet", "--export-marks=.git/marks"],
    lines.map((line) => `${line}\n`).join(""),
  );
  if (tips.main.mark !== undefined) repository.git("reset", "--quiet", "--hard", "main");
  const marks = readFileSync(join(repository.folder, ".git/marks"), "utf8").split("\n");
  const hashes = new Map(marks.map((line) => line.slice(1).split(" ") as [string, string]));
  return seen.map((each) => hashes.get(String(each))!);
}
