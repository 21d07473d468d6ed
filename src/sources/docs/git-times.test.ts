import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createGitTimes, type GitTimes } from "./git-times.ts";
import { useCollection } from "./test-collection.ts";

const collection = useCollection();
const { at, git, write } = collection;
const made: GitTimes[] = [];

afterEach(() => {
  for (const times of made.splice(0)) times.close();
});

function create(root = collection.root, options: Partial<Parameters<typeof createGitTimes>[0]> = {}): GitTimes {
  const times = createGitTimes({ root, env: process.env, ...options });
  made.push(times);
  return times;
}

function commit(time: string): void {
  git(["add", "-A"]);
  git(["commit", "-q", "-m", "one"], time);
}

function run(args: readonly string[], input?: string): string {
  return execFileSync("git", args, { cwd: collection.root, encoding: "utf8", ...(input !== undefined && { input }) });
}

/** Signs the last commit; the repository names a program that would check the signature. */
function sign(): void {
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n";
  const signed = run(["cat-file", "commit", "HEAD"]).replace("\n\n", `\n${signature}\n`);
  run(["update-ref", "HEAD", run(["hash-object", "-t", "commit", "-w", "--stdin"], signed).trim()]);
}

describe("commit times", () => {
  it("are those of the last commit of each file, for any name, relative to the folder", async () => {
    git(["init", "-q"]);
    write("docs/設定 メモ.md", "1");
    write("docs/a.md", "1");
    write("other.md", "1");
    commit("2020-01-01T00:00:00Z");
    write("docs/a.md", "2");
    write("docs/new\nline.md", "1");
    commit("2021-02-03T04:05:06+09:00");
    write("docs/uncommitted.md", "1");
    const files = ["設定 メモ.md", "a.md", "new\nline.md", "uncommitted.md", "other.md"];
    const times = create(at("docs"));
    expect(times.of("a.md")).toBeUndefined();
    await times.refresh(() => files);
    expect(files.map(times.of)).toEqual([
      "2020-01-01T00:00:00.000Z",
      "2021-02-02T19:05:06.000Z",
      "2021-02-02T19:05:06.000Z",
      undefined,
      undefined,
    ]);
  });

  it("are read again when the branch has moved, and only then", async () => {
    git(["init", "-q"]);
    write("a.md", "1");
    commit("2020-01-01T00:00:00Z");
    const times = create();
    let asked = 0;
    const files = () => {
      asked += 1;
      return ["a.md"];
    };
    await times.refresh(files);
    await times.refresh(files);
    expect(asked).toBe(1);
    write("a.md", "2");
    commit("2022-01-01T00:00:00Z");
    await times.refresh(files);
    expect([asked, times.of("a.md")]).toEqual([2, "2022-01-01T00:00:00.000Z"]);
  });

  it("are absent without a repository, without a commit, in a deleted folder and beyond the limits", async () => {
    write("a.md", "1");
    const none = create();
    await none.refresh(() => ["a.md"]);
    expect(none.of("a.md")).toBeUndefined();
    git(["init", "-q"]);
    const empty = create();
    await empty.refresh(() => ["a.md"]);
    expect(empty.of("a.md")).toBeUndefined();
    const gone = create(join(collection.above, "nowhere"));
    await gone.refresh(() => ["a.md"]);
    expect(gone.of("a.md")).toBeUndefined();
    commit("2020-01-01T00:00:00Z");
    write("b.md", "1");
    commit("2021-01-01T00:00:00Z");
    const short = create(collection.root, { maxCommits: 1 });
    await short.refresh(() => ["a.md", "b.md"]);
    expect([short.of("a.md"), short.of("b.md")]).toEqual([undefined, "2021-01-01T00:00:00.000Z"]);
  });

  it("are read without running any program that the repository names", async () => {
    git(["init", "-q"]);
    write("a.md", "1");
    write(".gitattributes", "*.md diff=evil filter=evil\n");
    commit("2020-01-01T00:00:00Z");
    sign();
    const trap = join(collection.above, "trap");
    const mark = join(collection.above, "sprung");
    fs.writeFileSync(trap, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 });
    for (const [name, value] of [
      ["core.fsmonitor", trap],
      ["core.hooksPath", collection.above],
      ["core.pager", trap],
      ["pager.log", trap],
      ["core.sshCommand", trap],
      ["diff.external", trap],
      ["diff.evil.textconv", trap],
      ["diff.evil.command", trap],
      ["filter.evil.clean", trap],
      ["filter.evil.smudge", trap],
      ["log.showSignature", "true"],
      ["gpg.program", trap],
      ["alias.log", `!${trap}`],
      ["alias.rev-parse", `!${trap}`],
    ] as const)
      git(["config", name, value]);
    for (const hook of ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"])
      fs.symlinkSync(trap, at(`.git/hooks/${hook}`));
    const times = create();
    await times.refresh(() => ["a.md"]);
    expect(times.of("a.md")).toBe("2020-01-01T00:00:00.000Z");
    expect(fs.existsSync(mark)).toBe(false);
  });
});
