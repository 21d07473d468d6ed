/** Runs the workbench of a gathering in a thread, so that cleaning, ranking and counting block nothing else. */
import { cancelled, ResourceError } from "../errors.ts";
import { costAccount } from "../lib/cost-account.ts";
import { createSlots } from "../lib/create-slots.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { createThreads, type ThreadCall, ThreadOverrun, type Threads } from "../lib/threads.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { CountTokens } from "./count-tokens.ts";
import type { CountedText } from "./workbench-thread.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

export type AsyncWorkbench = {
  readonly [Name in keyof Workbench]: (
    ...args: Parameters<Workbench[Name]>
  ) => ReturnType<Workbench[Name]> | Promise<Awaited<ReturnType<Workbench[Name]>>>;
};

/** Loading a tokenizer takes a second: its thread is reused for a while. */
const idleMs = 600_000;
const deadlineMs = 30_000;
const threadModule = new URL("./workbench-thread.ts", import.meta.url);
let threads: Threads | undefined;

function workbenchThreads(): Threads {
  return (threads ??= createThreads({ name: "pressmark-gather", max: 2, deadlineMs, maxMiB: 1024, idleMs }));
}

/** One text at a time, so that counting leaves a thread to gatherings. */
const takeCountSlot = createSlots(1);

/** Counts a text with the best installed counter, at the caller's cost. Waits while gatherings use all threads, until the signal is aborted. */
export async function countInThread(text: string, signal: AbortSignal): Promise<CountedText> {
  const account = costAccount();
  const free = await takeCountSlot(signal);
  let isStarted = false;
  const count = (call: ThreadCall): Promise<CountedText> => {
    isStarted = true;
    const startMs = monotonicMs();
    // An aborted count goes on in its thread.
    const end = (): void => {
      account?.charge("processMs", monotonicMs() - startMs);
      free();
    };
    const counted = call<CountedText>("countText", text);
    counted.then(end, end);
    return counted;
  };
  try {
    return await unlessAborted(workbenchThreads().use(threadModule, count, signal), signal);
  } finally {
    if (!isStarted) free();
  }
}

/** A custom counter cannot be passed to a thread: then the workbench runs on this one. */
export async function useWorkbench<T>(
  task: string,
  counter: "estimate" | "best" | CountTokens,
  signal: AbortSignal,
  work: (bench: AsyncWorkbench) => Promise<T>,
): Promise<T> {
  if (typeof counter === "object") return work(createWorkbench(task, counter));
  try {
    return await workbenchThreads().use(threadModule, (call) => workInThread(call, task, counter, work), signal);
  } catch (cause) {
    if (signal.aborted) throw cancelled(cause);
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
