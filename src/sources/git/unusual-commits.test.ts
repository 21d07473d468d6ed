/** Commits and tags that few repositories have: very long, in other encodings, or incomplete. */
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
