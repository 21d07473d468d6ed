/** A repository of many commits, made once by git itself. */
import { execFileSync } from "node:child_process";
import { once } from "./make-tree.ts";

export interface RepositoryShape {
  readonly commits: number;
  /** In 30 folders. Each commit changes one. */
  readonly files: number;
}

export function makeRepository(root: string, { commits, files }: RepositoryShape): void {
  once(root, files, () => {
    git(root, ["init", "--quiet", "--initial-branch=main"]);
    git(root, ["fast-import", "--quiet"], [...history(commits, files)].join("\n"));
    git(root, ["repack", "-a", "-d", "--quiet"]);
  });
}

function git(root: string, args: readonly string[], input = ""): void {
  execFileSync("git", ["-C", root, ...args], { input, stdio: ["pipe", "ignore", "inherit"] });
}

function* history(commits: number, files: number): Generator<string> {
  for (let commit = 0; commit < commits; commit++) {
    const message = `Change number ${commit}`;
    yield "commit refs/heads/main";
    yield `committer Ada <ada@example.org> ${1_700_000_000 + 60 * commit} +0000`;
    yield `data ${message.length}\n${message}`;
    for (const file of commit === 0 ? Array.from({ length: files }, (_, each) => each) : [commit % files]) {
      const text = `line of file ${file} as of ${commit}, which says something\n`.repeat(30);
      yield `M 644 inline folder-${file % 30}/file-${file}.ts`;
      yield `data ${text.length}\n${text}`;
    }
    yield "";
  }
}
