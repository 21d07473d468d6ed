/** Everything that answers questions about one repository, put together. Loaded with the first question. */
import { statfsSync } from "node:fs";
import { ResourceError } from "../../errors.ts";
import type { Tools } from "../../source.ts";
import { createLocalDisk, createRemoteDisk, diskKind } from "../../backends/disk/disk.ts";
import { createBlobs } from "./blobs.ts";
import { type Completing, createCompleting } from "./complete.ts";
import { createMirror } from "./mirror.ts";
import { createObjects } from "./objects.ts";
import { createProgram, GitFailure } from "./program.ts";
import type { Reach } from "./reach.ts";
import { createReading, type Reading } from "./reading.ts";
import { createRefs } from "./refs.ts";
import { findRepository, type Repository } from "./repository.ts";
import { createTrees } from "./trees.ts";
import { createWatching, type Watching } from "./watch.ts";

export interface Desk {
  readonly reading: Reading;
  readonly complete: Completing;
  readonly watch: Watching["watch"];
  /** Throws where the repository now leads to a place that it did not lead to when it was opened. */
  confine(): void;
  /** The answer, or in our own words why git has none: its own may hold paths. */
  answer<T>(work: Promise<T>): Promise<T>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

export interface DeskOptions {
  /** What the repository read when it was opened. */
  readonly reach: Reach;
  readonly maxBytes: number;
  readonly watch: "auto" | "poll";
  readonly pollMs: number;
  readonly log: Tools["log"];
  readonly redact?: Tools["redact"] | undefined;
}

export function openDesk(repository: Repository, { reach, maxBytes, watch, pollMs, log, redact }: DeskOptions): Desk {
  const isLocal = diskKind(statfsSync(repository.commonDir).type) === "local";
  const program = createProgram([repository.root, repository.gitDir, repository.commonDir]);
  const disk = isLocal ? createLocalDisk() : createRemoteDisk();
  const mirror = createMirror({
    repository,
    reach,
    program,
    disk,
    remade() {
      contents.renew();
      headers.renew();
    },
  });
  const startBatch = (how: string) => async () => program.start(["cat-file", how], await mirror.ready());
  const contents = createObjects({ start: startBatch("--batch"), givesContents: true });
  const headers = createObjects({ start: startBatch("--batch-check"), givesContents: false });
  const refs = createRefs(mirror, program, headers);
  const trees = createTrees(mirror, contents);
  const blobs = createBlobs(contents, headers, maxBytes);
  const isAnnounced = isLocal && watch === "auto";
  const watching = createWatching({ repository, program, mirror, refs, isAnnounced, pollMs, log });
  return {
    reading: createReading({ repository, program, mirror, refs, trees, blobs, watching, maxBytes, redact }),
    complete: createCompleting({ program, mirror, refs, trees, headers }),
    watch: watching.watch,
    confine: mirror.confine,

    async answer(work) {
      try {
        return await work;
      } catch (cause) {
        if (!(cause instanceof GitFailure)) throw cause;
        if (!findRepository(repository.root))
          throw new ResourceError("unavailable", "the repository of this mount is not there just now", { cause });
        log("warn", "git failed", { said: cause.message });
        const says = "git cannot read this part of the repository; see what git fsck says there";
        throw new ResourceError("unavailable", says, { cause, passing: false });
      }
    },

    async close() {
      blobs.clear();
      await Promise.all([program.close(), watching.close(), contents.close(), headers.close()]);
      mirror.close();
    },
  };
}
