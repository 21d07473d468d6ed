/** Opens a repository: its objects, refs and trees, limited to what the folder rules serve. */
import { statfsSync } from "node:fs";
import { lastingFailure, unavailable } from "../../errors.ts";
import type { Runtime, VisibleFiles } from "../../source.ts";
import { createLocalDisk, createRemoteDisk, diskKind } from "../disk/disk.ts";
import { chooseRules, createFolderRules } from "../folder-rules/folder-rules.ts";
import { personOf } from "../folder-rules/git-excludes.ts";
import type { RuleChoice } from "../folder-rules/name-rules.ts";
import { run } from "../disk/steps.ts";
import { createBlobs, type Blobs } from "./blobs.ts";
import { createCommitTrees } from "./commit-trees.ts";
import { createFilesBelow, type FileBelow } from "./files-below.ts";
import { createHeadIgnoreFiles } from "./head-ignore-files.ts";
import { createHistoryRules, type HistoryRules } from "./history-rules.ts";
import { createMirror, type Mirror } from "./mirror.ts";
import { createObjects, type Objects } from "./objects.ts";
import { createProgram, GitFailure, type GitProgram } from "./program.ts";
import type { Reach } from "./reach.ts";
import { createRefs, type Refs } from "./refs.ts";
import { findRepository, type GitRepository } from "./repository.ts";
import { createServedTrees, type ServedTrees } from "./served-trees.ts";
import { allCommits, createShownCommits, judgeRecent, type ShownCommits } from "./shown-commits.ts";
import { createTrees } from "./trees.ts";
import { createVisibleRefs } from "./visible-refs.ts";
import { createRepositoryWatcher, type RepositoryWatcher } from "./watch.ts";

export interface OpenRepository {
  readonly repository: GitRepository;
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly rules: HistoryRules;
  readonly commits: ShownCommits;
  readonly trees: ServedTrees;
  readonly blobs: Blobs;
  readonly headers: Objects;
  readonly contents: Objects;
  readonly watching: RepositoryWatcher;
  readonly maxBytes: number;
  /** Whether access rules hide a part of it from the caller. */
  readonly isPartial: boolean;
  /**
   * The repository as a caller sees it who may see these files only. `readIndexState` returns a text that differs if what they see of the
   * index differs.
   */
  seenBy(visible: VisibleFiles, readIndexState: (signal: AbortSignal) => Promise<string>): OpenRepository;
  /** Throws if the repository now refers to a location that it did not refer to when it was opened. */
  confine(): void;
  /** From now on, folder rules are checked before they are used. */
  expireRules(): void;
  /** All files below a folder at a ref. */
  filesAt(ref: string, folder: readonly string[]): Promise<FileBelow[]>;
  /** The result, or an error in our own words: messages of git may contain paths. */
  answer<T>(work: Promise<T>): Promise<T>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

export interface RepositoryOptions {
  /** Locations that the repository used when it was opened. */
  readonly reach: Reach;
  readonly maxBytes: number;
  /** The template that errors name for reading a part of a file. */
  readonly partTemplate: string;
  readonly watch: "auto" | "poll";
  readonly pollMs: number;
  readonly log: Runtime["log"];
  readonly env: Runtime["env"];
  readonly chosen: Partial<RuleChoice>;
  /** The only folder that is served, and its path from the root of the checkout. Default: the whole repository. */
  readonly part?: { readonly root: string; readonly folderPath: readonly string[] } | undefined;
}

export function openRepository(repository: GitRepository, options: RepositoryOptions): OpenRepository {
  const { reach, maxBytes, watch, pollMs, log, env, chosen, part } = options;
  const isLocal = diskKind(statfsSync(repository.commonDir).type) === "local";
  const program = createProgram([repository.root, repository.gitDir, repository.commonDir], env);
  const disk = isLocal ? createLocalDisk() : createRemoteDisk();
  const mirror = createMirror({
    repository,
    reach,
    program,
    disk,
    env,
    remade() {
      contents.renew();
      headers.renew();
    },
  });
  const startBatch = (how: string) => async () => program.start(["cat-file", how], await mirror.ready());
  const contents = createObjects({ start: startBatch("--batch"), givesContents: true });
  const headers = createObjects({ start: startBatch("--batch-check"), givesContents: false });
  const refs = createRefs(mirror, program, headers);
  const allTrees = createTrees(mirror, contents);
  const folderPath = part?.folderPath ?? [];
  const folderRules = createFolderRules({
    ...chooseRules(chosen),
    root: part?.root ?? repository.root,
    disk,
    person: personOf(env),
    absent: createHeadIgnoreFiles({ repository, disk, refs, trees: allTrees, contents, folderPath }),
    say: (message, path) => log("warn", message, { path }),
  });
  const commitTrees = createCommitTrees(repository, contents);
  const hashBytes = () => mirror.hashLength / 2;
  const blobs = createBlobs(contents, headers, options);
  const isAnnounced = isLocal && watch === "auto";
  const generation = async () => run(folderRules.generation());

  /** The parts that depend on what is shown: to everyone, or to a caller who may see some files only. */
  function show(partial?: Parameters<OpenRepository["seenBy"]>) {
    const visible = partial && { files: partial[0], root: repository.root };
    const rules = createHistoryRules({ folderRules, contents, folderPath, visible });
    const commits = part ? allCommits : createShownCommits({ rules, trees: allTrees, commitTrees, hashBytes });
    const trees = createServedTrees(allTrees, rules, commits);
    const shownRefs = partial ? createVisibleRefs(refs, commits, headers) : refs;
    const askRecent = (signal: AbortSignal) => judgeRecent(commits, { program, mirror, signal });
    const noticing = {
      rules,
      isShown: commits.isShown,
      generation,
      askRecent,
      isAnnounced,
      pollMs,
      readIndexState: partial?.[1],
    };
    const watching = createRepositoryWatcher({ repository, program, mirror, refs: shownRefs, ...noticing, log });
    return { rules, commits, trees, refs: shownRefs, watching, isPartial: partial !== undefined };
  }

  const shown = show();
  const filesBelow = createFilesBelow(shown.trees, headers);
  const opened: OpenRepository = {
    repository,
    program,
    mirror,
    ...shown,
    blobs,
    headers,
    contents,
    maxBytes,
    seenBy: (...partial) => ({ ...opened, ...show(partial) }),
    confine: mirror.confine,
    expireRules: folderRules.expire,
    filesAt: async (ref, folder) => filesBelow(await refs.resolve(ref), folder),

    async answer(work) {
      try {
        return await work;
      } catch (cause) {
        if (!(cause instanceof GitFailure)) throw cause;
        if (!findRepository(repository.root))
          throw unavailable("the repository of this mount does not exist at the moment", cause);
        log("warn", "git failed", { said: cause.message });
        const message = "git cannot read this part of the repository; run git fsck there";
        throw lastingFailure(message, cause);
      }
    },

    async close() {
      blobs.clear();
      folderRules.clear();
      await Promise.all([program.close(), shown.watching.close(), contents.close(), headers.close()]);
      mirror.close();
    },
  };
  return opened;
}
