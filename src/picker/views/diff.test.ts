import { describe, expect, it } from "vitest";
import { parseDiff, diffPairs, diffRuns } from "./diff.ts";

const told = (text: string): readonly string[] =>
  parseDiff(text).map(
    ({ name, was, added, removed, lines }) =>
      `${was === undefined ? "" : `${was} → `}${name} +${added} -${removed}: ${lines.map(({ kind, before, after }) => `${kind[0]}${before ?? ""}/${after ?? ""}`).join(" ")}`,
  );

describe("diffs", () => {
  it.each([
    [
      "diff --git a/x.ts b/x.ts\nindex 1..2 100644\n--- a/x.ts\n+++ b/x.ts\n@@ -3,2 +3,3 @@ f()\n a\n-b\n+c\n+d\n",
      ["x.ts +2 -1: n/ n/ n/ n/ h/ s3/3 r4/ a/4 a/5"],
    ],
    [
      "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n",
      ["one +1 -1: n/ n/ h/ r1/ a/1", "two +1 -1: n/ n/ h/ r1/ a/1"],
    ],
    [
      "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
      ["new.md +1 -0: n/ n/ h/ a/1 n/"],
    ],
    ["--- a/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", ["old.md +0 -1: n/ n/ h/ r1/"]],
    ["diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", ["a → b +0 -0: n/ n/ n/ n/"]],
    [
      String.raw`diff --git "a/src/\345\243\262.ts" "b/src/\345\243\262 \"100%41\".ts"
--- "a/src/\345\243\262.ts"
+++ "b/src/\345\243\262 \"100%41\".ts"
@@ -1 +1 @@
-a
+b
`,
      ['src/売.ts → src/売 "100%41".ts +1 -1: n/ n/ n/ h/ r1/ a/1'],
    ],
    [
      String.raw`diff --git "a/\345\243\262.md" "b/\345.md"
rename from "\345\243\262.md"
rename to "\345.md"
`,
      ["売.md → %e5.md +0 -0: n/ n/ n/"],
    ],
    ["just a text\n", [" +0 -0: n/"]],
    ["", []],
  ])("%j", (text, expected) => {
    expect(told(text)).toEqual(expected);
  });

  it("lines within a hunk are changes, whatever they look like", () => {
    const [file] = parseDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-- q\n+++ b/y\n+@@ -1 +1 @@\n");
    expect(file?.lines.slice(3)).toEqual([
      { kind: "removed", text: "-- a/y", before: 1 },
      { kind: "removed", text: "- q", before: 2 },
      { kind: "added", text: "++ b/y", after: 1 },
      { kind: "added", text: "@@ -1 +1 @@", after: 2 },
    ]);
  });

  it("consecutive lines of one kind form one run", () => {
    const [file] = parseDiff("@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d\n");
    expect(diffRuns(file?.lines ?? []).map(({ kind, lines }) => [kind, lines.length])).toEqual([
      ["hunk", 1],
      ["removed", 2],
      ["added", 2],
    ]);
  });

  it("stand side by side: removed lines beside the added ones that follow", () => {
    const [file] = parseDiff("--- a\n+++ b\n@@ -1,4 +1,5 @@\n a\n-b\n-c\n+d\n e\n+f\n+g\n");
    const pairs = diffPairs(file?.lines ?? []).slice(2);
    expect(pairs.map((pair) => pair.map((line) => line?.text ?? "·").join("|"))).toEqual([
      "@@ -1,4 +1,5 @@|·",
      "a|a",
      "b|d",
      "c|·",
      "e|e",
      "·|f",
      "·|g",
    ]);
  });

  it("takes linear time for hostile texts", () => {
    for (const piece of ["@@ -1 +1 @@\n", "--- a\n+++ b\n", "diff --git a/ b/", "@@ -1,999999999 +1 @@\n", '"', "@"])
      expect(parseDiff(piece.repeat(20_000))).toBeDefined();
  });
});
