/** Stores HTTP sessions of the older revisions for all instances, and tells them of changes. */
import { createHash } from "node:crypto";
import { ResourceError } from "../errors.ts";
import type { SavedSession, SessionChange } from "../protocol/protocol.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { RecordValue, StoredRecord } from "../state/store.ts";
import type { SessionNews, SessionRecords } from "../transport/session-records.ts";

interface SessionRecordsOptions {
  readonly shared: Pick<SharedState, "instance" | "store" | "bus">;
  /** Time after the last use in which a session exists; see `LegacySessionOptions`. */
  readonly sessionIdleMs?: number;
  /** Of the new records and subscriptions of one caller at this instance, within the time that a record exists. */
  readonly maxNewBytes?: number;
  /** Of responses and cancellations of one caller that this instance passes on, within the time that the bus keeps them. */
  readonly maxResponseBytes?: number;
  readonly maxCancellationBytes?: number;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait">;
}

type Change = Exclude<SessionChange, { readonly kind: "opened" }>;

/** Records of this kind have the id of a session as their key. */
export const sessionKind = "sessions";
const topic = "sessions";
/** Member of a record whose session has ended. */
const endedMark = "isEnded";
/** Delay before another attempt, if the bus cannot be followed. */
const retryMs = 500;
/** Of messages that are passed to another instance, as JSON. A cancellation has only the id of a request. */
const maxResponseLength = 256 * 1024;
const maxCancellationLength = 1024;
/** Of the URIs in a record, as JSON: it is written whole with each change. */
const maxSubscriptionsLength = 1024 * 1024;
/** What a message takes besides its body. */
const messageOverhead = 256;
/** How long any bus keeps messages. */
const busKeepsMs = 600_000;

export function createSessionRecords(options: SessionRecordsOptions): SessionRecords {
  const { shared, sessionIdleMs = 30 * 60_000, runtime } = options;
  const { instance, store, bus } = shared;
  // A session in use is extended after a quarter of the time.
  const expiresInMs = sessionIdleMs * 1.25;
  /** Changes of each session that wait for the write before them, so that many at once are one write. */
  const waiting = new Map<string, { readonly changes: Change[]; readonly done: Promise<boolean> }>();
  const writing = new Map<string, Promise<unknown>>();
  /** Bytes of new records and subscriptions. A session that is evicted from memory leaves its record, because another instance may use it. */
  const created = createAllowance(options.maxNewBytes ?? 64 * 1024 * 1024, expiresInMs, runtime);
  /** Bytes of messages on the bus. */
  const responses = createAllowance(options.maxResponseBytes ?? 16 * 1024 * 1024, busKeepsMs, runtime);
  const cancellations = createAllowance(options.maxCancellationBytes ?? 1024 * 1024, busKeepsMs, runtime);

  function countNew(owner: string, bytes: number): void {
    if (!created.take(owner, bytes))
      throw new ResourceError("busy", "too many sessions or subscriptions have begun; end some, or try again later");
  }

  function checkGrowth(owner: string, before: readonly string[], after: readonly string[]): void {
    const length = JSON.stringify(after).length;
    const added = length - JSON.stringify(before).length;
    if (added <= 0) return;
    if (length > maxSubscriptionsLength)
      throw new ResourceError("busy", "the URIs of all subscriptions of this session are too long; end some first");
    countNew(owner, added);
  }

  function publish(news: SessionNews): Promise<void> {
    return bus.publish({ topic, body: { instance, news }, fence: 0 });
  }

  async function getRecord(id: string): Promise<StoredRecord | undefined> {
    const found = await store.get(sessionKind, id);
    return found && found.value[endedMark] !== true ? found : undefined;
  }

  /** Another instance may change the session at the same time. */
  async function write(id: string, changes: readonly Change[]): Promise<boolean> {
    for (;;) {
      const found = await getRecord(id);
      if (!found) return false;
      const before = subscriptionsOf(found.value);
      const subscriptions = changes.reduce(applied, before);
      checkGrowth(String(found.value["owner"]), before, subscriptions);
      const value = { ...found.value, subscriptions };
      if (
        subscriptions !== before &&
        !(await store.put(sessionKind, id, value, { ifVersion: found.version, expiresInMs }))
      )
        continue;
      // Also if nothing differs: an attempt before this one may have stored the change, and failed to publish it.
      await publish({ kind: "changed", id });
      return true;
    }
  }

  function update(id: string, change: Change): Promise<boolean> {
    const next = waiting.get(id);
    if (next) {
      next.changes.push(change);
      return next.done;
    }
    const changes = [change];
    const done = (writing.get(id) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        waiting.delete(id);
        const written = write(id, changes);
        writing.set(id, written);
        return written.finally(() => writing.get(id) === written && writing.delete(id));
      });
    waiting.set(id, { changes, done });
    return done;
  }

  return {
    async create(id, owner, session) {
      const value = { owner: digest(owner), ...session };
      countNew(value.owner, JSON.stringify(value).length);
      await store.put(sessionKind, id, value, { expiresInMs });
    },

    async find(id, owner) {
      const found = await getRecord(id);
      return found && found.value["owner"] === digest(owner) ? toSession(found.value) : undefined;
    },

    update,

    async extend(id) {
      const found = await getRecord(id);
      // If another instance wrote it meanwhile, it was extended.
      if (found) await store.put(sessionKind, id, found.value, { ifVersion: found.version, expiresInMs });
      return found !== undefined;
    },

    async remove(id, owner) {
      for (;;) {
        const found = await store.get(sessionKind, id);
        if (!found || found.value["owner"] !== digest(owner)) return false;
        if (found.value[endedMark] === true) break;
        const value = { owner: digest(owner), [endedMark]: true };
        if (await store.put(sessionKind, id, value, { ifVersion: found.version, expiresInMs })) break;
      }
      // The record stays until this has succeeded, so that a client that repeats the request is not told that the session does not exist.
      await publish({ kind: "ended", id });
      await store.remove(sessionKind, id);
      return true;
    },

    async forward(id, owner, body) {
      const isResponse = !("method" in body);
      const { length } = JSON.stringify(body);
      if (length > (isResponse ? maxResponseLength : maxCancellationLength))
        throw new ResourceError("too-large", "the message is too large to be passed to another instance");
      if (!(isResponse ? responses : cancellations).take(digest(owner), length + messageOverhead))
        throw new ResourceError("busy", "too many messages were passed to other instances; try again later");
      await publish({ kind: "received", id, body });
    },

    follow(hear, signal) {
      const subscriber = {
        message({ body }: { readonly body: unknown }) {
          const { instance: sender, news } = (body ?? {}) as { instance?: string; news?: SessionNews };
          if (sender !== instance) hear(isNews(news) ? news : { kind: "missed" });
        },
        gap: () => hear({ kind: "missed" }),
      };
      void (async () => {
        while (!signal.aborted)
          try {
            return await bus.subscribe(topic, subscriber, signal);
          } catch {
            await runtime.wait(retryMs, signal).catch(() => undefined);
            // Not followed meanwhile.
            hear({ kind: "missed" });
          }
      })();
    },
  };
}

/** Limits bytes by owner within a time, roughly: the count of all owners starts again after it. */
function createAllowance(maxBytes: number, withinMs: number, { monotonicMs }: Pick<Runtime, "monotonicMs">) {
  const taken = new Map<string, number>();
  let sinceMs = monotonicMs();
  return {
    /** False, and nothing is counted, if it is too much. */
    take(owner: string, bytes: number): boolean {
      if (monotonicMs() - sinceMs >= withinMs) {
        sinceMs = monotonicMs();
        taken.clear();
      }
      const total = (taken.get(owner) ?? 0) + bytes;
      if (total > maxBytes) return false;
      taken.set(owner, total);
      return true;
    },
  };
}

function applied(uris: readonly string[], { kind, uri }: Change): readonly string[] {
  if (uris.includes(uri) === (kind === "subscribed")) return uris;
  return kind === "subscribed" ? [...uris, uri] : uris.filter((each) => each !== uri);
}

/** Another version may tell something else. */
function isNews(news: unknown): news is SessionNews {
  const { kind, id } = (news ?? {}) as Readonly<Record<string, unknown>>;
  return kind === "missed" || (["changed", "ended", "received"].includes(kind as string) && typeof id === "string");
}

/** Groups and claims of callers need not be readable in the store. */
function digest(owner: string): string {
  return createHash("sha256").update(owner).digest("base64url");
}

function subscriptionsOf({ subscriptions }: RecordValue): readonly string[] {
  return Array.isArray(subscriptions) ? subscriptions.filter((uri) => typeof uri === "string") : [];
}

/** Undefined if another version wrote something else. */
function toSession(value: RecordValue): SavedSession | undefined {
  const { revision, client, capabilities, requestSecret } = value;
  if (typeof revision !== "string" || typeof requestSecret !== "string") return undefined;
  if (!isObject(client) || !isObject(capabilities)) return undefined;
  return { revision, client, capabilities, requestSecret, subscriptions: subscriptionsOf(value) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
