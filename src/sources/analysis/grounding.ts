/** What answers rest on: its version when it was asked, and word of its change, upon which the answers are dropped. */
import { createHash } from "node:crypto";
import { invalid, quote, toResourceError } from "../../errors.ts";
import type { Body, Call, Caller } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import type { Evidence } from "./question.ts";
import type { AnalysisStore } from "./store.ts";

export interface AskedGround {
  readonly uri: string;
  readonly version?: string | undefined;
}

export interface Grounding {
  /** Each with a version: the one that was said, or that of the content as this caller may read it now. */
  stamp(asked: readonly AskedGround[], call: Call): Promise<readonly Evidence[]>;
  /** Whether those that were stamped here are still the same. */
  isSame(grounds: readonly Evidence[], call: Call): Promise<boolean>;
  /** From here on, results that rest on these are dropped when they change. */
  follow(uris: readonly string[], caller: Caller): void;
  /** Follows what results in the store rest on, and nothing that none does any more. */
  followStored(): Promise<void>;
  close(): Promise<void>;
}

/** So many are followed; of the others, a change is noticed when someone asks. */
const maxFollowed = 10_000;

export function createGrounding(
  store: Pick<AnalysisStore, "dropGrounded" | "isGround" | "grounds">,
  { pressmark, log }: Pick<Runtime, "pressmark" | "log">,
): Grounding {
  const followed = new Map<string, { readonly uri: string; readonly stop: AbortController }>();
  const running = new Set<Promise<void>>();

  /** Undefined for what is not there, or not for this caller. */
  async function versionOf(uri: string, call: Call): Promise<string | undefined> {
    if (!pressmark) return undefined;
    try {
      const { contents } = await pressmark.read(uri, call);
      const hash = createHash("sha256");
      for (const { body } of contents) hash.update(bytesOf(body)).update("\0");
      return `sha256:${hash.digest("hex")}`;
    } catch (cause) {
      const { kind } = toResourceError(cause);
      if (kind === "not-found" || kind === "invalid" || kind === "unsupported") return undefined;
      if (kind !== "too-large") throw cause;
      const { size, annotations } = await pressmark.stat(uri, call);
      return `large:${size ?? ""}:${annotations?.lastModified ?? ""}`;
    }
  }

  async function stampOne({ uri, version }: AskedGround, field: string, call: Call): Promise<Evidence> {
    if (version !== undefined) return { uri, version, isStamped: false };
    const found = await versionOf(uri, call);
    if (found === undefined)
      throw invalid(`"${field}.uri": no resource at ${quote(uri)} is served here; send its "version" with it`);
    return { uri, version: found, isStamped: true };
  }

  /** Drops what this caller had rest on another version, or on what is gone; after a change also that of which it cannot be told. */
  async function judge(uri: string, call: Call, hasChanged: boolean): Promise<void> {
    const version = await versionOf(uri, call).catch((cause: unknown) => {
      // It has changed, even if it cannot be read just now.
      if (!hasChanged || call.signal.aborted) throw cause;
      return undefined;
    });
    const count = await store.dropGrounded(uri, version, hasChanged ? "all" : "stamped", call.caller);
    if (count > 0) log("info", "results were dropped, as what they rest on has changed", { uri, count });
  }

  async function listen(uri: string, caller: Caller, signal: AbortSignal): Promise<void> {
    const call: Call = { caller, signal };
    const watch = await pressmark?.watch({ uris: [uri] }, call);
    // It may have changed before the watch was armed.
    await judge(uri, call, false);
    if (!watch || watch.uris.length === 0) return;
    for await (const _ of watch) {
      await judge(uri, call, true);
      if (!(await store.isGround(uri))) return;
    }
  }

  function follow(uri: string, caller: Caller): void {
    const name = JSON.stringify([uri, caller]);
    if (!pressmark || followed.has(name) || followed.size >= maxFollowed) return;
    const stop = new AbortController();
    followed.set(name, { uri, stop });
    const over = listen(uri, caller, stop.signal)
      .catch((cause: unknown) => {
        const isOver = stop.signal.aborted || toResourceError(cause).kind === "cancelled";
        if (!isOver) log("warn", "what a result rests on cannot be followed just now", { uri, cause });
      })
      .finally(() => {
        stop.abort();
        followed.delete(name);
        running.delete(over);
      });
    running.add(over);
  }

  return {
    async stamp(asked, call) {
      const grounds: Evidence[] = [];
      const seen = new Set<string>();
      for (const [index, each] of asked.entries()) {
        if (seen.has(each.uri)) throw invalid(`"grounding[${index}].uri" is there twice`);
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
      if (!pressmark) return;
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
