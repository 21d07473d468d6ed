/** The thread that watches: it does nothing else, so that what the system announces is taken before its queue runs full. */
import { parentPort, workerData } from "node:worker_threads";
import { releaseMemoryWhenIdle } from "../../lib/release-memory.ts";
import type { SourceChange } from "../../source.ts";
import { createConfine } from "./confine.ts";
import { createLocalDisk, remoteSettleMs } from "../../backends/disk/disk.ts";
import type { Disk } from "../../backends/disk/disk.ts";
import { createFolderRules } from "../../backends/folder-rules/folder-rules.ts";
import type { FromWatchWorker, WorkerData } from "./watch.ts";
import { createWatchTree } from "./watch-tree.ts";

const { root, choice, person, announced, polled, pollMs } = workerData as WorkerData;
// A thread of its own may wait for a slow server; only its own news would be late. It takes nothing for granted: what it does
// not notice now is not announced again.
const disk: Disk = { ...createLocalDisk(), trustMs: 0, ...(polled && { settleMs: remoteSettleMs }) };

const folderRules = createFolderRules({ ...choice, root, disk, person });

const tree = createWatchTree({
  confine: createConfine(root, disk, folderRules),
  disk,
  folderRules,
  pollAll: polled,
  pollMs,
  ...(!announced && { watch: () => undefined }),
  tell: (changes) => post({ changes: pack(changes) }),
  polling: (folders) => post({ polling: folders }),
  busy: (isBusy) => post({ busy: isBusy }),
});
tree.arm();
releaseMemoryWhenIdle();
post({ armed: true });

function post(message: FromWatchWorker): void {
  parentPort?.postMessage(message, []);
}

/** One string costs less to hand over than thousands. */
function pack(changes: readonly SourceChange[]): string {
  return changes.map(packOne).join("\0");
}

function packOne(change: SourceChange): string {
  if (change.kind === "lost") return "l";
  const [letter = ""] = change.kind;
  return `${"eachBelow" in change ? letter.toUpperCase() : letter}${change.path}`;
}
