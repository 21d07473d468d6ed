/** Gives a gathering a workbench in a thread, where cleaning, ranking and counting delay no one else. */
import { ResourceError } from "../errors.ts";
import { createThreads, type ThreadCall, ThreadOverrun, type Threads } from "../lib/threads.ts";
import type { CountTokens } from "./count-tokens.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

export type AsyncWorkbench = {
  readonly [Name in keyof Workbench]: (
    ...args: Parameters<Workbench[Name]>
  ) => Promise<Awaited<ReturnType<Workbench[Name]>>>;
};

/** To load a tokenizer takes a second: a thread that has one is kept for a while. */
const idleMs = 600_000;
const deadlineMs = 30_000;
let threads: Threads | undefined;

/** A counter of the caller's own cannot be passed to a thread: then the workbench is on this one. */
export async function useWorkbench<T>(
  task: string,
  counter: "estimate" | "best" | CountTokens,
  signal: AbortSignal,
  work: (bench: AsyncWorkbench) => Promise<T>,
): Promise<T> {
  if (typeof counter === "object") return work(asAsync(createWorkbench(task, counter)));
  threads ??= createThreads({ name: "pressmark-gather", max: 2, deadlineMs, maxMiB: 1024, idleMs });
  try {
    const module = new URL("./workbench-thread.ts", import.meta.url);
    return await threads.use(module, (call) => workInThread(call, task, counter, work), signal);
  } catch (cause) {
    if (signal.aborted) throw new ResourceError("cancelled", "gathering was cancelled", { cause });
    if (!(cause instanceof ThreadOverrun)) throw cause;
    throw new ResourceError("too-large", `gathering takes ${cause.message}; ask for less, or with a smaller budget`, {
      cause,
    });
  }
}

async function workInThread<T>(
  call: ThreadCall,
  task: string,
  counter: "estimate" | "best",
  work: (bench: AsyncWorkbench) => Promise<T>,
): Promise<T> {
  await call("begin", task, counter);
  try {
    return await work({
      add: (text) => call("add", text),
      rankTexts: (about) => call("rankTexts", about),
      pack: (about, budget, format) => call("pack", about, budget, format),
    });
  } finally {
    // The thread stays, and the texts need not.
    call("end").catch(() => undefined);
  }
}

function asAsync(bench: Workbench): AsyncWorkbench {
  return {
    add: async (text) => bench.add(text),
    rankTexts: async (about) => bench.rankTexts(about),
    pack: bench.pack,
  };
}
