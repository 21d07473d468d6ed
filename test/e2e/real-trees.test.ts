/** Real trees: every listed URI reads back the same bytes, through every transport. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { listAll, recordsIn } from "./answers.ts";
import { legs, openTestServer, type TestServer } from "./harness.ts";
import type { Line } from "./line/line.ts";

/** One leg of each transport and era; what a revision changes in the words is tested elsewhere. */
const ways = legs.filter(
  ({ transport, revision }) => revision === "2026-07-28" || revision === "2025-11-25" || transport === "sse",
);

const oddNames = [
  "plain.txt",
  "with space.txt",
  " leading and trailing ",
  "100%.txt",
  "%20.txt",
  "%2e%2e",
  "a#b.txt",
  "a?b=c&d.txt",
  "new\nline.txt",
  "tab\tand\u0001control.txt",
  "back\\slash.txt",
  "quote\"s'.txt",
  "semi;colon,comma.txt",
  "@scope+plus=equals.txt",
  "[brackets]{braces}.txt",
  "日本語/設計書.md",
  "日本語/ガイド.md".normalize("NFC"),
  "日本語/ガイド.md".normalize("NFD"),
  "café.txt".normalize("NFC"),
  "café.txt".normalize("NFD"),
  "emoji 🖋️ 👩‍👩‍👧‍👦.txt",
  "x".repeat(255),
  "あ".repeat(85),
  "a:b.txt",
  "...",
  "~",
  "-rf",
];

function put(folder: string, path: string, bytes: string | Uint8Array): void {
  const file = join(folder, ...path.split("/"));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...identity, ...args], { cwd, stdio: "pipe", env: { PATH: process.env["PATH"] } });
}

async function bytesAt(line: Line, uri: string): Promise<Buffer> {
  const [content] = recordsIn(await line.result("resources/read", { uri }), "contents");
  expect(content?.["uri"]).toBe(uri);
  return typeof content?.["text"] === "string"
    ? Buffer.from(content["text"])
    : Buffer.from(String(content?.["blob"]), "base64");
}

/** Lists everything through the line and compares it with the disk. */
async function expectWhole(pressmark: TestServer, line: Line): Promise<string[]> {
  const listed = (await listAll(line)).filter((uri) => uri.startsWith("file:"));
  for (const uri of listed) {
    expect(await bytesAt(line, uri)).toEqual(readFileSync(fileURLToPath(uri)));
  }
  return listed.map((uri) => fileURLToPath(uri).slice(pressmark.folder.length + 1));
}

describe.for(ways)("a real tree over $transport in $revision", (leg) => {
  it("of odd names reads back byte for byte", async () => {
    await using pressmark = await openTestServer({ folder: true });
    // A name that begins with a dot is hidden, however odd the rest.
    const served = oddNames.filter((name) => !name.startsWith("."));
    for (const [index, name] of oddNames.entries()) put(pressmark.folder, name, `${index}: ${name}\n`);
    put(
      pressmark.folder,
      "bytes.bin",
      Uint8Array.from({ length: 300 }, (_, index) => index),
    );
    put(pressmark.folder, "empty", "");
    const found = await expectWhole(pressmark, await pressmark.line(leg));
    expect(found.toSorted()).toEqual([...served, "bytes.bin", "empty"].toSorted());
  });

  it("of a repository with a submodule and a worktree is what is checked out", async ({ skip }) => {
    if (!("CI" in process.env) && spawnSync("git", ["--version"]).status !== 0) skip("needs git");
    await using pressmark = await openTestServer({ folder: true });
    using disposables = new DisposableStack();
    const other = disposables.adopt(mkdtempSync(join(tmpdir(), "pressmark-e2e-")), (folder) =>
      rmSync(folder, { recursive: true }),
    );
    for (const [folder, path] of [
      [other, "lib/読む.ts"],
      [pressmark.folder, "src/main.ts"],
      [pressmark.folder, "README.md"],
    ] as const) {
      if (!existsSync(join(folder, ".git"))) git(folder, "init", "--quiet", "--initial-branch=main");
      put(folder, path, `// ${path}\n`);
      git(folder, "add", ".");
      git(folder, "commit", "--quiet", "--message", path);
    }
    git(pressmark.folder, "submodule", "--quiet", "add", other, "vendor/library");
    git(pressmark.folder, "worktree", "add", "--quiet", join(pressmark.folder, "trees", "next"), "-b", "next");
    put(pressmark.folder, ".gitignore", "build/\n");
    put(pressmark.folder, "build/out.js", "made");
    const found = await expectWhole(pressmark, await pressmark.line(leg));
    expect(found.toSorted()).toEqual(
      [
        "README.md",
        "src/main.ts",
        "trees/next/README.md",
        "trees/next/src/main.ts",
        "vendor/library/lib/読む.ts",
      ].toSorted(),
    );
  });
});
