/** The sets of a server: which a caller may see, and which members of each. */
import type { Policy } from "../access/policy.ts";
import type { SetConfig } from "../config/sets.ts";
import { roundRobin } from "../context/round-robin.ts";
import { quote, ResourceError, toResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import type { SavedSet, SavedSets } from "./sets/saved-sets.ts";

/** Mount name for policies: the set's name is the path. No config can use it for a mount. */
export const setMount = "set/";

/** Description of a set, without its members. */
export interface SetInfo {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Whether it is in the config, or was saved. */
  readonly origin: "config" | "saved";
  /** The only caller who may see it. */
  readonly owner?: string;
}

export interface SetMember {
  readonly uri: string;
  /** Absent if it is currently unreachable. */
  readonly resource?: Resource;
  readonly failure?: ResourceError;
}

export interface FoundSet extends SetInfo {
  /** Existing members that the caller may see, in the order of the set; never empty. */
  readonly members: readonly SetMember[];
}

export interface Sets {
  /** Sets with at least one member that the caller may see, by name. Members that do not respond quickly are ignored. */
  list(call: Call): Promise<readonly SetInfo[]>;
  /** Undefined if there is no such set, or no member that the caller may see. */
  find(name: string, call: Call): Promise<FoundSet | undefined>;
  /** URIs of members that the caller may see. Throws "not-found" without any. */
  resolveSet(name: string, call: Call): Promise<readonly string[]>;
  /**
   * A set of the owner is for everyone who may see its members; it replaces another only with `replace`, else the result is false and
   * nothing is saved. That of another caller is for this caller only, and replaces the caller's earlier one.
   */
  save(
    set: Pick<SavedSet, "name" | "title" | "description" | "resources">,
    call: Call,
    replace?: boolean,
  ): Promise<boolean>;
  /** Deletes what the caller saved under this name. False if there is nothing. */
  remove(name: string, call: Call): Promise<boolean>;
  /** Sets that this caller may replace. */
  savedBy(call: Call): readonly SavedSet[];
  /** Current sets of the config, regardless of the caller. */
  configured(): readonly SetConfig[];
  /** Sets outside the config. */
  readonly store: SavedSets;
  /** Announces that sets of the config or saved sets may have changed. */
  changed(): void;
  /** Calls back after each such change, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
}

interface SetsOptions {
  readonly resources: Pick<Resources, "stat">;
  readonly policy: Policy;
  /** Current sets of the config, with URIs instead of paths. */
  configured(): readonly SetConfig[];
  readonly store: SavedSets;
}

interface Definition extends SetInfo {
  readonly resources: readonly string[];
}

/** Number of sets, and of members of one set, that are checked concurrently. */
const atOnce = 8;
/** A list waits at most this long for a backend. */
const patienceMs = 2000;

export function createSets({ resources, policy, configured, store }: SetsOptions): Sets {
  const hearers = new Set<() => void>();
  /** As read after the last change. */
  let saved: readonly SavedSet[] | undefined;

  function definitions(): Definition[] {
    saved ??= store.all();
    return [
      ...configured().map((set): Definition => ({ ...set, origin: "config" })),
      // Public sets come before those of the caller.
      ...saved
        .toSorted((one, other) => Number(one.owner !== undefined) - Number(other.owner !== undefined))
        .map((set): Definition => ({ ...set, origin: "saved" })),
    ];
  }

  function mayKnow({ name, owner }: Definition, { caller }: Call): boolean {
    return (owner === undefined || owner === caller.id) && policy.maySee(caller, setMount, { path: name });
  }

  /** Undefined if it does not exist, or may not be seen. */
  async function look(uri: string, call: Call): Promise<SetMember | undefined> {
    try {
      return { uri, resource: await resources.stat(uri, call) };
    } catch (cause) {
      const failure = toResourceError(cause);
      if (failure.kind === "not-found" || failure.kind === "invalid" || failure.kind === "denied") return undefined;
      if (failure.kind === "cancelled" || call.signal.aborted) throw failure;
      return { uri, failure };
    }
  }

  async function hasMember({ resources: uris }: Definition, call: Call): Promise<boolean> {
    // Files respond fastest, so that usually no other source is used.
    for (const uri of [...uris.filter(isFile), ...uris.filter((each) => !isFile(each))])
      if (await look(uri, call)) return true;
    return false;
  }

  function byName(call: Call): Map<string, Definition[]> {
    return Map.groupBy(
      definitions().filter((each) => mayKnow(each, call)),
      ({ name }) => name,
    );
  }

  async function find(name: string, call: Call): Promise<FoundSet | undefined> {
    for (const { resources: uris, ...info } of byName(call).get(name) ?? []) {
      const members = (await roundRobin([...new Set(uris)], atOnce, (uri) => look(uri, call))).filter(
        (each) => each !== undefined,
      );
      if (members.length > 0) return { ...info, members };
    }
    return undefined;
  }

  return {
    async list(call) {
      const groups = byName(call);
      if (groups.size === 0) return [];
      const patience = AbortSignal.timeout(patienceMs);
      const { caller, client } = call;
      const patient: Call = { caller, client, signal: AbortSignal.any([call.signal, patience]) };
      const names = [...groups.keys()].sort();
      const found = await roundRobin(names, atOnce, async (name): Promise<SetInfo | undefined> => {
        for (const definition of groups.get(name) ?? []) {
          const isThere = await hasMember(definition, patient).catch((cause: unknown) => {
            if (call.signal.aborted || !patience.aborted) throw cause;
            return false;
          });
          if (!isThere) continue;
          const { resources: _, ...info } = definition;
          return info;
        }
        return undefined;
      });
      return found.filter((each) => each !== undefined);
    },

    find,

    async resolveSet(name, call) {
      const found = await find(name, call);
      if (!found) throw noSuchSet(name);
      return found.members.map(({ uri }) => uri);
    },

    async save(set, { caller }, replace = false) {
      if (caller.owner) {
        if (replace) await store.put(set);
        // The store decides: the list in memory may be older than a set of another process.
        else if (!(await store.create(set))) {
          this.changed();
          return false;
        }
        // Else the owner's own set of this name would appear again when this one is deleted.
        await store.remove({ name: set.name, owner: caller.id });
      } else await store.put({ ...set, owner: caller.id });
      this.changed();
      return true;
    },

    async remove(name, { caller }) {
      const isOwn = await store.remove({ name, owner: caller.id });
      const isPublic = caller.owner === true && (await store.remove({ name }));
      if (isOwn || isPublic) this.changed();
      return isOwn || isPublic;
    },

    savedBy({ caller }) {
      saved ??= store.all();
      return saved.filter(({ owner }) => owner === caller.id || (owner === undefined && caller.owner === true));
    },

    configured,
    store,

    changed() {
      saved = undefined;
      for (const hear of hearers) hear();
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      hearers.add(hear);
      signal.addEventListener("abort", () => hearers.delete(hear), { once: true });
    },
  };
}

export function noSuchSet(name: string): ResourceError {
  return new ResourceError("not-found", `no set ${quote(name)}; "pressmark set list" lists all sets`);
}

function isFile(uri: string): boolean {
  return uri.startsWith("file:");
}
