/** Keeps a stopping server from waiting for a shared database that does not respond. */
import { isDoneWithin } from "../lib/is-done-within.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "./database.ts";

interface ClosingWatchOptions {
  readonly database: Pick<SharedDatabase, "query" | "close">;
  readonly runtime: Pick<Runtime, "wait">;
  /** How long a response may take. Default: 2500. The threads of a server wait one after the other, and have less than ten seconds together. */
  readonly silentMs?: number;
  /** Called before the database is closed because it does not respond. */
  gaveUp(): void;
}

export interface ClosingWatch {
  /** From now on the database is closed when it does not respond: everything that waits for it is cancelled. */
  begin(): void;
  end(): void;
}

const checkMs = 500;

export function createClosingWatch({ database, runtime, silentMs = 2500, gaveUp }: ClosingWatchOptions): ClosingWatch {
  const ending = new AbortController();
  const { signal } = ending;
  let hasBegun = false;

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      // A failure ends what waits, too.
      const responded = database.query("select").catch(() => undefined);
      if (!(await isDoneWithin(responded, silentMs, runtime.wait, signal))) {
        gaveUp();
        return database.close();
      }
      await runtime.wait(checkMs, signal).catch(() => undefined);
    }
  }

  return {
    begin() {
      if (!hasBegun) void watch();
      hasBegun = true;
    },
    end: () => ending.abort(),
  };
}
