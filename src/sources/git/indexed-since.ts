/** Compares the indexed commits with an earlier state: git runs only if a ref has moved, and everything is listed only if rules have changed. */
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { historyState, type HistoryState, type HistoryStateOptions } from "../../backends/git/history-state.ts";
import type { GitRepository } from "../../backends/git/repository.ts";
import type { IndexedChanges } from "../../source.ts";
import type { CommitsSince, HistoryTips } from "./indexed-commits.ts";

interface IndexedState extends HistoryTips {
  readonly history: HistoryState;
}

/** `compare` runs git. */
export async function indexedSince(
  repository: GitRepository,
  options: HistoryStateOptions,
  state: string | undefined,
  compare: (before: HistoryTips | undefined) => Promise<CommitsSince>,
): Promise<IndexedChanges> {
  const read = ({ ruleFiles = {} }: Partial<HistoryTips> = {}) =>
    historyState(repository, options, Object.keys(ruleFiles).map(dirname));
  const before = state === undefined ? undefined : (JSON.parse(state) as IndexedState);
  const found = await read(before);
  if (found && isDeepStrictEqual(before?.history, found)) return { state, changes: [] };
  const { present, changes } = await compare(found && before?.history.rules === found.rules ? before : undefined);
  const history = await read(present);
  // A ref that moved meanwhile may be in one of these and not in the others.
  if (!history || history.refs !== found?.refs) return {};
  return { state: present && JSON.stringify({ history, ...present } satisfies IndexedState), changes };
}
