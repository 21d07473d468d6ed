/** The process of the clients, which runs in a namespace of its own: takes orders from the test and sends it the history. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startAnalyses } from "./analysis-load.ts";
import { type Counters, readCounter, startFiles, textOf, writeCounter } from "./files-load.ts";
import { type HistoryEvent, nowMs } from "./history.ts";
import { startListeners, type Listeners } from "./listeners-load.ts";
import { createRandom } from "./random.ts";
import {
  askAgainstRules,
  observeSession,
  observeSet,
  observeToken,
  type Remembered,
  secretFile,
  startRecords,
  tryRevoked,
} from "./records-load.ts";
import { watchLeases } from "./watch-leases.ts";
import {
  attempt,
  type NamedTarget,
  pause,
  targetsOf,
  type WorkloadContext,
  type WorkloadSettings,
} from "./workload-context.ts";

export type WorkloadOrder =
  | { readonly order: "begin"; readonly seed: number; readonly isThroughProxy: boolean }
  /** Checks again and again until every instance answers correctly. */
  | { readonly order: "recover"; readonly withinMs: number }
  /** Ends the load, and checks everything once more. */
  | { readonly order: "finish"; readonly isLast: boolean };

const settings = JSON.parse(process.argv[2]!) as WorkloadSettings;
const { proxy, instances } = targetsOf(settings);
const counters: Counters = new Map();
const remembered: Remembered = {
  sets: new Map(),
  sessions: new Map(),
  tokens: new Map(),
  revoked: new Map(),
  ruledToken: undefined,
  rule: undefined,
};
const unending = new AbortController().signal;

interface Round {
  readonly context: WorkloadContext;
  readonly writing: AbortController;
  readonly listening: AbortController;
  readonly listeners: Listeners;
  readonly running: readonly Promise<unknown>[];
  readonly history: HistoryEvent[];
}

let round: Round | undefined;

function begin(seed: number, isThroughProxy: boolean): void {
  const history: HistoryEvent[] = [];
  const recorders: ((event: HistoryEvent) => void)[] = [(event) => history.push(event)];
  const record = (event: HistoryEvent): void => recorders.forEach((each) => each(event));
  const writing = new AbortController();
  const listening = new AbortController();
  const context = (name: string, signal: AbortSignal): WorkloadContext => ({
    settings,
    proxy,
    instances,
    random: createRandom(seed).branch(name),
    isThroughProxy,
    signal,
    record,
  });
  // What earlier rounds have done still holds.
  for (const [file, counter] of counters) record({ is: "write", file, counter, startMs: nowMs(), endMs: nowMs() });
  for (const [id, atMs] of remembered.sets) record({ is: "acknowledged", what: "set", id, atMs });
  for (const [id, { atMs }] of remembered.tokens) record({ is: "acknowledged", what: "token", id, atMs });
  for (const [id, { atMs }] of remembered.revoked) record({ is: "revoked", token: id, atMs });
  if (remembered.rule) record({ is: "rule", ...remembered.rule });
  remembered.sessions.clear();
  const listeners = startListeners(context("listeners", listening.signal), (each) => recorders.push(each));
  round = {
    context: context("end", writing.signal),
    writing,
    listening,
    listeners,
    running: [
      ...startFiles(context("files", writing.signal), counters, 3),
      ...startRecords(context("records", writing.signal), remembered),
      startAnalyses(context("analyses", writing.signal)),
      watchLeases(settings.env["CLUSTER_STATE"]!, record, writing.signal),
    ],
    history,
  };
}

async function isCorrect(target: NamedTarget): Promise<boolean> {
  const quiet = { settings, record: () => undefined };
  const ready = await fetch(new URL("/health/ready", target.url), { signal: AbortSignal.timeout(4000) }).catch(
    () => undefined,
  );
  if (ready?.status !== 200) return false;
  const file = settings.files[0]!;
  const written = counters.get(file)!;
  if (((await readCounter(quiet, target, file)) ?? -1) < written) return false;
  // The database is reached again: stored records are found, and stored tokens accepted.
  for (const id of remembered.sets.keys()) if (!(await observeSet(quiet, target, id))) return false;
  for (const { token } of remembered.tokens.values()) {
    const { status } = (await attempt(quiet, { ...target, token }, "resources/list", {})) ?? {};
    if (status !== 200) return false;
  }
  return true;
}

/** Resolves with the names of the instances that did not recover. */
async function recover(withinMs: number): Promise<readonly string[]> {
  const { context } = round!;
  const endMs = nowMs() + withinMs;
  const late = await Promise.all(
    instances.map(async (target) => {
      while (!(await isCorrect(target))) {
        if (nowMs() > endMs) return [target.name];
        await pause(200, unending);
      }
      context.record({ is: "recovered", instance: target.name, atMs: nowMs() });
      return [];
    }),
  );
  return late.flat();
}

async function finish(isLast: boolean): Promise<readonly HistoryEvent[]> {
  const { context, writing, listening, listeners, running, history } = round!;
  const { bounds } = settings;
  // A last write of each file: it shows which listeners get no more notices, even if earlier ones reached them.
  for (const file of settings.files) writeCounter(context, counters, file);
  writing.abort();
  await Promise.all(running);
  const quietMs = nowMs() + bounds.noticeMs;
  while (listeners.untold().length > 0 && nowMs() < quietMs + 500) await pause(50, unending);
  const dueMs = Math.max(0, ...[...remembered.revoked.values()].map(({ atMs }) => atMs)) + bounds.revocationMs;
  if (isLast) await pause(Math.max(0, dueMs - nowMs() + 100), unending);
  const recoveredMs = Math.max(0, ...history.flatMap((event) => (event.is === "recovered" ? [event.atMs] : [])));
  const rulesMs = remembered.rule ? Math.max(remembered.rule.atMs, recoveredMs) + bounds.ruleMs : 0;
  await pause(Math.max(0, rulesMs - nowMs() + 100), unending);
  const isDue = ({ atMs }: { readonly atMs: number }): boolean => atMs + bounds.revocationMs < checkedMs;
  const checkedMs = nowMs();
  for (const target of [proxy, ...instances]) {
    for (const file of settings.files) await readCounter(context, target, file);
    for (const id of remembered.sets.keys()) await observeSet(context, target, id);
    for (const id of remembered.sessions.keys()) await observeSession(context, target, id);
    for (const each of remembered.tokens) await observeToken(context, target, each);
    for (const each of remembered.revoked) await tryRevoked(context, target, each);
    await askAgainstRules(context, remembered, target);
  }
  const later = new Set([...remembered.revoked].flatMap(([id, each]) => (isDue(each) ? [] : [id])));
  for (const id of remembered.revoked.keys()) if (!later.has(id)) remembered.revoked.delete(id);
  listening.abort();
  await listeners.done;
  // Tokens that may still be accepted are judged in the next round.
  return history.filter((event) => !(event.is === "revoked" && later.has(event.token)));
}

mkdirSync(settings.notes, { recursive: true });
for (const file of settings.files) {
  counters.set(file, 0);
  writeFileSync(join(settings.notes, file), textOf(0));
}
writeFileSync(join(settings.notes, secretFile), "# Secret\n");

process.on("message", (message: WorkloadOrder) => {
  void (async () => {
    try {
      if (message.order === "begin") begin(message.seed, message.isThroughProxy);
      const result =
        message.order === "recover"
          ? await recover(message.withinMs)
          : message.order === "finish"
            ? await finish(message.isLast)
            : [];
      process.send!({ order: message.order, result });
    } catch (cause) {
      process.send!({ order: message.order, error: cause instanceof Error ? cause.stack : String(cause) });
    }
  })();
});
process.on("disconnect", () => process.exit());
process.send!({ order: "started", result: [] });
