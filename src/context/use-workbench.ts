/** Runs the workbench of a gathering in a thread, so that cleaning, ranking and counting block nothing else. */
import { ResourceError } from "../errors.ts";
import { createThreads, type ThreadCall, ThreadOverrun, type Threads } from "../lib/threads.ts";
import type { CountTokens } from "./count-tokens.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

export type AsyncWorkbench = {
  readonly [Name in keyof Workbench]: (
    ...args: Parameters<Workbench[Name]>
  ) => ReturnType<Workbench[Name]> | Promise<Awaited<ReturnType<Workbench[Name]>>>;
};

/** Loading a tokenizer takes a second: its thread is reused for a while. */
const idleMs = 600_000;
const deadlineMs = 30_000;
let threads: Threads | undefined;

/** A custom counter cannot be passed to a thread: then the workbench runs on this one. */
export async function useWorkbench<T>(
  task: string,
  counter: "estimate" | "best" | CountTokens,
  signal: AbortSignal,
  work: (bench: AsyncWorkbench) => Promise<T>,
): Promise<T> {
  if (typeof counter === "object") return work(createWorkbench(task, counter));
  threads ??= createThreads({ name: "pressmark-gather", max: 2, deadlineMs, maxMiB: 1024, idleMs });
  try {
    const module = new URL("./workbench-thread.ts", import.meta.url);
    return await threads.use(module, (call) => workInThread(call, task, counter, work), signal);
  } catch (cause) {
    if (signal.aborted) throw new ResourceError("cancelled", "cancelled", { cause });
    if (!(cause instanceof ThreadOverrun)) throw cause;
    throw new ResourceError("too-large", `gathering takes ${cause.message}; request less, or a smaller budget`, {
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
      pack: (...args) => call("pack", ...args),
    });
  } finally {
    // The thread is kept, its texts are not.
    call("end").catch(() => undefined);
  }
}
