/** One-time codes and signed-in browsers that all instances of a server share. Only digests of codes and cookies are stored. */
import type { SharedState } from "../state/shared-state.ts";

/** Who signed in: the holder of a token, given by its hash, or the operator, by a code. */
export interface StoredVisit {
  readonly hash?: string;
}

/** Keys are digests. Every method rejects if the store cannot be reached. */
export interface BrowserRecords {
  /** Differs between servers: cookies ignore ports. */
  readonly cookieSuffix: string;
  addCode(key: string, expiresInMs: number): Promise<void>;
  /** Returns true once. */
  takeCode(key: string): Promise<boolean>;
  addVisit(key: string, visit: StoredVisit): Promise<void>;
  findVisit(key: string): Promise<StoredVisit | undefined>;
}

const codeKind = "codes";
const visitKind = "visits";
/** A browser signs in again after this time. */
const visitMs = 24 * 3_600_000;

export function createBrowserRecords({ store, database }: Pick<SharedState, "store" | "database">): BrowserRecords {
  return {
    cookieSuffix: database.schema,
    addCode: async (key, expiresInMs) => void (await store.put(codeKind, key, {}, { expiresInMs })),
    takeCode: (key) => store.remove(codeKind, key),
    addVisit: async (key, { hash }) =>
      void (await store.put(visitKind, key, hash === undefined ? {} : { hash }, { expiresInMs: visitMs })),
    async findVisit(key) {
      const found = await store.get(visitKind, key);
      const hash = found?.value["hash"];
      return found && (typeof hash === "string" ? { hash } : {});
    },
  };
}
