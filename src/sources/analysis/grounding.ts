/** The resources that results rest on: their versions at the time of the question. When one changes, the results are dropped. */
import { createHash } from "node:crypto";
import { invalid, quote, toResourceError } from "../../errors.ts";
import type { Body, Call, Caller } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import type { Evidence } from "./question.ts";
import type { AnalysisStore } from "./store.ts";

interface RequestedGround {
  readonly uri: string;
  readonly version?: string;
}

export interface Grounding {
  /** Each with a version: the given one, or that of the content that this caller can read now. */
  stamp(requested: readonly RequestedGround[], call: Call): Promise<readonly Evidence[]>;
  /** Whether the resources stamped here still have the same versions. */
  isSame(grounds: readonly Evidence[], call: Call): Promise<boolean>;
  /** From now on, results that rest on these are dropped when they change. */
  follow(uris: readonly string[], caller: Caller): void;
  /** Follows the resources that stored results rest on, and stops following all others. */
  followStored(): Promise<void>;
  close(): Promise<void>;
}

/** Most resources that are followed; a change of any other is noticed at the next lookup. */
const maxFollowed = 10_000;

export function createGrounding(
  store: Pick<AnalysisStore, "dropGrounded" | "isGround" | "grounds">,
  { resources, log }: Pick<Runtime, "resources" | "log">,
): Grounding {
  const followed = new Map<string, { readonly uri: string; readonly stop: AbortController }>();
  const running = new Set<Promise<void>>();

  /** Undefined if the resource does not exist or this caller may not read it. */
  async function versionOf(uri: string, call: Call): Promise<string | undefined> {
    if (!resources) return undefined;
    try {
      const { contents } = await resources.read(uri, call);
      const hash = createHash("sha256");
      for (const { body } of contents) hash.update(bytesOf(body)).update("\0");
      return `sha256:${hash.digest("hex")}`;
    } catch (cause) {
      const { kind } = toResourceError(cause);
      if (kind === "not-found" || kind === "invalid" || kind === "unsupported") return undefined;
      if (kind !== "too-large") throw cause;
      const { size, annotations } = await resources.stat(uri, call);
      return `large:${size ?? ""}:${annotations?.lastModified ?? ""}`;
    }
  }

  async function stampOne({ uri, version }: RequestedGround, field: string, call: Call): Promise<Evidence> {
    if (version !== undefined) return { uri, version, isStamped: false };
    const found = await versionOf(uri, call);
    if (found === undefined)
      throw invalid(`"${field}.uri": no resource at ${quote(uri)} is served here; send its "version" too`);
    return { uri, version: found, isStamped: true };
  }

  /**
   * Drops this caller's results that rest on another version or on a missing resource; after a change, also if the version cannot be read.
   */
  async function judge(uri: string, call: Call, hasChanged: boolean): Promise<void> {
    const version = await versionOf(uri, call).catch((cause: unknown) => {
      // It has changed, even if it cannot be read now.
      if (!hasChanged || call.signal.aborted) throw cause;
      return undefined;
    });
    const count = await store.dropGrounded(uri, version, hasChanged ? "all" : "stamped", call.caller);
    if (count > 0) log("info", "results dropped: a resource that they rest on has changed", { uri, count });
  }

  async function listen(uri: string, caller: Caller, signal: AbortSignal): Promise<void> {
    const call: Call = { caller, signal };
    const watch = await resources?.watch({ uris: [uri] }, call);
    // It may have changed before the watch was active.
    await judge(uri, call, false);
    if (!watch || watch.uris.length === 0) return;
    for await (const _ of watch) {
      await judge(uri, call, true);
      if (!(await store.isGround(uri))) return;
    }
  }

  function follow(uri: string, caller: Caller): void {
    const name = JSON.stringify([uri, caller]);
    if (!resources || followed.has(name) || followed.size >= maxFollowed) return;
    const stop = new AbortController();
    followed.set(name, { uri, stop });
    const over = listen(uri, caller, stop.signal)
      .catch((cause: unknown) => {
        const isOver = stop.signal.aborted || toResourceError(cause).kind === "cancelled";
        if (!isOver) log("warn", "cannot follow a resource that a result rests on; will try again", { uri, cause });
      })
      .finally(() => {
        stop.abort();
        followed.delete(name);
        running.delete(over);
      });
    running.add(over);
  }

  return {
    async stamp(requested, call) {
      const grounds: Evidence[] = [];
      const seen = new Set<string>();
      for (const [index, each] of requested.entries()) {
        if (seen.has(each.uri)) throw invalid(`"grounding[${index}].uri" appears twice`);
        seen.add(each.uri);
        grounds.push(await stampOne(each, `grounding[${index}]`, call));
      }
      return grounds;
    },

    async isSame(grounds, call) {
      for (const { uri, version, isStamped } of grounds)
        if (isStamped && (await versionOf(uri, call)) !== version) return false;
      return true;
    },

    follow(uris, caller) {
      for (const uri of uris) follow(uri, caller);
    },

    async followStored() {
      if (!resources) return;
      const stored = await store.grounds(maxFollowed);
      const needed = new Set(stored.map(({ uri }) => uri));
      for (const { uri, stop } of followed.values()) if (!needed.has(uri)) stop.abort();
      for (const { uri, caller } of stored) follow(uri, caller);
    },

    async close() {
      for (const { stop } of followed.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

function bytesOf(body: Body): string | Uint8Array {
  return "text" in body ? body.text : body.bytes;
}
