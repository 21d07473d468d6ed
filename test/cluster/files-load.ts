/** Clients that write files of the shared folder, read them, list and search. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nowMs } from "./history.ts";
import { anyTarget, attempt, type NamedTarget, repeat, uriOf, type WorkloadContext } from "./workload-context.ts";

/** The counter of each file, over all rounds. */
export type Counters = Map<string, number>;

export function textOf(counter: number): string {
  return `# Counter\n\ncounter=${counter} lighthouse\n`;
}

export function writeCounter({ settings: { notes }, record }: WorkloadContext, counters: Counters, file: string): void {
  const counter = (counters.get(file) ?? 0) + 1;
  counters.set(file, counter);
  const temporary = join(notes, `.${file}~`);
  writeFileSync(temporary, textOf(counter));
  const startMs = nowMs();
  renameSync(temporary, join(notes, file));
  record({ is: "write", file, counter, startMs, endMs: nowMs() });
}

/** The counter that the target shows; undefined if it gives no answer. */
export async function readCounter(
  context: Pick<WorkloadContext, "settings" | "record">,
  target: NamedTarget,
  file: string,
): Promise<number | undefined> {
  const startMs = nowMs();
  const answer = await attempt(context, target, "resources/read", { uri: uriOf(context.settings, file) });
  if (!answer) return undefined;
  const endMs = nowMs();
  const { contents, ttlMs = 0 } = (answer.result ?? {}) as {
    readonly contents?: readonly { readonly text?: string }[];
    readonly ttlMs?: number;
  };
  const found = /counter=(\d+)/.exec(contents?.[0]?.text ?? "")?.[1];
  if (found === undefined) {
    const reason = `status ${answer.status}: ${answer.error?.message ?? "no counter"}`;
    context.record({ is: "failed", by: target.name, operation: "resources/read", reason, startMs, endMs });
    return undefined;
  }
  const counter = Number(found);
  context.record({ is: "read", by: target.name, file, counter, ttlMs, startMs, endMs });
  return counter;
}

export function startFiles(context: WorkloadContext, counters: Counters, readers: number): readonly Promise<void>[] {
  const { settings, random, proxy, record } = context;
  const { files } = settings;
  const recordFailure = (operation: string, startMs: number, reason: string) =>
    record({ is: "failed", by: "proxy", operation, reason, startMs, endMs: nowMs() });
  return [
    repeat(context, 400, async () => writeCounter(context, counters, random.pick(files))),
    ...Array.from({ length: readers }, () =>
      repeat(context, 60, async () => {
        await readCounter(context, anyTarget(context), random.pick(files));
      }),
    ),
    repeat(context, 500, async () => {
      const startMs = nowMs();
      const answer = await attempt(context, proxy, "resources/list", {});
      if (!answer) return;
      const text = JSON.stringify(answer);
      const missing = files.filter((file) => !text.includes(`"${uriOf(settings, file)}"`));
      if (missing.length > 0)
        recordFailure("resources/list", startMs, `without ${missing.join(", ")}: ${text.slice(0, 300)}`);
    }),
    repeat(context, 700, async () => {
      const startMs = nowMs();
      const call = { name: "search_resources", arguments: { query: "lighthouse" } };
      const answer = await attempt(context, proxy, "tools/call", call);
      if (answer && answer.result?.["isError"] === true)
        recordFailure("search_resources", startMs, JSON.stringify(answer.result).slice(0, 300));
    }),
  ];
}
