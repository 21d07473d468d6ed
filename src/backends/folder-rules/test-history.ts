/** Generated repositories for tests: what is in each commit, written by git itself, and which of it the file source would serve. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { z } from "zod";
import { type Call, directoryType } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import file from "../../sources/file.ts";
import { asking, collect } from "../../testing/pages.ts";

/**
 * Names consist of words that occur nowhere else: `zq…`. Texts contain markers, `mk…`, and commit subjects `ms…`. Whole words only: versions and
 * digests in base64 contain any letters.
 */
export const words = /(?<![\p{L}\p{N}_+-])(?:zq[\p{Ll}\p{Lo}\p{N}]+|mk\d+|ms\d+)(?![\p{L}\p{N}_+=-])/gu;

const folderNames = ["zqsrc", "zqlib", "zq日本", "zqprivate", ".zqdot", ".github", "node_modules", "zqbuild"];
const fileNames = ["zqa.md", "zqb.txt", "zqc日本語.md", "zqd.log", "zqe.json", ".zqf", "zqg.pem", ".env", "zqh.md"];
const ruleFileNames = [".gitignore", ".ignore", ".pressmarkignore"];
const patterns = [
  "zqprivate/",
  "/zqbuild",
  "*.log",
  "zq日本",
  "**/zqc*",
  "zqsrc/zqb.txt",
  "!zqsrc/zqb.txt",
  "/zqlib/**/zqa.md",
  "!zqd.log",
  "zq[a-b].md",
  "*.txt",
];

const place = fc
  .tuple(fc.array(fc.constantFrom(...folderNames), { maxLength: 2 }), fc.constantFrom(...fileNames))
  .map(([above, name]) => [...above, name].join("/"));
const ruleFile = fc
  .tuple(fc.array(fc.constantFrom(...folderNames.slice(0, 3)), { maxLength: 1 }), fc.constantFrom(...ruleFileNames))
  .map(([above, name]) => [...above, name].join("/"));

type Step =
  | { readonly kind: "write"; readonly path: string }
  | { readonly kind: "remove"; readonly which: number }
  /** With a small change, so that git detects a rename. */
  | { readonly kind: "move"; readonly which: number; readonly to: string }
  | { readonly kind: "rules"; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "link"; readonly which: number; readonly name: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("write" as const), path: place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("move" as const), which: fc.nat(40), to: place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("rules" as const),
      path: ruleFile,
      lines: fc.array(fc.constantFrom(...patterns), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("link" as const), which: fc.nat(40), name: fc.nat(2) }) },
);

export interface Plan {
  readonly commits: readonly {
    /** How many commits back its parent is. */
    readonly back: number;
    /** A second parent, whose files are added where the first has none. */
    readonly merged: number | undefined;
    readonly steps: readonly Step[];
  }[];
  /** Ignore files that are written but not committed. */
  readonly unstaged: readonly { readonly path: string; readonly lines: readonly string[] }[];
  readonly exclude: readonly string[];
}

export const plan: fc.Arbitrary<Plan> = fc.record({
  commits: fc.array(
    fc.record({
      back: fc.constantFrom(1, 1, 1, 1, 2, 3),
      merged: fc.option(fc.nat(5), { nil: undefined, freq: 4 }),
      steps: fc.array(step, { minLength: 0, maxLength: 4 }),
    }),
    { minLength: 3, maxLength: 8 },
  ),
  unstaged: fc.array(fc.record({ path: ruleFile, lines: fc.array(fc.constantFrom(...patterns), { maxLength: 3 }) }), {
    maxLength: 1,
  }),
  exclude: fc.constantFrom([], ["zqh.md"], ["zqlib"]),
});

export type Content = { readonly text: string } | { readonly link: string };
export type Files = ReadonlyMap<string, Content>;

export interface TestCommit {
  readonly hash: string;
  readonly subject: string;
  readonly files: Files;
  readonly parents: readonly number[];
}

export interface TestHistory {
  readonly root: string;
  /** Oldest first. */
  readonly commits: readonly TestCommit[];
  readonly branches: readonly string[];
  /** The files of the checkout. */
  readonly checkout: Files;
  git(...args: readonly string[]): string;
}

const always: Files = new Map([
  ["zqreadme.md", { text: "# Read me\n\nmk1 visible\n" }],
  ["conf.json", { text: '{ "port": 1 }\n' }],
  [".zqhidden.json", { text: '{ "mk2": 1 }\n' }],
  ["conf-link.json", { link: ".zqhidden.json" }],
  ["skills/zqskill/SKILL.md", { text: "---\nname: zqskill\ndescription: mk3 of a skill\n---\n\nmk3\n" }],
  ["skills/zqskill/.zqnotes.md", { text: "mk4\n" }],
  ["skills/zqskill/zqkey.pem", { text: "mk5\n" }],
]);

/** Writes a plan; the last commit is checked out. */
export function writeHistory({ commits: planned, unstaged }: Plan, root: string): TestHistory {
  let marks = 100;
  const texts: { files: Files; parents: readonly number[]; subject: string }[] = [
    { files: always, parents: [], subject: "ms0" },
  ];
  for (const { back, merged, steps } of planned) {
    const first = Math.max(0, texts.length - back);
    const second = merged === undefined || merged >= texts.length || merged === first ? undefined : merged;
    const now = new Map([...(second === undefined ? [] : texts[second]!.files), ...texts[first]!.files]);
    for (const each of steps) apply(each, now, () => `mk${(marks += 1)}`);
    const parents = second === undefined ? [first] : [first, second];
    texts.push({ files: now, parents, subject: `ms${texts.length}` });
  }
  mkdirSync(root, { recursive: true });
  const git = (...args: readonly string[]) => run(root, args).toString("utf8").trimEnd();
  git("init", "--quiet", "--initial-branch=main");
  const heads = texts.flatMap((_, at) => (texts.some(({ parents }) => parents[0] === at) ? [] : [at]));
  run(root, ["fast-import", "--quiet", `--export-marks=${root}.marks`], texts.map(toImport).join(""));
  const marked = new Map(
    readFileSync(`${root}.marks`, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => [Number(/\d+/.exec(line)?.[0]) - 1, line.slice(line.indexOf(" ") + 1)] as const),
  );
  const branches = heads.map((at) => {
    const name = at === texts.length - 1 ? "main" : `side/${at}`;
    git("update-ref", `refs/heads/${name}`, marked.get(at)!);
    return name;
  });
  git("update-ref", "-d", "refs/import/all");
  git("reset", "--quiet", "--hard", "main");
  const checkout = new Map(texts.at(-1)!.files);
  for (const { path, lines } of unstaged) {
    if (!dirExists(root, dirname(path))) continue;
    writeFileSync(join(root, path), `${lines.join("\n")}\n`);
    checkout.set(path, { text: lines.join("\n") });
  }
  const commits = texts.map((each, at) => ({ ...each, hash: marked.get(at)! }));
  return { root, commits, branches, checkout, git };
}

function apply(each: Step, now: Map<string, Content>, mark: () => string): void {
  const movable = [...now.keys()].filter((path) => !always.has(path) && !isRuleFile(path) && "text" in now.get(path)!);
  switch (each.kind) {
    case "write":
      now.set(each.path, { text: `# ${mark()}\n\n${"a line that does not change\n".repeat(12)}` });
      break;
    case "rules":
      now.set(each.path, { text: `${each.lines.join("\n")}\n` });
      break;
    case "link":
      if (movable.length > 0) now.set(`ln${each.name}`, { link: movable[each.which % movable.length]! });
      break;
    default: {
      const path = movable[each.which % movable.length];
      if (path === undefined) return;
      const { text } = now.get(path) as { readonly text: string };
      now.delete(path);
      if (each.kind === "move") now.set(each.to, { text: `${text}${mark()}\n` });
    }
  }
}

function toImport(
  { files, parents, subject }: { files: Files; parents: readonly number[]; subject: string },
  at: number,
) {
  const [first, second] = parents;
  return [
    "commit refs/import/all\n",
    `mark :${at + 1}\n`,
    `committer Ada <ada@example.org> ${1_760_000_000 + at} +0000\n`,
    data(subject),
    ...(first === undefined ? [] : [`from :${first + 1}\n`]),
    ...(second === undefined ? [] : [`merge :${second + 1}\n`]),
    "deleteall\n",
    ...[...files].map(([path, content]) =>
      "text" in content
        ? `M 100644 inline ${quotePath(path)}\n${data(content.text)}`
        : `M 120000 inline ${quotePath(path)}\n${data(content.link)}`,
    ),
    "\n",
  ].join("");
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** As git reads it: JSON escapes nothing in these names. */
function quotePath(path: string): string {
  return JSON.stringify(path);
}

function run(root: string, args: readonly string[], input?: string): Buffer {
  return execFileSync("git", ["-C", root, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    ...(input !== undefined && { input }),
    env: { PATH: process.env["PATH"], HOME: "/nowhere", GIT_CONFIG_NOSYSTEM: "1" },
  });
}

export function isRuleFile(path: string): boolean {
  return ruleFileNames.includes(path.slice(path.lastIndexOf("/") + 1));
}

function dirExists(root: string, path: string): boolean {
  try {
    readdirSync(join(root, path));
    return true;
  } catch {
    return false;
  }
}

export interface Visible {
  readonly paths: ReadonlySet<string>;
  /** The words in the names of served files and folders. */
  readonly words: ReadonlySet<string>;
}

/**
 * What the file source serves in a copy of the checkout that also contains every file of every commit: the current rules, for the whole
 * history. Ignore files of earlier commits do not apply.
 */
export async function visibleIn(
  { root, commits, checkout }: TestHistory,
  copy: string,
  options: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  call: Call,
): Promise<Visible> {
  rmSync(copy, { recursive: true, force: true });
  cpSync(root, copy, { recursive: true, filter: (path) => !path.startsWith(join(root, ".git/objects")) });
  for (const files of [...commits.map((commit) => commit.files), checkout]) {
    // A link may point to a file that is in no commit.
    const targets = [...files.values()].flatMap((content) => ("link" in content ? [content.link] : []));
    for (const path of [...files.keys(), ...targets]) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      if (isRuleFile(path)) continue;
      rmSync(join(copy, path), { force: true });
      writeFileSync(join(copy, path), "");
    }
  }
  const source = await file.open(file.options(z).parse({ root: copy, ...options }), runtime);
  const paths = new Set<string>();
  const found = new Set<string>();
  const ahead = [""];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    const path = at;
    for (const entry of await collect((cursor) => source.children!({ path }, asking(1000, cursor), call))) {
      for (const word of entry.path.match(words) ?? []) found.add(word);
      if (entry.mimeType === directoryType) ahead.push(entry.path);
      else paths.add(entry.path);
    }
  }
  await source.close?.();
  return { paths, words: found };
}

export interface Told {
  /** The words that may be revealed: in names and contents of served files, and in subjects of commits that change them. */
  readonly told: ReadonlySet<string>;
  isShown(path: string, content: Content): boolean;
  readonly shownCommits: readonly TestCommit[];
}

export function toldOf({ commits, checkout }: TestHistory, visible: Visible): Told {
  const isShown = (path: string, content: Content) =>
    visible.paths.has(path) && ("text" in content || visible.paths.has(content.link));
  const told = new Set(visible.words);
  for (const files of [...commits.map((commit) => commit.files), checkout])
    for (const [path, content] of files)
      if (isShown(path, content) && "text" in content)
        for (const word of content.text.match(words) ?? []) told.add(word);
  const shownCommits = commits.filter(({ files, parents: [parent] }) => {
    const before: Files = parent === undefined ? new Map() : commits[parent]!.files;
    const changed = [...new Set([...files.keys(), ...before.keys()])].filter(
      (path) => JSON.stringify(files.get(path)) !== JSON.stringify(before.get(path)),
    );
    const sides = changed.flatMap((path) =>
      [files.get(path), before.get(path)].flatMap((content) => (content ? [isShown(path, content)] : [])),
    );
    return sides.length === 0 || sides.includes(true);
  });
  for (const { subject } of shownCommits) told.add(subject);
  return { told, isShown, shownCommits };
}
