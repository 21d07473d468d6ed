/** The thread that watches. It does nothing else, so that it reads events before the system's queue overflows. */
import { parentPort, workerData } from "node:worker_threads";
import { releaseMemoryWhenIdle } from "../../lib/v8-memory.ts";
import type { SourceChange } from "../../source.ts";
import { createConfine } from "../disk/confine.ts";
import { createLocalDisk, remoteSettleMs } from "../disk/disk.ts";
import type { Disk } from "../disk/disk.ts";
import { createFolderRules } from "../folder-rules/folder-rules.ts";
import type { FromWatchWorker, WorkerData } from "./watch.ts";
import { createWatchTree } from "./watch-tree.ts";

const { root, choice, person, announced, polled, pollMs } = workerData as WorkerData;
// This thread may block on a slow server, which only delays its own events. `trustMs` is 0, because a change missed now is not announced
// again.
const disk: Disk = { ...createLocalDisk(), trustMs: 0, ...(polled && { settleMs: remoteSettleMs }) };

const folderRules = createFolderRules({ ...choice, root, disk, person });

let isRootReadable = true;
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
  looked(isReadable) {
    if (!isReadable || !isRootReadable) post({ rootReadable: isReadable });
    isRootReadable = isReadable;
  },
});
if (tree.arm()) {
  releaseMemoryWhenIdle();
  post({ armed: true });
} else post({ rootReadable: false });

function post(message: FromWatchWorker): void {
  parentPort?.postMessage(message, []);
}

/** One string is cheaper to transfer than thousands. */
function pack(changes: readonly SourceChange[]): string {
  return changes.map(packOne).join("\0");
}

function packOne(change: SourceChange): string {
  if (change.kind === "lost") return "l";
  const [letter = ""] = change.kind;
  return `${"eachBelow" in change ? letter.toUpperCase() : letter}${change.path}`;
}
