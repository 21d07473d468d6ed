/** Producers that ask for the same new result at several instances at once: only one of them may compute it. */
import { nowMs } from "./history.ts";
import { attempt, repeat, type WorkloadContext } from "./workload-context.ts";

let lastNumber = 0;

export function startAnalyses(context: WorkloadContext): Promise<void> {
  const { proxy, instances, isThroughProxy, record } = context;
  return repeat(context, 1200, async () => {
    const key = `question ${process.pid} ${(lastNumber += 1)}`;
    const call = { name: "find_analysis", arguments: { prompt: key, taskType: "simple", waitMs: 200 } };
    const targets = isThroughProxy ? [proxy, proxy, proxy] : [proxy, ...instances];
    await Promise.all(
      targets.map(async (target) => {
        const answer = await attempt(context, target, "tools/call", call);
        const found = answer?.result?.["structuredContent"] as { readonly status?: string } | undefined;
        // The lease lasts longer than a round: nobody else may get one.
        if (found?.status === "compute") record({ is: "computed", key, by: target.name, atMs: nowMs() });
      }),
    );
  });
}
