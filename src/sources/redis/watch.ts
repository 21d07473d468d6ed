/** Detects changes of keys by the notifications of the server. */
import { unsupported } from "../../errors.ts";
import type { ChangeDetector } from "../../backends/shared-watch.ts";
import type { Runtime, SourceChange } from "../../source.ts";
import type { RedisConnection } from "./connection.ts";
import { isRefused } from "./errors.ts";
import type { Keyspace } from "./keyspace.ts";

export type Notifications = "check" | "enable" | "assume";

interface RedisWatchOptions {
  readonly connection: Pick<RedisConnection, "send" | "subscribe" | "enableNotifications">;
  readonly keyspace: Pick<Keyspace, "pathOf">;
  readonly database: number;
  readonly notifications: Notifications;
  readonly pollMs: number;
  readonly wait: Runtime["wait"];
}

/** Classes of events that are needed: https://redis.io/docs/latest/develop/use/keyspace-notifications/ */
const neededClasses = "g$lshzxet";
/** Events of new keys: only they tell a new key from a changed one. */
const newEvents = "n";

const goneEvents = new Set(["del", "expired", "evicted", "rename_from", "move_from"]);
/** Events that leave the content unchanged. */
const otherEvents = new Set(["expire", "persist", "hexpire", "hpersist", "xsetid"]);

export function createRedisWatch(options: RedisWatchOptions): (detector: ChangeDetector) => Promise<void> {
  const { connection, keyspace, database, notifications, pollMs, wait } = options;

  async function flagsNow(signal: AbortSignal): Promise<string> {
    return connection.send(["CONFIG GET", "notify-keyspace-events"], signal).then(
      (reply) => String((reply as readonly Buffer[])[1] ?? ""),
      (cause: unknown) => {
        if (!isRefused(cause)) throw cause;
        throw unsupported(
          'the Redis user may not send "CONFIG GET notify-keyspace-events"; allow it (+config|get), or set notifications: "assume" on the mount if the server announces all events, also new ones ("AEn")',
          cause,
        );
      },
    );
  }

  /**
   * Throws "unsupported" if the server does not announce every change. `accepted` are flags as the server shows them after an earlier
   * call has set them; returns them if this one has.
   */
  async function checkNotifications(accepted: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    if (notifications === "assume") return undefined;
    const flags = await flagsNow(signal);
    if (flags === accepted || lacksNothing(flags)) return accepted;
    const version = await versionOf(signal);
    if (version !== undefined && version < 7)
      throw unsupported("watching needs Redis 7.0 or newer, or Valkey, which announce new keys; this server is older");
    if (notifications !== "enable") throw unsupported(howToEnable(flags));
    await connection.enableNotifications(withMissingFlags(flags), signal);
    return flagsNow(signal);
  }

  async function info(section: string, signal: AbortSignal): Promise<string | undefined> {
    return connection.send(["INFO", section], signal).then(String, (cause: unknown) => {
      if (!isRefused(cause)) throw cause;
      return undefined;
    });
  }

  async function versionOf(signal: AbortSignal): Promise<number | undefined> {
    const found = /^redis_version:(\d+)/m.exec((await info("server", signal)) ?? "")?.[1];
    return found === undefined ? undefined : Number(found);
  }

  /**
   * Changes when all keys may have been replaced at once, of which no event tells: how often FLUSHALL, FLUSHDB and SWAPDB were called.
   * A user who may not know that sees only whether there are keys.
   */
  async function replacements(signal: AbortSignal): Promise<string> {
    const stats = await info("commandstats", signal);
    if (stats === undefined) return (await connection.send(["DBSIZE"], signal)) === 0 ? "empty" : "not empty";
    return [...stats.matchAll(/^cmdstat_(?:flushall|flushdb|swapdb):calls=\d+/gm)].join();
  }

  return async function detectChanges({ armed, tell, signal }) {
    let accepted = await checkNotifications(undefined, signal);
    /** New keys whose next event says what they are. */
    const created = new Set<string>();
    const prefix = `__keyevent@${database}__:`;
    const subscription = await connection.subscribe(
      `${prefix}*`,
      (channel, key) => tell(changesOf(channel.toString().slice(prefix.length), key, created, keyspace)),
      signal,
    );
    try {
      let before = await replacements(signal);
      armed();
      while (!signal.aborted) {
        await Promise.race([wait(pollMs, signal), subscription.broken]);
        accepted = await checkNotifications(accepted, signal);
        const after = await replacements(signal);
        if (after !== before) tell([{ kind: "lost" }]);
        before = after;
      }
    } finally {
      subscription.close();
    }
  };
}

/** Whether the server announces every change. */
export function lacksNothing(flags: string): boolean {
  const has = (flag: string) => flags.includes(flag);
  return has("E") && has(newEvents) && (has("A") || [...neededClasses].every(has));
}

/** What is set, and what is missing so that every change is announced. */
export function withMissingFlags(flags: string): string {
  const needed = flags.includes("A") ? `E${newEvents}` : `E${neededClasses}${newEvents}`;
  return [...new Set(flags + needed)].join("");
}

/**
 * The same for a setting that `lacksNothing` recognises afterwards. Redis 7.0 shows "A" for all classes and then hides "n", so they are
 * named one by one, without "d" for those of modules.
 */
function visibleFlags(flags: string): string {
  return [..."KE", ...neededClasses, newEvents, "m"]
    .filter((flag) => !"Km".includes(flag) || flags.includes(flag))
    .join("");
}

function howToEnable(flags: string): string {
  const modules = /[Ad]/.test(flags)
    ? ` (this turns off events of modules; to keep them, set '${withMissingFlags(flags)}', and notifications: "assume" on the mount)`
    : "";
  return `the Redis server does not announce all changes; run: redis-cli CONFIG SET notify-keyspace-events '${visibleFlags(flags)}'${modules}; a restart of the server undoes it, unless CONFIG REWRITE or redis.conf keeps it`;
}

function changesOf(
  event: string,
  key: Buffer,
  created: Set<string>,
  keyspace: Pick<Keyspace, "pathOf">,
): readonly SourceChange[] {
  const path = keyspace.pathOf(key);
  if (path === undefined) return [];
  if (event === "new") {
    created.add(path);
    return [];
  }
  const isNew = created.delete(path);
  // Types of modules are not served; their events have the name of a command with a dot.
  if (event.includes(".")) return [];
  // Keys below it have events of their own.
  if (goneEvents.has(event)) return [{ kind: "gone", path, eachBelow: true }];
  if (isNew) return [{ kind: "appeared", path, eachBelow: true }];
  return otherEvents.has(event) || event.startsWith("xgroup-") ? [] : [{ kind: "changed", path }];
}
