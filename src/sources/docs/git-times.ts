/** The last commit time of each file: one bounded read of the history, safe for an untrusted repository. */
import { realpathSync, statfsSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { createLocalDisk, createRemoteDisk, diskKind } from "../../backends/disk/disk.ts";
import { createMirror, type Mirror } from "../../backends/git/mirror.ts";
import { createProgram, type GitProgram } from "../../backends/git/program.ts";
import { reachOf } from "../../backends/git/reach.ts";
import { findRepository, type GitRepository } from "../../backends/git/repository.ts";
import type { Runtime } from "../../runtime.ts";

export interface GitTimes {
  /** The commit time of a file, in ISO 8601, if known. */
  of(file: string): string | undefined;
  /** Reads the history again if the branch has moved. Resolves when that is done; never rejects. */
  refresh(files: () => Iterable<string>): Promise<void>;
  close(): void;
}

interface GitTimesOptions {
  readonly root: string;
  /** The commit whose history is read. Default: HEAD. */
  readonly ref?: string;
  readonly env: Runtime["env"];
  readonly maxCommits?: number;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

/** A repository and the git program to read it. */
interface History {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  /** Prefix of the folder's files in the repository. */
  readonly prefix: string;
}

/** Followed by the time of the commit. */
const commitMark = "\u0001";

export function createGitTimes({
  root,
  ref = "HEAD",
  env,
  maxCommits = 20_000,
  maxBytes = 64 * 1024 * 1024,
  timeoutMs = 20_000,
}: GitTimesOptions): GitTimes {
  const closing = new AbortController();
  const { signal } = closing;
  let history: History | undefined;
  let times: ReadonlyMap<string, string> = new Map();
  let known: string | undefined;
  let running: Promise<void> | undefined;
  let isHopeless = false;

  async function refresh(files: () => Iterable<string>): Promise<void> {
    history ??= openHistory(root, env);
    if (!history) {
      isHopeless = true;
      return;
    }
    const { program, mirror } = history;
    mirror.confine();
    const gitDir = await mirror.ready();
    mirror.head();
    const revParse = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
    const commit = (await program.run(revParse, { gitDir, signal })).bytes.toString("latin1").trim();
    if (commit === known) return;
    times = await read(history, gitDir, commit, new Set(files()));
    known = commit;
  }

  async function read({ program, prefix }: History, gitDir: string, commit: string, wanted: Set<string>) {
    const found = new Map<string, string>();
    const decoder = new TextDecoder();
    let left = maxBytes;
    let rest = "";
    let time: string | undefined;
    const args = ["log", "-z", `--max-count=${maxCommits}`, "--format=%x01%ct", "--name-only", "--no-renames"];
    const plain = ["--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--diff-filter=d"];
    const where = prefix === "" ? [] : ["--", prefix];
    await program.run([...args, ...plain, "--end-of-options", commit, ...where], {
      gitDir,
      signal,
      timeoutMs,
      take(piece) {
        const pieces = (rest + decoder.decode(piece, { stream: true })).split("\0");
        rest = pieces.pop() ?? "";
        for (const each of pieces) {
          // The first name of a commit starts on a new line.
          const said = each.startsWith("\n") ? each.slice(1) : each;
          if (said.startsWith(commitMark)) time = toTime(said.slice(1));
          else if (time !== undefined && said.startsWith(prefix)) {
            const file = said.slice(prefix.length);
            if (wanted.delete(file)) found.set(file, time);
          }
        }
        left -= piece.length;
        return left > 0 && wanted.size > 0;
      },
    });
    return found;
  }

  return {
    of: (file) => times.get(file),

    async refresh(files) {
      if (isHopeless || signal.aborted) return;
      // No commit, no git, or a history that takes too long: the file times are used instead.
      running ??= refresh(files)
        .catch(() => undefined)
        .finally(() => {
          running = undefined;
        });
      await running;
    },

    close() {
      closing.abort();
      history?.mirror.close();
    },
  };
}

/** Undefined if the folder is not in a repository. */
function openHistory(root: string, env: Runtime["env"]): History | undefined {
  const found = findAbove(root);
  if (!found) return undefined;
  const { repository, folderPath } = found;
  const program = createProgram([repository.root, repository.gitDir, repository.commonDir], env);
  const isLocal = diskKind(statfsSync(repository.commonDir).type) === "local";
  const disk = isLocal ? createLocalDisk() : createRemoteDisk();
  const mirror = createMirror({ repository, reach: reachOf(repository), program, disk, env, remade: () => undefined });
  return { program, mirror, prefix: folderPath.map((name) => `${name}/`).join("") };
}

/** The nearest repository at or above the folder, and the path from it to the folder. */
export function findAbove(
  configured: string,
): { readonly repository: GitRepository; readonly folderPath: readonly string[] } | undefined {
  const root = realpathSync.native(configured);
  for (let folder = root; ; folder = dirname(folder)) {
    const repository = findRepository(folder);
    if (repository?.isBare && folder !== root) return undefined;
    if (repository)
      return {
        repository,
        folderPath: relative(folder, root)
          .split(sep)
          .filter((name) => name !== ""),
      };
    if (folder === dirname(folder)) return undefined;
  }
}

function toTime(seconds: string): string | undefined {
  const ms = Number(seconds) * 1000;
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}
