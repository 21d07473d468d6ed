/**
 * A repository made of a Debian source package: the upstream release, then one commit for each patch of the package, with the message that its
 * author wrote. For where no history can be cloned: `node bench/gather/patch-series.ts <upstream.tar> <debian.tar.xz> <new folder>`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** Fields of a patch's header that say who and where, and nothing of what is done. */
const notes =
  /^(?:From|Date|Author|Origin|Bug|Bug-[A-Za-z]+|Forwarded|Applied-[Uu]pstream|Reviewed-[Bb]y|Acked-[Bb]y|Signed-off-by|Tested-by|Co-authored-by|Part-of|Closes|Fixes|Last-Update|Index|Reference|Conflicts|Patch-Name|Change-Id|Debian-Bug|CVE)\s*[:#].*(?:\n[ \t]+.*)*\n?|^From [0-9a-f]{40} .*\n|^\(cherry picked from .*\n|^index [0-9a-f]+\.\..*\n|^=+\n/gim;

function messageOf(patch: string): string {
  const end = patch.search(/^(?:---(?: .*)?|diff --git .*|Index: .*)$/m);
  return patch
    .slice(0, end)
    .replaceAll(notes, "")
    .replace(/^(?:Subject|Description):\s*(?:\[[^\]]*\]\s*)?/im, "")
    .replaceAll(/^ ?\.?$/gm, "")
    .trim();
}

function makeRepository(upstream: string, packaging: string, folder: string): void {
  if (existsSync(folder)) throw new Error(`${folder} is there already`);
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  execFileSync("tar", ["-xf", upstream, "-C", folder, "--strip-components=1"]);
  rmSync(join(folder, "debian"), { recursive: true, force: true });
  rmSync(join(folder, ".gitattributes"), { force: true });
  git("init", "--quiet");
  const commit = (message: string): void => {
    git("add", "--all", "--force");
    git("commit", "--quiet", "--allow-empty", "--no-verify", "--cleanup=verbatim", "-m", message);
  };
  commit("Upstream release");
  const aside = resolve(`${folder}.patches`);
  mkdirSync(aside);
  execFileSync("tar", ["-xf", packaging, "-C", aside, "debian/patches"]);
  const patches = join(aside, "debian", "patches");
  for (const line of readFileSync(join(patches, "series"), "utf8").split("\n")) {
    const [name = "", option] = line.trim().split(/\s+/);
    if (name === "" || name.startsWith("#")) continue;
    const file = join(patches, name);
    try {
      execFileSync(
        "patch",
        ["-d", folder, option ?? "-p1", "--batch", "--force", "--quiet", "--no-backup-if-mismatch", "-i", file],
        {
          stdio: "ignore",
        },
      );
    } catch {
      process.stderr.write(`${name} does not apply\n`);
      git("checkout", "--quiet", "--", ".");
      git("clean", "-fdq");
      continue;
    }
    commit(messageOf(readFileSync(file, "utf8")) || name);
  }
  rmSync(aside, { recursive: true });
}

const [upstream, packaging, folder] = process.argv.slice(2);
if (!upstream || !packaging || !folder) {
  process.stderr.write("usage: node bench/gather/patch-series.ts UPSTREAM.tar DEBIAN.tar.xz NEW-FOLDER\n");
  process.exitCode = 2;
} else makeRepository(upstream, packaging, folder);
