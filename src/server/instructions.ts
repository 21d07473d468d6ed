/** The server's instructions for models: what is here, when to search, and what to read first. */
import type { Caller } from "../resources.ts";
import { byPriority, describeMounts, type NamedMount, sayName } from "../protocol/tools/mounts.ts";
import type { ReadingToolName } from "../protocol/tools/reading-tools.ts";
import { findKeyDocuments, quickFindKeyDocuments, type KeyDocument } from "./key-documents.ts";
import { leftOutMounts } from "./left-out-mounts.ts";
import type { ServedMount } from "./locate.ts";
import { type Server, mountsFor } from "./open-server.ts";

interface InstructionsOptions {
  readonly pressmark: Pick<Server, "resources" | "mounts" | "policy" | "runtime"> & Partial<Pick<Server, "faulty">>;
  /** The server's own name. */
  readonly server: string;
  /** The offered tools. */
  readonly tools: readonly ReadingToolName[];
}

interface Instructions {
  /** Based on what is known now: key resources found later appear in later responses. */
  of(caller: Caller): string;
  /** Resolves when the key resources are known. */
  look(caller: Caller): Promise<void>;
  /** Checks the most common names only, so that the first response contains something: hosts ask once. */
  glance(caller: Caller): Promise<void>;
  /** Aborts all lookups. */
  close(): void;
}

export const maxLength = 1500;

/** Key resources are looked up again after the first time, and dropped after the second. */
const freshMs = 60_000;
const knownMs = 300_000;
const patienceMs = 2000;
const maxCallers = 256;
const maxLooks = 8;

/** Key resources for one caller. */
interface Known {
  /** Mounts and policy at the time of the lookup. */
  readonly mounts: string;
  readonly policy: object;
  keyResources: readonly KeyDocument[];
  /** Time of the lookup; undefined before. */
  at: number | undefined;
  /** Whether only common names were checked. */
  isGlance: boolean;
  looking: Promise<void> | undefined;
}

export function createInstructions({ pressmark, server, tools }: InstructionsOptions): Instructions {
  /** By caller, least recently used first. */
  const known = new Map<string, Known>();
  const closing = new AbortController();
  let looks = 0;

  /** Mounts for models that this caller may see, and the names of those that are left out. */
  function mountsOf(caller: Caller): {
    readonly mounts: readonly ServedMount[];
    readonly missing: readonly NamedMount[];
  } {
    const missing = leftOutMounts(pressmark.faulty ?? []).filter(({ leftOut }) => leftOut !== undefined);
    return {
      mounts: byPriority(mountsFor(pressmark, caller)).filter(
        ({ audience }) => audience?.includes("assistant") ?? true,
      ),
      missing: mountsFor({ mounts: missing, policy: pressmark.policy }, caller),
    };
  }

  /** Documents of the less important mounts are not read first. */
  function toExamine(caller: Caller, mounts: readonly ServedMount[]): Parameters<typeof findKeyDocuments> {
    const important = mounts.filter(({ priority = 0.5 }) => priority >= 0.5);
    return [important.length > 0 ? important : mounts, pressmark.resources, { caller, signal: patience() }];
  }

  function knownTo(caller: Caller, mounts: readonly NamedMount[]): Known {
    const { groups, scopes, claims, owner } = caller;
    const served = JSON.stringify([groups, scopes, claims, owner, mounts.map(({ name, base }) => [name, base])]);
    const before = known.get(caller.id);
    known.delete(caller.id);
    const isSame = before?.mounts === served && before.policy === pressmark.policy;
    const { policy } = pressmark;
    const fresh = { mounts: served, policy, keyResources: [], at: undefined, isGlance: true, looking: undefined };
    const now: Known = isSame ? before : fresh;
    known.set(caller.id, now);
    for (const oldest of known.keys()) {
      if (known.size <= maxCallers) break;
      known.delete(oldest);
    }
    return now;
  }

  async function look(caller: Caller, mounts: readonly ServedMount[], into: Known): Promise<void> {
    looks += 1;
    try {
      // Lets pending responses go first.
      await new Promise(setImmediate);
      into.keyResources = await findKeyDocuments(...toExamine(caller, mounts));
      into.isGlance = false;
    } finally {
      into.at = pressmark.runtime.monotonicMs();
      into.looking = undefined;
      looks -= 1;
    }
  }

  function patience(): AbortSignal {
    return AbortSignal.any([closing.signal, AbortSignal.timeout(patienceMs)]);
  }

  function refresh(caller: Caller) {
    const { mounts, missing } = mountsOf(caller);
    const now = knownTo(caller, mounts);
    const isFresh = now.at !== undefined && !now.isGlance && pressmark.runtime.monotonicMs() - now.at < freshMs;
    if (!isFresh && !now.looking && looks < maxLooks && !closing.signal.aborted)
      now.looking = look(caller, mounts, now);
    return { mounts, missing, now };
  }

  return {
    of(caller) {
      const { mounts, missing, now } = refresh(caller);
      const isKnown = now.at !== undefined && pressmark.runtime.monotonicMs() - now.at < knownMs;
      return composeInstructions({ server, mounts, missing, tools, keyResources: isKnown ? now.keyResources : [] });
    },
    look: async (caller) => refresh(caller).now.looking,
    async glance(caller) {
      const { mounts } = mountsOf(caller);
      const now = knownTo(caller, mounts);
      if (now.at !== undefined) return;
      await quickFindKeyDocuments(...toExamine(caller, mounts), (found) => {
        if (!now.isGlance) return;
        now.keyResources = found;
        now.at = pressmark.runtime.monotonicMs();
      });
    },
    close: () => closing.abort(),
  };
}

interface InstructionsInput extends Pick<InstructionsOptions, "server" | "tools"> {
  readonly mounts: readonly NamedMount[];
  /** Mounts that are left out. */
  readonly missing?: readonly NamedMount[];
  readonly keyResources: readonly KeyDocument[];
}

/** Longest text about the mounts, and about those that are left out. */
const maxMountsLength = 600;
const maxMissingLength = 120;

/** At most 1,500 characters. A sentence that does not fit is left out. */
export function composeInstructions({ server, mounts, missing = [], tools, keyResources }: InstructionsInput): string {
  const has = (tool: ReadingToolName) => tools.includes(tool);
  const here = mounts.length === 0 ? "what it was given to serve" : describeMounts(mounts, maxMountsLength);
  const notNow = fitting(
    missing.map(({ name }) => sayName(name)),
    maxMissingLength,
  );
  const before = [
    `The server ${server} lets you read ${here}.`,
    ...(notNow.length > 0 ? [`Not available now: ${notNow.join(", ")}.`] : []),
    ...(tools.length > 0 ? sayTools(has) : sayMethods),
  ];
  const after = [
    "Pass URIs on exactly as they are given; do not make up others.",
    "Subscribe to a URI to hear when it changes.",
  ];
  const room = maxLength - [...before, ...after].join(" ").length - "Read first: . ".length;
  const first = fitting(
    keyResources.map(({ name, uri }) => `${sayName(name)} (${uri})`),
    room,
  );
  return [...before, ...(first.length > 0 ? [`Read first: ${first.join(", ")}.`] : []), ...after].join(" ");
}

function sayTools(has: (tool: ReadingToolName) => boolean): readonly string[] {
  return [
    ...(has("search_resources")
      ? [
          "Search it with search_resources before you answer questions about it, and before you say that you do not know.",
        ]
      : ["Look into it before you answer questions about it."]),
    ...(has("read_resource") ? ["Then read what you found with read_resource, and answer from that."] : []),
    ...(has("gather_context") ? ["Before a larger task, gather_context gives what it needs in one call."] : []),
    ...(has("list_resources") ? ["list_resources shows what is there."] : []),
    `These tools belong to this server and take no server's name.`,
  ];
}

const sayMethods = [
  "Look into it before you answer questions about it.",
  "resources/list names every resource, page by page; reading the URI of a directory names what is in it.",
  "resources/read takes any of these URIs, and any that fits a template of resources/templates/list.",
];

function fitting(items: readonly string[], room: number): readonly string[] {
  const chosen: string[] = [];
  let left = room;
  for (const item of items) {
    if (item.length + 2 > left) continue;
    chosen.push(item);
    left -= item.length + 2;
  }
  return chosen;
}
