/** A store whose files may be removed, replaced or overwritten by others at any time. */
import { ResourceError } from "../errors.ts";
import { fileIdentity } from "../lib/file-identity.ts";
import type { IndexFolder } from "./index-folder.ts";
import { IndexLostError, type IndexProblem, isLoss, toIndexProblem } from "./index-problem.ts";
import type { IndexLease } from "./lease.ts";
import { isWhole } from "./open-database.ts";
import type { IndexStore } from "./store.ts";

export interface StoreGuardOptions {
  readonly files: IndexFolder;
  readonly lease: IndexLease;
  /** Another program wrote to the files, and they are whole. What was indexed may be another all the same. */
  touched(): void;
  /** Called when the files are no longer those that were opened. Nothing is written from then on. */
  lost(cause: IndexLostError): void;
}

export interface GuardedStore {
  readonly store: IndexStore;
  /** Compares the files with those that were opened. */
  check(): void;
  /** Someone who reads the index found it damaged. */
  condemn(): void;
  /** Why nothing can be written just now; undefined after the next write that succeeds. */
  readonly problem: IndexProblem | undefined;
}

/** On some network disks times of writing change by themselves. */
const maxFalseAlarms = 3;

const writing: ReadonlySet<string> = new Set<keyof IndexStore>(["put", "remove", "removeBelow", "embed", "setNote"]);

/** What the store throws becomes "unavailable", with the reason in plain words. */
export function guardStore(inner: IndexStore, { files, lease, touched, lost }: StoreGuardOptions): GuardedStore {
  const identity = fileIdentity(files.database);
  let stamp = files.stamp();
  let problem: IndexProblem | undefined;
  let loss: IndexLostError | undefined;
  let falseAlarms = 0;

  function lose(reason: IndexLostError["reason"], cause?: unknown): IndexLostError {
    if (loss) return loss;
    loss = new IndexLostError(reason, { cause });
    lost(loss);
    return loss;
  }

  function check(): IndexLostError | undefined {
    if (loss) return loss;
    if (!lease.isHeld() || fileIdentity(files.database) !== identity) return lose("replaced");
    const now = files.stamp();
    if (now === stamp || falseAlarms >= maxFalseAlarms) return undefined;
    stamp = now;
    if (!isWhole(files.database)) return lose("damaged");
    falseAlarms += 1;
    touched();
    return undefined;
  }

  function toRefusal(cause: unknown): ResourceError {
    if (cause instanceof ResourceError) return cause;
    if (isLoss(cause)) return unavailable(lose("damaged", cause));
    problem = toIndexProblem(cause);
    return new ResourceError("unavailable", problem.message, { cause });
  }

  function guarded(name: string, method: (...given: unknown[]) => unknown) {
    const isWriting = writing.has(name);
    return (...given: unknown[]): unknown => {
      files.guardSharedMemory();
      const found = isWriting ? check() : loss;
      if (found) throw unavailable(found);
      try {
        const answer = method(...given);
        if (isWriting) problem = undefined;
        return answer;
      } catch (cause) {
        throw toRefusal(cause);
      } finally {
        if (isWriting) stamp = files.stamp();
      }
    };
  }

  const methods = Object.entries(inner).map(([name, method]) => [name, guarded(name, method as () => unknown)]);
  return {
    store: {
      ...(Object.fromEntries(methods) as unknown as IndexStore),
      close() {
        files.guardSharedMemory();
        inner.close();
      },
    },
    check: () => void check(),
    condemn: () => void lose("damaged"),
    get problem() {
      return problem;
    },
  };
}

function unavailable(cause: IndexLostError): ResourceError {
  return new ResourceError("unavailable", cause.message, { cause });
}
