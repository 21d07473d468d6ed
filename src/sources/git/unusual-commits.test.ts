/** Commits and tags that few repositories have: very long, in other encodings, or incomplete. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { call, clear, readFacts, readText, testRepository } from "./test-repository.ts";

afterEach(clear);

const data = (text: string) => `data ${text.length}\n${text}\n`;

async function indexed(source: Source): Promise<readonly (string | undefined)[]> {
  const entries = await collect((cursor) => source.listIndexed!(asking(100, cursor), call));
  return entries.filter(({ path }) => path.startsWith("commit/")).map(({ title }) => title);
}

interface Log {
  readonly commits: readonly { readonly subject: string }[];
}

describe("a very long message", () => {
  const rest = "a ".repeat(9 * 1024 * 1024);

  it("is cut in the index and in tags", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const input = `在庫 second\n\n${rest}`;
    const hash = repository.gitBytes(["commit-tree", "HEAD^{tree}", "-p", "HEAD"], input).toString().trim();
    repository.git("update-ref", "HEAD", hash);
    repository.gitBytes(["tag", "--annotate", "long", "--file=-"], input);
    const source = await repository.open();
    expect((await indexed(source)).toSorted()).toEqual(["first", "在庫 second"]);
    expect(await readText(source, `commit/${hash}`, { as: "summary" })).toMatch(
      /^在庫 second\n\na a .{19000,21000}Ada/s,
    );
    const { tags } = await readFacts<{ tags: { message: string }[] }>(source, "tags");
    expect(tags.map(({ message }) => [message.slice(0, 9), message.length])).toEqual([["在庫 second", 4001]]);
  });

  it("of several commits is searched in batches", async () => {
    const repository = testRepository();
    const [long, subjects] = [rest.slice(0, 7 * 1024 * 1024), ["1", "2", "3", "4"]];
    const commits = subjects.map(
      (subject) =>
        `commit refs/heads/main\ncommitter A <a@b> 175000000${subject} +0000\n${data(`${subject}\n\n${long} END`)}`,
    );
    repository.gitBytes(["fast-import", "--quiet"], commits.join(""));
    const source = await repository.open();
    const { commits: found } = await readFacts<Log>(source, "log", { grep: "end" });
    expect(found.map(({ subject }) => subject)).toEqual(subjects.toReversed());
  });
});

describe("a message in another encoding", () => {
  const bytes = {
    shift_jis: Buffer.from("8ddd8cc982cc8f4390b3", "hex"),
    "euc-jp": Buffer.from("badfb8cba4cebda4c0b5", "hex"),
  };

  it("is decoded by the name that git knows", async () => {
    const repository = testRepository();
    for (const [real, ...names] of [
      ["shift_jis", "cp932", "CP932", "ms932", "windows-31j", "SJIS", "unknown-name"],
      ["euc-jp", "eucJP", "EUC-JP", "eucJP-ms"],
    ] as const)
      for (const encoding of names)
        repository.gitBytes(
          ["-c", `i18n.commitEncoding=${encoding}`, "commit", "--quiet", "--allow-empty", "--file=-"],
          bytes[real],
        );
    expect(await indexed(await repository.open())).toEqual(Array.from({ length: 9 }, () => "在庫の修正"));
  });
});

describe("a commit without its tree", () => {
  it("is left out of the index or has no names, and the rest is searched", async () => {
    const repository = testRepository();
    repository.commit("first", { "README.md": "1", "src/a.md": "retry" });
    repository.commit("second", { "README.md": "2", "src/a.md": "other" });
    const tree = repository.git("rev-parse", "HEAD:src");
    repository.commit("third", { "README.md": "3", "src/a.md": "retry" });
    rmSync(join(repository.folder, ".git/objects", tree.slice(0, 2), tree.slice(2)));
    const source = await repository.open();
    expect((await indexed(source)).toSorted()).toEqual(["first", "second", "third"]);
    const hash = repository.git("rev-parse", "HEAD");
    expect(await readText(source, `commit/${hash}`, { as: "summary" })).toBe(
      "third\n\nAda <ada@example.org>, 2025-06-15",
    );
    const log = await readFacts<Log>(source, "log", { pickaxe: "retry" });
    expect(log).toMatchObject({
      commits: [{ subject: "first" }],
      notes: ["2 commits could not be searched, because the repository lacks a part of them"],
    });
  });
});

describe("a commit of very many files", () => {
  it("is searched for a text at a path, and without one a note says that it was searched in part", async () => {
    const repository = testRepository();
    const files = Array.from({ length: 10_000 }, (_, at) => `M 644 :1 a/${at}.md\n`).join("");
    const commit = `commit refs/heads/main\ncommitter A <a@b> 1750000000 +0000\n${data("import")}`;
    repository.gitBytes(
      ["fast-import", "--quiet"],
      `blob\nmark :1\n${data("x")}${commit}${files}M 644 inline z.md\n${data("retry")}`,
    );
    const source = await repository.open();
    const found = await readFacts<Log>(source, "log", { pickaxe: "retry", path: "z.md" });
    expect(found).toMatchObject({ commits: [{ subject: "import" }] });
    expect(found).not.toHaveProperty("notes");
    expect(await readFacts<Log>(source, "log", { pickaxe: "retry" })).toMatchObject({
      commits: [],
      notes: [expect.stringContaining("1 commit with very many changes")],
    });
  });
});

describe("indexedCommits", () => {
  it("of 0 indexes no commit, neither an old nor a new one", async () => {
    const repository = testRepository();
    const path = `commit/${repository.commit("first", { "a.md": "a" })}`;
    const none = await repository.open({ indexedCommits: 0 });
    expect([await indexed(none), none.indexes!({ path })]).toEqual([[], false]);
    const one = await repository.open({ indexedCommits: 1 });
    expect([await indexed(one), one.indexes!({ path })]).toEqual([["first"], true]);
  });

  it("is advised to be larger only as far as that helps", async () => {
    const repository = testRepository();
    for (const message of ["first", "second"]) repository.commit(message);
    const problems = await (await repository.open({ indexedCommits: 1 })).problems!(call);
    expect(problems).toMatchObject([{ advice: expect.stringMatching(/at most 200000 and below "search\.maxFiles"/) }]);
  });
});
