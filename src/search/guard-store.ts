/** Guards a store whose files another program may remove, replace or overwrite at any time. */
import { ResourceError } from "../errors.ts";
import { fileIdentity } from "../lib/file-identity.ts";
import type { IndexFolder } from "./index-folder.ts";
import { IndexLostError, type IndexProblem, isLoss, toIndexProblem } from "./index-problem.ts";
import type { IndexLease } from "./lease.ts";
import { isWhole } from "./open-database.ts";
import type { IndexStore } from "./store.ts";

interface StoreGuardOptions {
  readonly files: IndexFolder;
  readonly lease: IndexLease;
  /** Called when another program wrote to the files and they are intact. The content may still have changed. */
  touched(): void;
  /** Called when the files are no longer those that were opened. Nothing is written after that. */
  lost(cause: IndexLostError): void;
}

/** On some network disks modification times change by themselves. */
const maxFalseAlarms = 3;

const writing: ReadonlySet<string> = new Set<keyof IndexStore>([
  "put",
  "commit",
  "remove",
  "removeBelow",
  "embed",
  "setNote",
]);

export type GuardedStore = ReturnType<typeof guardStore>;

/** Errors of the store become "unavailable", with a plain reason. */
export function guardStore(inner: IndexStore, { files, lease, touched, lost }: StoreGuardOptions) {
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
    /** Compares the files with those that were opened. */
    check: (): void => void check(),
    /** Marks the index as damaged, as found by a reader. */
    condemn: (): void => void lose("damaged"),
    /** Why nothing can be written at present; undefined after the next successful write. */
    get problem(): IndexProblem | undefined {
      return problem;
    },
  };
}

function unavailable(cause: IndexLostError): ResourceError {
  return new ResourceError("unavailable", cause.message, { cause });
}
