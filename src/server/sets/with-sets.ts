/** Combines resources and sets: `set://name` is read, listed and watched like any resource, as far as the caller may see it. */
import { notFound, quote, ResourceError, toResourceError } from "../../errors.ts";
import { directoryType } from "../../resources.ts";
import type { Call, Content, ReadResult, Resource, Resources } from "../../resources.ts";
import { createRoutes, type Mount } from "../../router/route.ts";
import type { FoundSet, SetInfo, SetMember, Sets } from "../sets.ts";
import { createSpotWatch, type Spot } from "./watch-sets.ts";

export const setsUri = "set://";
export const zedUri = "zed://prompt-library";

export interface WithSetsOptions {
  readonly sets: Sets;
  /** Whether `zed://prompt-library` is served. */
  hasZed(): boolean;
  /** Whether a mount uses this scheme and takes precedence. */
  isTaken(scheme: string): boolean;
}

/** The meaning of a URI of the sets. */
type Own = { readonly kind: "sets" | "zed" } | { readonly kind: "set"; readonly name: string };

/** Size limit of all contents of a set; further members are only named. */
const maxBytes = 4 * 1024 * 1024;

const nothing: Mount["source"] = { list: async () => ({ items: [] }), read: async () => [] };
const routes = createRoutes([
  { name: "set", base: setsUri, source: nothing },
  { name: "zed", base: "zed://", source: nothing },
]);

export function withSets(inner: Resources, { sets, hasZed, isTaken }: WithSetsOptions): Resources {
  function ownOf(uri: string): Own | undefined {
    if (!/^(?:set|zed):/i.test(uri)) return undefined;
    const place = routes.find(uri);
    if (!place || isTaken(place.mount.name)) return undefined;
    const { path, query } = place.at;
    if (place.mount.name === "zed")
      return !query && path === "prompt-library" && hasZed() ? { kind: "zed" } : undefined;
    if (query) return undefined;
    return path === "" ? { kind: "sets" } : { kind: "set", name: path };
  }

  async function foundAt(name: string, uri: string, call: Call): Promise<FoundSet> {
    const found = await sets.find(name, call);
    if (!found) throw notFound(uri);
    return found;
  }

  async function listed(call: Call): Promise<Resource[]> {
    if (isTaken("set")) return [];
    return (await sets.list(call)).map((set) => describe(uriOfSet(set.name), set));
  }

  async function statOwn(own: Own, uri: string, call: Call): Promise<Resource> {
    switch (own.kind) {
      case "sets":
        return { uri, name: "sets", title: "Sets", description: "Named sets of resources", mimeType: directoryType };
      case "zed":
        return { ...zedResource, uri };
      case "set":
        return describe(uri, await foundAt(own.name, uri, call));
    }
  }

  async function readOwn(own: Own, uri: string, call: Call): Promise<readonly Content[]> {
    const json = (value: unknown): Content => ({
      uri,
      mimeType: "application/json",
      body: { text: JSON.stringify(value) },
    });
    switch (own.kind) {
      case "sets": {
        const children = await listed(call);
        const shown = children.map(({ uri: child, name, mimeType }) => ({ uri: child, name, mimeType }));
        return [json({ uri, count: children.length, children: shown, more: false })];
      }
      case "zed": {
        const all = await sets.list(call);
        return [json(all.map(({ name, title }) => ({ id: name, title: title ?? name, uri: uriOfSet(name) })))];
      }
      case "set": {
        const found = await foundAt(own.name, uri, call);
        const { contents, leftOut } = await readMembers(found.members, call);
        return [json(indexOf(found, leftOut)), ...contents];
      }
    }
  }

  async function readMembers(members: readonly SetMember[], call: Call) {
    const contents: Content[] = [];
    const leftOut = new Map<string, string>();
    let room = maxBytes;
    for (const { uri, resource } of members) {
      if ((resource?.size ?? 0) > room) {
        leftOut.set(uri, "too-large");
        continue;
      }
      try {
        const read = await inner.read(uri, call);
        const bytes = read.contents.reduce((sum, { body }) => sum + sizeOf(body), 0);
        if (bytes > room) leftOut.set(uri, "too-large");
        else contents.push(...read.contents);
        room -= bytes > room ? 0 : bytes;
      } catch (cause) {
        const { kind } = toResourceError(cause);
        if (call.signal.aborted || kind === "cancelled") throw cause;
        // Members deleted in the meantime are left out.
        leftOut.set(uri, kind === "not-found" || kind === "invalid" ? "gone" : kind);
      }
    }
    return { contents, leftOut };
  }

  const watchSpots = createSpotWatch(inner, sets);
  const markOf = async (call: Call) => JSON.stringify(await sets.list(call));
  /** Changes when members appear or disappear with their mounts. */
  const listSpot: Spot = {
    key: "list",
    change: { kind: "list-changed" },
    look: async (call) => ({ mark: await markOf(call) }),
  };

  function spotOf(own: Own, uri: string): Spot {
    return {
      key: uri,
      change: { kind: "updated", uri },
      async look(call) {
        if (own.kind !== "set") return { mark: await markOf(call), uris: [] };
        const found = await sets.find(own.name, call);
        if (!found) return undefined;
        const { name, title, description, members } = found;
        const uris = members.map((member) => member.uri);
        return { mark: JSON.stringify([name, title, description, uris]), uris };
      },
    };
  }

  return {
    async list(ask, call) {
      if (ask.cursor !== undefined) return inner.list(ask, call);
      // First, because people chose them.
      const own = [...(await listed(call)), ...(hasZed() && !isTaken("zed") ? [zedResource] : [])];
      const { limit } = ask;
      const page = await inner.list(limit === undefined ? ask : { limit: Math.max(1, limit - own.length) }, call);
      return own.length === 0 ? page : { ...page, items: [...own, ...page.items] };
    },

    async children(uri, ask, call) {
      const own = ownOf(uri);
      if (!own) return inner.children(uri, ask, call);
      if (own.kind !== "sets") throw notFound(uri);
      if (ask.cursor !== undefined) throw new ResourceError("invalid", "no such cursor; start again without one");
      return { items: await listed(call) };
    },

    async read(uri, call): Promise<ReadResult> {
      const own = ownOf(uri);
      if (!own) return inner.read(uri, call);
      return { contents: await readOwn(own, uri, call), ttlMs: 0, scope: "private" };
    },

    templates: (ask, call) => inner.templates(ask, call),

    async complete(ask, call) {
      const own = ownOf(ask.template);
      if (!own) return inner.complete(ask, call);
      await statOwn(own, ask.template, call).catch(() => {
        throw new ResourceError("invalid", `no template ${quote(ask.template)}`);
      });
      return { values: [] };
    },

    async stat(uri, call) {
      const own = ownOf(uri);
      return own ? statOwn(own, uri, call) : inner.stat(uri, call);
    },

    search: (ask, call) => inner.search(ask, call),
    ...(inner.skills && { skills: (ask, call) => inner.skills!(ask, call) }),
    ...(inner.skill && { skill: (uri, call) => inner.skill!(uri, call) }),
    ...(inner.actions && { actions: (call) => inner.actions!(call) }),
    ...(inner.act && { act: (what, input, call) => inner.act!(what, input, call) }),

    watch(filter, call) {
      const spots: Spot[] = [];
      const others: string[] = [];
      for (const uri of new Set(filter.uris)) {
        const own = ownOf(uri);
        if (own) spots.push(spotOf(own, uri));
        else others.push(uri);
      }
      if (spots.length === 0 && !filter.list) return inner.watch(filter, call);
      const rest = { ...(filter.list && { list: true }), ...(others.length > 0 && { uris: others }) };
      if (filter.list) spots.push(listSpot);
      return watchSpots({ filter: rest, order: [...new Set(filter.uris)], spots }, call);
    },

    get listFreshness() {
      return inner.listFreshness;
    },
  };
}

export function uriOfSet(name: string): string {
  return `${setsUri}${encodeURIComponent(name)}`;
}

const zedResource: Resource = {
  uri: zedUri,
  name: "prompt-library",
  title: "Prompt library",
  description: "The sets of this server",
  mimeType: "application/json",
};

function describe(uri: string, { name, title, description }: SetInfo): Resource {
  return {
    uri,
    name,
    title,
    description,
    mimeType: "application/json",
  };
}

function indexOf({ name, title, description, members }: FoundSet, leftOut: ReadonlyMap<string, string>) {
  return {
    name,
    title,
    description,
    resources: members.flatMap(({ uri, resource }) => {
      const why = leftOut.get(uri);
      if (why === "gone") return [];
      const { mimeType, size, name: called, title: entitled } = resource ?? {};
      return [{ uri, name: called, title: entitled, mimeType, size, leftOut: why }];
    }),
  };
}

function sizeOf(body: Content["body"]): number {
  return "text" in body ? Buffer.byteLength(body.text) : body.bytes.length;
}
