/** One session here, kept in step with its record, which other instances may change. */
import { wait } from "../lib/wait.ts";
import { ResourceError } from "../errors.ts";
import type { SessionChange, SessionPeer } from "../protocol/protocol.ts";
import { sessionEnded } from "./post-reply.ts";
import type { SessionRecords } from "./session-records.ts";

interface StoredSessionOptions {
  readonly records: SessionRecords;
  readonly id: string;
  /** Key of the caller. */
  readonly owner: string;
  /** False if another instance began it. */
  readonly isNew: boolean;
  /** The record is extended if it was written longer ago than this. */
  readonly extendMs: number;
  readonly now: () => number;
  /** Aborted when the session ends here. */
  readonly signal: AbortSignal;
  /** Whether a stream of the session is open here. */
  isHeard(): boolean;
  /** See `ProtocolSession.resume`. */
  resume(uris: readonly string[], isMissed: boolean): Promise<void>;
  /** The record does not exist any more. */
  gone(): void;
}

interface StoredSession extends Required<Pick<SessionPeer, "save" | "forward">> {
  used(): void;
  /** A stream was opened here. Unless nothing was missed here since the session began or the last stream ended, the client reads everything again. */
  opened(isComplete: boolean): void;
  /** The record may differ from what is here. */
  changed(): void;
}

/** Delay before the record is read again, if the store cannot be reached. */
const retryMs = 1000;
/** Messages on their way to other instances; more are dropped, because a client may send any number. */
const maxForwarded = 16;

export function createStoredSession(options: StoredSessionOptions): StoredSession {
  const { records, id, owner, extendMs, now, signal } = options;
  // When another instance wrote the record is not known, so it is extended at once: it may be about to expire.
  let writtenAt = options.isNew ? now() : -Infinity;
  /** Whether subscriptions of the record may differ from those here. */
  let isBehind = !options.isNew;
  /** Whether notifications may have been missed, because the stream was elsewhere. */
  let isMissed = !options.isNew;
  let running: Promise<void> | undefined;
  let forwarded = 0;
  /** Number of changes that were stored from here. */
  let saved = 0;

  /** Reads the record until it is known and nothing has changed meanwhile. Only while somebody listens: another instance may have the stream. */
  async function catchUp(): Promise<void> {
    while ((isBehind || isMissed) && !signal.aborted && options.isHeard()) {
      const wasMissed = isMissed;
      isBehind = isMissed = false;
      try {
        const before = saved;
        const found = await records.find(id, owner);
        if (!found) return options.gone();
        if (saved !== before) {
          // It may have been read before that change.
          isBehind = true;
          isMissed ||= wasMissed;
          continue;
        }
        await options.resume(found.subscriptions, wasMissed);
      } catch {
        isBehind = true;
        isMissed ||= wasMissed;
        await wait(retryMs, signal).catch(() => undefined);
      }
    }
  }

  function begin(): void {
    running ??= catchUp().finally(() => {
      running = undefined;
      if ((isBehind || isMissed) && !signal.aborted && options.isHeard()) begin();
    });
  }

  return {
    async save(change: SessionChange) {
      if (change.kind === "opened") await records.create(id, owner, change.session);
      else if (!(await records.update(id, change))) {
        options.gone();
        throw new ResourceError("cancelled", sessionEnded);
      }
      saved += 1;
      writtenAt = now();
    },

    forward(body) {
      if (forwarded >= maxForwarded) return;
      forwarded += 1;
      records
        .forward(id, owner, body)
        .catch(() => undefined)
        .finally(() => (forwarded -= 1));
    },

    used() {
      const before = writtenAt;
      if (now() - before < extendMs) return;
      writtenAt = now();
      records.extend(id).then(
        (exists) => exists || options.gone(),
        () => (writtenAt = before),
      );
    },

    opened(isComplete) {
      isMissed ||= !isComplete;
      if (isBehind || isMissed) begin();
    },

    changed() {
      isBehind = true;
      if (options.isHeard()) begin();
    },
  };
}
