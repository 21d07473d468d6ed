/** A copy of the repository, as it is in the working folder and committed, in which a release can be prepared. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export interface ReleaseTree extends Disposable {
  readonly folder: string;
  git(...words: readonly string[]): string;
  release(...words: readonly string[]): {
    readonly status: number | null;
    readonly out: string;
    readonly problems: readonly string[];
  };
}

export function createReleaseTree(): ReleaseTree {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-release-"));
  const git: ReleaseTree["git"] = (...words) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...words], {
      cwd: folder,
      encoding: "utf8",
    });
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = execFileSync("git", list, { cwd: root, encoding: "utf8" }).split("\0");
  const files = [...names.filter((name) => name !== "" && existsSync(join(root, name))), "dist"];
  const archive = execFileSync("tar", ["--create", "--null", "--files-from", "-"], {
    cwd: root,
    input: files.join("\0"),
    maxBuffer: 1024 ** 3,
  });
  execFileSync("tar", ["--extract"], { cwd: folder, input: archive });
  git("init", "--quiet", "--initial-branch", "main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "all");
  return {
    folder,
    git,
    release(...words) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/release.ts", ...words], {
        cwd: folder,
        encoding: "utf8",
      });
      const problems = stderr.split("\n").filter((line) => line.startsWith("problem: "));
      return { status, out: stdout + stderr, problems: problems.map((line) => line.slice("problem: ".length)) };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
