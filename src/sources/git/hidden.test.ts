/** What the folder rules hide is hidden in every commit. Each test is named after a former leak. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { stack } from "../../layer.ts";
import { standardLayers } from "../../layers/standard.ts";
import { createRuntime } from "../../server/runtime.ts";
import { pathOf, type Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { collectChanges } from "../../testing/listen.ts";
import { refusal } from "../../testing/refusal.ts";
import { call, clear, readFacts, readText, scratchFolder, testRepository } from "./test-repository.ts";

const realPath = process.env["PATH"];

afterEach(async () => {
  process.env["PATH"] = realPath;
  await clear();
});

interface Log {
  readonly from: string | null;
  readonly commits: readonly { readonly hash: string; readonly subject: string; readonly parents: readonly string[] }[];
  readonly next?: string;
}

/** Every page of a log, `max` commits at a time. */
async function wholeLog(source: Source, max: number, query: Record<string, string> = {}): Promise<Log["commits"]> {
  const commits: Log["commits"][number][] = [];
  for (let ask: Record<string, string> | undefined = { ...query, max: String(max) }; ask;) {
    const page: Log = await readFacts(source, "log", ask);
    commits.push(...page.commits);
    ask = page.next === undefined ? undefined : Object.fromEntries(new URLSearchParams(page.next));
  }
  return commits;
}

async function subjects(source: Source, max = 50, query: Record<string, string> = {}): Promise<string[]> {
  return (await wholeLog(source, max, query)).map(({ subject }) => subject);
}

async function childrenOf(source: Source, path: string): Promise<string[]> {
  const found = await collect((cursor) => source.children!({ path }, asking(2, cursor), call));
  return found.map((entry) => entry.path.slice(path.length + 1));
}

const many = "one line of many\n".repeat(40);

describe("a hidden file", () => {
  it.each([
    [".pressmarkignore", { ".pressmarkignore": "private/\n" }, "private/plan.md"],
    [".gitignore, though the file is tracked", { ".gitignore": "*.log\n" }, "run.log"],
    [".ignore", { ".ignore": "/drafts\n" }, "drafts/日本語.md"],
    ["an ignore file further down", { "src/.pressmarkignore": "/gen\n" }, "src/gen/a.ts"],
    ["a dot-folder", {}, ".vscode/settings.json"],
    ["node_modules", {}, "deep/node_modules/x/index.js"],
    ["a secret name", {}, "deep/id_rsa"],
    ["exclude", {}, "excluded/e.txt"],
  ])("by %s is in no tree, blob, blame, log, commit, diff, status or completion", async (_, rules, hidden) => {
    const repository = testRepository();
    const first = repository.commit("first", { "a.txt": "a\n", ...rules });
    repository.git("add", "--force", "--all");
    repository.write(hidden, "MARKER\n");
    repository.git("add", "--force", hidden);
    repository.git("commit", "--quiet", "--message", "only what is hidden");
    const unseen = repository.git("rev-parse", "HEAD");
    repository.write(hidden, "MARKER again\n");
    repository.git("add", "--force", hidden);
    const last = repository.commit("both", { "a.txt": "b\n" });
    repository.write(hidden, "MARKER staged\n");
    const source = await repository.open({ exclude: ["excluded"] });
    const said = [
      ...(await Promise.all(
        ["status", "log", "branches", "commit/HEAD", `diff/${first}/${last}`, "diff/HEAD~1/main"].map((path) =>
          readText(source, path),
        ),
      )),
      await readText(source, "changes", { base: first }),
      await readText(source, "changes", { base: first, as: "patch" }),
      ...(await childrenOf(source, "tree/HEAD")),
    ];
    const template = source.templates!.find(({ name }) => name === "File at a commit")!;
    for (const value of ["", ".", "d", "src/", "deep/"])
      for (const each of await source.complete!(
        { template, variable: "path", value, given: { ref: "HEAD" } },
        call,
      ).catch(() => []))
        said.push(each.value);
    const name = hidden.split("/").at(-1)!;
    expect(said.join("\n")).not.toContain("MARKER");
    expect(said.join("\n")).not.toContain(name);
    expect(said.join("\n")).not.toContain(unseen);
    expect(await subjects(source)).toEqual(["both", "first"]);
    expect(JSON.parse(said[0]!)).toMatchObject({ clean: false, leftOut: 1 });
    expect(JSON.parse(said[3]!)).toMatchObject({ files: [{ path: "a.txt" }], leftOut: 1 });
    expect(said[4]).toMatch(/^# 1 file not shown\ndiff --git a\/a\.txt/);
    for (const place of ["blob", "tree", "blame"])
      for (const ref of ["HEAD", "main", last])
        await refusal(source.read({ path: `${place}/${ref}/${hidden}` }, call), ["not-found"], place);
  });

  it("cannot be read by the hash of its content, its folder or its commit", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", ".pressmarkignore": "private\n" });
    const unseen = repository.commit("unseen", { "private/plan.md": "MARKER" });
    repository.commit("last", { "a.txt": "b" });
    const source = await repository.open();
    const blob = repository.git("rev-parse", "HEAD:private/plan.md");
    const tree = repository.git("rev-parse", "HEAD:private");
    for (const hash of [blob, tree, unseen, unseen.slice(0, 10), unseen.toUpperCase(), `x-g${unseen}`])
      for (const path of [
        `commit/${hash}`,
        `tree/${hash}`,
        `blob/${hash}/a.txt`,
        `blob/${hash}/plan.md`,
        `diff/${hash}/main`,
      ])
        await refusal(source.read({ path }, call), ["not-found"], path);
    await refusal(source.read({ path: "log", query: { ref: unseen } }, call), ["not-found"], "log");
    await refusal(source.read({ path: `commit/${unseen}~1` }, call), ["not-found"], "steps from what is hidden");
    for (const path of [`tree/${unseen}`, `tree/${tree}`])
      await refusal(source.children!({ path }, { limit: 10 }, call), ["not-found"], path);
  });

  it("is determined by the current rules, whatever they were when it was committed", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "old/plan.md": "MARKER", "old/b.txt": "b" });
    repository.git("rm", "--quiet", "-r", "old");
    repository.commit("gone", { "a.txt": "b" });
    const source = await repository.open();
    expect(await readText(source, "blob/HEAD~1/old/plan.md")).toBe("MARKER");
    repository.write(".pressmarkignore", "plan.md\n");
    await expect.poll(() => childrenOf(source, "tree/HEAD~1/old")).toEqual(["b.txt"]);
    await refusal(source.read({ path: "blob/HEAD~1/old/plan.md" }, call), ["not-found"], "hidden since");
    rmSync(join(repository.folder, ".pressmarkignore"));
    await expect.poll(() => childrenOf(source, "tree/HEAD~1/old")).toEqual(["b.txt", "plan.md"]);
  });

  it("is shown if the mount allows it, with all of its history", async () => {
    const repository = testRepository();
    repository.commit("first", { ".vscode/settings.json": "{}", "node_modules/x/a.js": "x", ".env": "A=1" });
    for (const [options, path] of [
      [{ hidden: true }, ".vscode/settings.json"],
      [{ ignore: false }, "node_modules/x/a.js"],
      [{ allow: [".env"] }, ".env"],
    ] as const) {
      const source = await repository.open(options);
      expect(await readText(source, `blob/HEAD/${path}`)).not.toBe("");
      expect(await subjects(source)).toEqual(["first"]);
    }
    expect(await subjects(await repository.open())).toEqual([]);
  });

  it("does not hide .github", async () => {
    const repository = testRepository();
    repository.commit("ci", { ".github/workflows/ci.yml": "on: push\n", ".github/.env": "MARKER" });
    const source = await repository.open();
    expect(await readText(source, "blob/HEAD/.github/workflows/ci.yml")).toBe("on: push\n");
    expect(await childrenOf(source, "tree/HEAD/.github")).toEqual(["workflows"]);
  });
});

describe("rules that are not on the disk", () => {
  it("of a bare repository are those of HEAD, and follow it", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "deep/b.log": "MARKER", "deep/.gitignore": "*.log\n" });
    const folder = join(scratchFolder(), "bare.git");
    repository.git("clone", "--quiet", "--bare", repository.folder, folder);
    writeFileSync(join(folder, "info", "exclude"), "excluded\n");
    const source = await repository.open({ root: folder });
    expect(await childrenOf(source, "tree/HEAD/deep")).toEqual([]);
    await refusal(source.read({ path: "blob/HEAD/deep/b.log" }, call), ["not-found"], "ignored by HEAD");
    repository.git("rm", "--quiet", "deep/.gitignore");
    repository.commit("second", { "excluded/c.txt": "MARKER", ".pressmarkignore": "a.txt\n" });
    repository.git("push", "--quiet", folder, "main");
    await expect.poll(() => childrenOf(source, "tree/HEAD/deep")).toEqual(["b.log"]);
    expect(await childrenOf(source, "tree/HEAD")).toEqual(["deep"]);
    await refusal(source.read({ path: "blob/HEAD~1/a.txt" }, call), ["not-found"], "an earlier commit");
  });

  it("of a clone without a checkout are those of HEAD", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "b.log": "MARKER", ".gitignore": "*.log\n" });
    const folder = join(scratchFolder(), "clone");
    repository.git("add", "--force", "b.log");
    repository.git("commit", "--quiet", "--amend", "--no-edit");
    repository.git("clone", "--quiet", "--no-checkout", repository.folder, folder);
    expect(await childrenOf(await repository.open({ root: folder }), "tree/HEAD")).toEqual(["a.txt"]);
  });

  it("of folders that a sparse checkout leaves out are those of HEAD", async () => {
    const repository = testRepository();
    repository.commit("first", { "in/a.txt": "a", "out/b.txt": "b", "out/c.txt": "MARKER", "out/.ignore": "c.txt\n" });
    repository.git("sparse-checkout", "set", "in");
    expect(existsSync(join(repository.folder, "out"))).toBe(false);
    expect(await childrenOf(await repository.open(), "tree/HEAD/out")).toEqual(["b.txt"]);
  });

  it("are not read through a link that replaces a folder", async () => {
    const elsewhere = scratchFolder();
    mkdirSync(join(elsewhere, "deep"));
    writeFileSync(join(elsewhere, "deep", ".gitignore"), "a.txt\n");
    const repository = testRepository();
    repository.commit("first", { "old/deep/a.txt": "a" });
    rmSync(join(repository.folder, "old"), { recursive: true });
    symlinkSync(elsewhere, join(repository.folder, "old"));
    expect(await childrenOf(await repository.open(), "tree/HEAD/old/deep")).toEqual(["a.txt"]);
  });
});

/** visible ← hidden ← visible ← hidden (main). */
function withHiddenCommits() {
  const repository = testRepository();
  const one = repository.commit("one", { "a.txt": "1", ".pressmarkignore": "private\n" });
  const two = repository.commit("MARKER two", { "private/x.md": "1" });
  const three = repository.commit("three", { "a.txt": "2" });
  const four = repository.commit("MARKER four", { "private/x.md": "2", ".vscode/a.json": "{}" });
  repository.git("tag", "light");
  repository.git("tag", "--annotate", "--message", "the tag's own words", "annotated");
  return { repository, one, two, three, four };
}

describe("a commit that touches hidden paths only", () => {
  it("is in no log, and its children have the nearest shown commit as their parent", async () => {
    const { repository, one, three, four } = withHiddenCommits();
    const source = await repository.open();
    for (const max of [1, 2, 50])
      expect(await wholeLog(source, max)).toMatchObject([
        { hash: three, subject: "three", parents: [one] },
        { hash: one, subject: "one", parents: [] },
      ]);
    const log: Log = await readFacts(source, "log");
    expect(log.from).toBe(three);
    expect(log.next).toBeUndefined();
    expect(JSON.stringify(log)).not.toContain(four);
    expect(await readFacts(source, `commit/${three}`)).toMatchObject({ parents: [one] });
  });

  it("is replaced by the nearest shown commit if a branch, a tag or HEAD points to it", async () => {
    const { repository, three, four } = withHiddenCommits();
    const source = await repository.open();
    for (const ref of ["HEAD", "main", "light", "annotated", "HEAD~1"])
      expect(await readFacts(source, `commit/${ref}`), ref).toMatchObject({ hash: three, message: "three" });
    expect(await readFacts(source, "status")).toMatchObject({ head: three });
    expect(await readFacts(source, "branches")).toMatchObject({ branches: [{ hash: three, subject: "three" }] });
    expect(await readFacts(source, "tags")).toMatchObject({
      tags: [
        { name: "annotated", hash: three, subject: "the tag's own words" },
        { name: "light", hash: three, subject: "three" },
      ],
    });
    expect(await readText(source, "blob/main/a.txt")).toBe("2");
    expect(await readFacts(source, "blame/main/a.txt")).toMatchObject({ commit: three });
    const template = source.templates!.find(({ name }) => name === "Commit")!;
    const ask = { template, variable: "sha", given: {} };
    for (const value of ["", four.slice(0, 6)]) {
      const suggested = await source.complete!({ ...ask, value }, call);
      expect(suggested.map((each) => each.value)).not.toContain(four.slice(0, 12));
    }
  });

  it("leaves the repository empty if there are no others", async () => {
    const repository = testRepository();
    repository.commit("MARKER", { ".vscode/a.json": "{}" });
    const source = await repository.open();
    expect(await readFacts(source, "log")).toEqual({ from: null, commits: [] });
    expect(await readFacts(source, "branches")).toMatchObject({ branches: [] });
    expect(await readFacts(source, "status")).toMatchObject({ head: null });
    await refusal(source.read({ path: "commit/HEAD" }, call), ["not-found"], "commit/HEAD");
    expect(await childrenOf(source, "tree/HEAD")).toEqual([]);
  });

  it("is not one without changes, or one that changes only the mode of a shown file", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", ".x": "x" });
    repository.commit("empty");
    chmodSync(join(repository.folder, "a.txt"), 0o755);
    repository.commit("executable", { ".x": "y" });
    expect(await subjects(await repository.open())).toEqual(["executable", "empty", "first"]);
  });

  it("may be a merge: it is compared with its first parent", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "b.txt": "b" });
    repository.git("checkout", "--quiet", "-b", "side");
    repository.commit("MARKER on the side", { ".x": "x" });
    repository.git("checkout", "--quiet", "main");
    repository.commit("on main", { "a.txt": "changed" });
    repository.git("merge", "--quiet", "--no-ff", "--message", "MARKER merge", "side");
    repository.git("checkout", "--quiet", "-b", "other", "HEAD~1");
    repository.commit("on the other side", { "b.txt": "changed" });
    repository.git("checkout", "--quiet", "main");
    repository.git("merge", "--quiet", "--no-ff", "--message", "merge of both", "other");
    const source = await repository.open();
    const log = await wholeLog(source, 50);
    expect(log.map(({ subject }) => subject).sort()).toEqual([
      "first",
      "merge of both",
      "on main",
      "on the other side",
    ]);
    const [merge] = log;
    expect(merge!.parents).toHaveLength(2);
    expect(await subjects(source, 1)).toHaveLength(4);
  });

  it("is skipped with few runs of git, however many there are", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const stream = Array.from({ length: 400 }, (_, at) =>
      [
        "commit refs/heads/main",
        `committer Ada <ada@example.org> ${1_760_000_000 + at} +0000`,
        `data ${Buffer.byteLength(`number ${at}`)}\nnumber ${at}`,
        ...(at === 0 ? [`from ${repository.git("rev-parse", "HEAD")}`] : []),
        `M 100644 inline ${at % 100 === 0 ? "a.txt" : ".x"}\ndata ${String(at).length}\n${at}\n`,
      ].join("\n"),
    ).join("\n");
    repository.gitBytes(["fast-import", "--quiet"], stream);
    repository.git("reset", "--quiet", "--hard");
    const runs = countRuns();
    const source = await repository.open();
    expect(await subjects(source, 3)).toEqual(["number 300", "number 200", "number 100", "number 0", "first"]);
    // A version, settings, two long-running processes, and a few batches for each page.
    expect(runs()).toBeLessThan(16);
    expect(await readFacts(source, "commit/HEAD")).toMatchObject({ message: "number 300" });
  });
});

/** The number of git runs from here on. */
function countRuns(): () => number {
  const folder = scratchFolder();
  const counted = join(folder, "counted");
  writeFileSync(counted, "");
  writeFileSync(join(folder, "git"), `#!/bin/sh\necho run >> '${counted}'\nPATH='${realPath}' exec git "$@"\n`);
  chmodSync(join(folder, "git"), 0o755);
  process.env["PATH"] = `${folder}:${realPath}`;
  return () => readFileSync(counted, "utf8").split("\n").length - 1;
}

describe("a rename between hidden and shown", () => {
  it("from hidden to shown is an added file, without its former path", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", ".pressmarkignore": "private\n" });
    repository.commit("MARKER subject", { "private/plan.md": `${many}MARKER content\n` });
    repository.git("mv", "private/plan.md", "plan.md");
    repository.write("plan.md", `${many}shown\n`);
    const third = repository.commit("now shown");
    const source = await repository.open();
    const patch = await readText(source, "diff/HEAD~1/HEAD");
    expect(patch).toMatch(/^# 1 file not shown\ndiff --git a\/plan\.md b\/plan\.md\nnew file mode 100644\nindex 0+\./);
    expect(patch).toContain("+shown\n");
    expect(await readFacts(source, "commit/HEAD")).toMatchObject({
      files: [{ path: "plan.md", change: "added" }],
      leftOut: 1,
    });
    const blame = await readText(source, "blame/HEAD/plan.md");
    expect(Object.keys((JSON.parse(blame) as { commits: object }).commits)).toEqual([third]);
    const log = await readText(source, "log", { path: "plan.md" });
    for (const said of [patch, blame, log, await readText(source, "commit/HEAD")])
      expect(said).not.toMatch(/private|MARKER|rename|similarity/);
  });

  it("from shown to hidden is a deleted file", async () => {
    const repository = testRepository();
    repository.commit("first", { "plan.md": many, ".pressmarkignore": "private\n" });
    mkdirSync(join(repository.folder, "private"));
    renameSync(join(repository.folder, "plan.md"), join(repository.folder, "private/moved.md"));
    repository.write("private/moved.md", `${many}MARKER content\n`);
    repository.commit("now hidden");
    const source = await repository.open();
    const patch = await readText(source, "diff/HEAD~1/HEAD");
    expect(patch).toMatch(/^# 1 file not shown\ndiff --git a\/plan\.md b\/plan\.md\ndeleted file mode 100644\n/);
    const commit = await readFacts(source, "commit/HEAD");
    expect(commit).toMatchObject({ files: [{ path: "plan.md", change: "deleted" }], leftOut: 1 });
    for (const said of [patch, JSON.stringify(commit)]) expect(said).not.toMatch(/private|moved|MARKER|rename/);
  });

  it("that is staged is an added and a deleted file", async () => {
    const repository = testRepository();
    repository.commit("first", { "private/in.md": many, "out.md": `other ${many}`, ".pressmarkignore": "private\n" });
    repository.git("mv", "private/in.md", "in.md");
    repository.git("mv", "out.md", "private/out.md");
    expect(await readFacts(await repository.open(), "status")).toMatchObject({
      staged: expect.arrayContaining([
        { path: "in.md", change: "added" },
        { path: "out.md", change: "deleted" },
      ]),
      leftOut: 2,
    });
  });

  it("of many files together shows each of them", async () => {
    const repository = testRepository();
    const names = Array.from({ length: 520 }, (_, at) => `${at}.txt`);
    repository.commit("first", {
      ...Object.fromEntries(names.map((name, at) => [`.old/${name}`, `${many}${at}\n`])),
      "a.txt": "a",
    });
    repository.git("mv", ".old", "new");
    repository.commit("second");
    const [part] = await (await repository.open()).read({ path: "diff/HEAD~1/HEAD" }, call);
    expect(part!.meta).toEqual({ "pressmark/files": 520, "pressmark/leftOut": 520 });
    expect("text" in part!.body && part!.body.text).not.toMatch(/\.old|rename/);
  }, 60_000);
});

describe("a link", () => {
  it("to a hidden file is hidden, and shown where its target is not", async () => {
    const repository = testRepository();
    repository.write(".pressmarkignore", "MARKER\n");
    repository.write("docs/a.md", "a");
    for (const [name, target] of [
      ["docs/to-hidden", "../MARKER/plan.md"],
      ["docs/through-hidden", "../MARKER/../docs/a.md"],
      ["docs/to-shown", "a.md"],
      ["docs/outside", "/etc/hosts"],
      ["docs/above", "../../MARKER"],
    ] as const)
      symlinkSync(target, join(repository.folder, name));
    repository.commit("links");
    rmSync(join(repository.folder, "docs/to-shown"));
    symlinkSync("../MARKER", join(repository.folder, "docs/to-shown"));
    repository.commit("one leads to what is hidden now");
    const source = await repository.open();
    expect(await childrenOf(source, "tree/HEAD/docs")).toEqual(["a.md", "above", "outside"]);
    expect(await childrenOf(source, "tree/HEAD~1/docs")).toEqual(["a.md", "above", "outside", "to-shown"]);
    await refusal(source.read({ path: "blob/HEAD/docs/to-hidden" }, call), ["not-found"], "to-hidden");
    const empty = repository.gitBytes(["hash-object", "-t", "tree", "--stdin"], "").toString().trim();
    const patches = [await readText(source, `diff/${empty}/HEAD`), await readText(source, "diff/HEAD~1/HEAD")];
    expect(patches[1]).toMatch(/^# 1 file not shown\ndiff --git a\/docs\/to-shown b\/docs\/to-shown\ndeleted file/);
    for (const patch of patches) expect(patch.replace("../../MARKER", "")).not.toContain("MARKER");
  });
});

describe("a hidden path", () => {
  it("behaves in logs and diffs like one that never existed", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "src/a.txt": "a", ".pressmarkignore": "private\n/build/\n" });
    repository.commit("second", { "private/x.md": "x", "build/x.txt": "x", "src/.x": "x", "a.txt": "b" });
    const source = await repository.open();
    for (const path of ["private", "private/x.md", "build", "build/x.txt", ".x", "src/.x"])
      for (const [at, query] of [
        ["log", {}],
        ["log", { ref: "HEAD", max: "1" }],
        ["diff/HEAD~1/HEAD", {}],
      ] as const)
        expect(await readText(source, at, { ...query, path }), path).toBe(
          await readText(source, at, { ...query, path: "never/was" }),
        );
    // A hidden file in a folder does not add a commit to its log.
    expect(await subjects(source, 50, { path: "src" })).toEqual(["first"]);
    expect(await subjects(source, 50, { path: "a.txt" })).toEqual(["second", "first"]);
  });
});

describe("a file that was read before it was hidden", () => {
  it("is not returned from a cache", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a\n", "plan.md": "MARKER\n" });
    repository.commit("MARKER second", { "plan.md": "MARKER again\n" });
    const hash = repository.commit("third", { "a.txt": "b\n", "plan.md": "MARKER\n" });
    const source = stack(
      await repository.open(),
      { name: "git" },
      standardLayers(createRuntime({ write: () => true })),
    );
    const paths = [
      `commit/${hash}`,
      `diff/main~1/${hash}`,
      "log",
      "blame/main/plan.md",
      `blob/${hash}/plan.md`,
      "branches",
    ];
    for (let turn = 0; turn < 4; turn += 1) for (const path of paths) await readText(source, path);
    repository.write(".pressmarkignore", "plan.md\n");
    await expect.poll(() => childrenOf(source, "tree/main")).toEqual(["a.txt"]);
    for (const path of paths) {
      const said = await readText(source, path).catch(() => "");
      expect(said, path).not.toMatch(/MARKER|plan\.md/);
    }
  });
});

describe("a watch", () => {
  it("reports lost when the rules change", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "deep/er/plan.md": "x" });
    repository.commit("second", { "deep/er/plan.md": "y" });
    const source = await repository.open({ pollMs: 20 });
    const { heard, until } = collectChanges(await source.watch!(call));
    repository.write("deep/er/.pressmarkignore", "plan.md\n");
    await until(({ kind }) => kind === "lost", "that something is hidden");
    rmSync(join(repository.folder, "deep/er/.pressmarkignore"));
    await expect.poll(() => heard.filter(({ kind }) => kind === "lost").length).toBe(2);
  });

  it("reports no hidden file", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", ".pressmarkignore": "private\n" });
    const source = await repository.open();
    await readText(source, "blob/main/a.txt");
    const { heard, until } = collectChanges(await source.watch!(call));
    repository.commit("second", { "private/MARKER.md": "x", ".MARKER/x": "x", "deep/MARKER.pem": "x", "z.txt": "z" });
    await until((change) => change.kind === "appeared" && change.path === pathOf(["blob", "main", "z.txt"]), "z.txt");
    expect(JSON.stringify(heard)).not.toMatch(/MARKER|private/);
  });
});
