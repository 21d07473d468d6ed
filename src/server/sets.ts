/** The sets of a house: who may know of which, and what each of them comes to for whoever asks. */
import type { Policy } from "../access/policy.ts";
import type { SetConfig } from "../config/sets.ts";
import { roundRobin } from "../context/round-robin.ts";
import { quote, ResourceError, toResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import type { SavedSet, SavedSets } from "./sets/saved-sets.ts";

/** What a policy is asked about: the set's name is the path. */
export const setMount = "set";

/** What is said of a set without opening it. */
export interface SetInfo {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Whether it stands in the config, or was saved. */
  readonly origin: "config" | "saved";
  /** Who alone knows of it. */
  readonly owner?: string;
}

export interface SetMember {
  readonly uri: string;
  /** Absent where it cannot be reached just now. */
  readonly resource?: Resource;
  readonly failure?: ResourceError;
}

export interface FoundSet extends SetInfo {
  /** Those that are there and that the caller may see, in the order of the set; never none. */
  readonly members: readonly SetMember[];
}

export interface Sets {
  /** Those of which the caller may see something, by name. What cannot be reached in a moment is left out. */
  list(call: Call): Promise<readonly SetInfo[]>;
  /** Undefined where there is none of this name, or nothing in it that the caller may see. */
  find(name: string, call: Call): Promise<FoundSet | undefined>;
  /** The URIs of what is in the set, as far as the caller may see it. Otherwise throws "not-found". */
  resolveSet(name: string, call: Call): Promise<readonly string[]>;
  /** Keeps a set that only this caller will know of, in place of the one of this name that they saved before. */
  save(set: Pick<SavedSet, "name" | "title" | "description" | "resources">, call: Call): void;
  /** Those that this caller saved. */
  savedBy(call: Call): readonly SavedSet[];
  /** Those of the config as it is now, whoever may see them. */
  configured(): readonly SetConfig[];
  /** Those that stand in no config. */
  readonly kept: SavedSets;
  /** Something of the config or of what is saved may be another now. */
  changed(): void;
  /** Calls back after each such change, until the signal ends. */
  follow(hear: () => void, signal: AbortSignal): void;
}

export interface SetsOptions {
  /** The house without its sets. */
  readonly resources: Pick<Resources, "stat">;
  readonly policy: Policy;
  /** Those of the config as it is now, with URIs instead of paths. */
  configured(): readonly SetConfig[];
  readonly kept: SavedSets;
}

interface Definition extends SetInfo {
  readonly resources: readonly string[];
}

/** So many sets, and so many members of one, are looked at at a time. */
const atOnce = 8;
/** A list does not wait longer than this for a backend that does not answer. */
const patienceMs = 2000;

export function createSets({ resources, policy, configured, kept }: SetsOptions): Sets {
  const hearers = new Set<() => void>();
  /** As it was on the disk when it was last said to have changed. */
  let saved: readonly SavedSet[] | undefined;

  function definitions(): Definition[] {
    saved ??= kept.all();
    return [
      ...configured().map((set): Definition => ({ ...set, origin: "config" })),
      // What is everyone's comes before what is one's own.
      ...saved
        .toSorted((one, other) => Number(one.owner !== undefined) - Number(other.owner !== undefined))
        .map((set): Definition => ({ ...set, origin: "saved" })),
    ];
  }

  function mayKnow({ name, owner }: Definition, { caller }: Call): boolean {
    return (owner === undefined || owner === caller.id) && policy.maySee(caller, setMount, { path: name });
  }

  /** Undefined for what is not there, or may not be seen. */
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
    // Files answer at once, so that mostly nobody else is asked.
    for (const uri of [...uris.filter(isFile), ...uris.filter((each) => !isFile(each))])
      if (await look(uri, call)) return true;
    return false;
  }

  function byName(call: Call): Map<string, Definition[]> {
    const groups = new Map<string, Definition[]>();
    for (const definition of definitions()) {
      if (!mayKnow(definition, call)) continue;
      const group = groups.get(definition.name);
      if (group) group.push(definition);
      else groups.set(definition.name, [definition]);
    }
    return groups;
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
      const signal = AbortSignal.any([call.signal, patience]);
      const patient: Call = { caller, ...(client && { client }), signal };
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

    save(set, { caller }) {
      kept.put({ ...set, owner: caller.id });
      this.changed();
    },

    savedBy({ caller }) {
      saved ??= kept.all();
      return saved.filter(({ owner }) => owner === caller.id);
    },

    configured,
    kept,

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
  return new ResourceError("not-found", `there is no set ${quote(name)}; "pressmark set list" names those there are`);
}

function isFile(uri: string): boolean {
  return uri.startsWith("file:");
}
