/** Leases among the processes of one machine: system locks on files, released when their process ends in any way. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { lastingFailure, shuttingDown } from "../errors.ts";
import { tryFileLock } from "../lib/file-lock.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { Runtime } from "../runtime.ts";
import { createHeldLeases } from "./held-leases.ts";
import type { HeldLease, LeaseInfo, Leases } from "./leases.ts";

export interface LocalLeaseOptions {
  /** Created if missing. All processes of a server use the same. */
  readonly folder: string;
  readonly instance: string;
  readonly runtime: Pick<Runtime, "wait">;
  /** How often to ask for leases that another process holds. */
  readonly pollMs?: number;
}

type LeaseFile = Omit<LeaseInfo, "isExpired" | "isReleased">;

export function createLocalLeases({ folder, instance, runtime, pollMs = 500 }: LocalLeaseOptions): Leases {
  const leases = createHeldLeases();
  const closing = new AbortController();
  const locks = join(folder, "locks");
  let loop: Promise<void> | undefined;

  const fileOf = (name: string): string => join(folder, `${createHash("sha256").update(name).digest("hex")}.json`);

  function take(name: string): HeldLease | undefined {
    const file = fileOf(name);
    let unlock: (() => void) | undefined;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      unlock = tryFileLock(file, locks);
      if (!unlock) return undefined;
      const fence = (read(file)?.fence ?? 0) + 1;
      writeFileAtomically(file, JSON.stringify({ name, holder: instance, fence } satisfies LeaseFile));
      const free = unlock;
      return leases.own(name, fence, async () => free());
    } catch (cause) {
      unlock?.();
      throw lastingFailure(
        `the leases in ${JSON.stringify(folder)} cannot be stored; check its permissions and space`,
        cause,
      );
    }
  }

  async function run(): Promise<void> {
    // So that `loop` is set before this can end.
    await Promise.resolve();
    while (!closing.signal.aborted && leases.waitingNames().length > 0) {
      for (const name of leases.waitingNames()) {
        try {
          const lease = leases.held.has(name) ? undefined : take(name);
          if (lease) leases.grant(lease);
        } catch {
          // Tried again: the disk may be full for a while.
        }
      }
      if (leases.waitingNames().length > 0) await runtime.wait(pollMs, closing.signal).catch(() => undefined);
    }
    loop = undefined;
  }

  return {
    acquire(name, signal) {
      const lease = leases.wait(name, signal);
      loop ??= run();
      return lease;
    },

    async tryAcquire(name) {
      if (closing.signal.aborted) throw shuttingDown();
      return leases.held.has(name) ? undefined : take(name);
    },

    async list() {
      const files = readdirOrNone(folder).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
      const found = files.flatMap((name) => read(join(folder, name)) ?? []);
      return found
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((each) => {
          const isExpired = isFree(each.name);
          // The lock of a process that was killed is released by the system.
          return { ...each, isExpired, isReleased: isExpired };
        });
    },

    waiting: () => leases.waitingNames(),

    async close() {
      closing.abort();
      leases.close();
      await loop;
      for (const lease of leases.held.values()) await lease.release();
    },
  };

  function isFree(name: string): boolean {
    if (leases.held.has(name)) return false;
    const unlock = tryFileLock(fileOf(name), locks);
    unlock?.();
    return unlock !== undefined;
  }
}

function readdirOrNone(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Undefined if it is missing or damaged. */
function read(file: string): LeaseFile | undefined {
  try {
    const { name, holder, fence } = JSON.parse(readFileSync(file, "utf8")) as Partial<LeaseFile>;
    const isValid = typeof name === "string" && typeof holder === "string" && Number.isSafeInteger(fence);
    return isValid ? { name, holder, fence: fence as number } : undefined;
  } catch {
    return undefined;
  }
}
