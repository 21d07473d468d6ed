import { describe, expect, it } from "vitest";
import { fileKindOf } from "./file-kind.ts";
import { readTask } from "./read-task.ts";
import { lookThrough } from "./texts.ts";

describe("the kind of a file", () => {
  it.each([
    ["CHANGELOG.md", "changelog"],
    ["docs/HISTORY.rst", "changelog"],
    ["NEWS", "changelog"],
    ["CHANGES.txt", "changelog"],
    ["CHANGELOG-1.2.md", "changelog"],
    ["CHANGES.0.9", "changelog"],
    ["releases.adoc", "changelog"],
    ["変更履歴.md", "changelog"],
    ["src/history.ts", "other"],
    ["changes.ts", "other"],
    ["news.py", "other"],
    ["release.go", "other"],
    ["releases.rb", "other"],
    ["release.yml", "other"],
    ["src/latest.ts", "other"],
    ["src/rank.test.ts", "test"],
    ["test_rank.py", "test"],
    ["RankTest.java", "test"],
    ["tests/history.ts", "test"],
    ["shop/tests.py", "test"],
    ["shop/test.ts", "test"],
    ["spec.md", "other"],
    ["testing.md", "other"],
    ["決済テスト.md", "test"],
    ["テスト/決済.md", "test"],
    ["受入試験.md", "test"],
    ["テスト計画.md", "other"],
  ])("%s: %s", (path, kind) => {
    expect(fileKindOf(path)).toBe(kind);
  });

  it("does not depend on folders above the root of its mount", () => {
    const names = { path: "srv/tests/stove/src/lid.ts", pathBelowRoot: "src/lid.ts" };
    expect(lookThrough("lid\n", names, readTask("lid"))!.kind).toBe("other");
  });
});
