/** The thread of `createThreads`: runs the requested functions one after the other. */
import { parentPort } from "node:worker_threads";
import type { ThreadReply, ThreadRequest } from "./threads.ts";

parentPort?.on("message", (request: ThreadRequest) => {
  void run(request).then((reply) => parentPort?.postMessage(reply, []));
});

async function run({ module, name, args }: ThreadRequest): Promise<ThreadReply> {
  try {
    const { [name]: called } = (await import(module)) as Readonly<Record<string, (...args: unknown[]) => unknown>>;
    return { value: await called!(...args) };
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.message : String(cause) };
  }
}
