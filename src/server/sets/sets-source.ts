/** The sets as mounts: `set://name` is read, listed and watched like any resource, as far as the caller may see it. */
import { notFound, ResourceError, toResourceError } from "../../errors.ts";
import { directoryType } from "../../resources.ts";
import type { Call, Content, Resources } from "../../resources.ts";
import type { Mount } from "../../router/route.ts";
import type { Address, Entry, Part, Source } from "../../source.ts";
import { type FoundSet, type SetInfo, type SetMember, setMount, type Sets } from "../sets.ts";
import { followSets, type Seen } from "./follow-sets.ts";

export const setsUri = "set://";

/** Size limit of all contents of a set; further members are only named. */
const maxBytes = 4 * 1024 * 1024;

const root: Entry = {
  path: "",
  name: "sets",
  title: "Sets",
  description: "Named sets of resources",
  mimeType: directoryType,
};

const promptLibrary: Entry = {
  path: "prompt-library",
  title: "Prompt library",
  description: "The sets of this server",
  mimeType: "application/json",
};

/** The resources of the server, which contain these mounts: a set contains no sets. */
type Members = Pick<Resources, "read" | "watch">;

/** First in lists, because people chose them. */
export function setsMount(sets: Sets, resources: Members, promptName: (set: string) => string): Mount {
  return { name: setMount, base: setsUri, isFirst: true, source: createSetsSource(sets, resources, promptName) };
}

/** The sets in the format of Zed's draft. */
export function zedMount(sets: Sets, resources: Members): Mount {
  return { name: "zed/", base: "zed://", isFirst: true, source: createZedSource(sets, resources) };
}

function createSetsSource(sets: Sets, resources: Members, promptName: (set: string) => string): Source {
  const children = async (call: Call) => ({ items: (await sets.list(call)).map(toEntry) });

  /** The picker offers to delete only what was saved, and the command of the prompt. */
  function toEntry({ name, title, description, origin }: SetInfo): Entry {
    const meta = { "pressmark/origin": origin, "pressmark/prompt": promptName(name) };
    return { path: name, name, title, description, mimeType: "application/json", meta };
  }

  async function find({ path, query }: Address, call: Call): Promise<FoundSet> {
    const found = query ? undefined : await sets.find(path, call);
    if (!found) throw notFound(path);
    return found;
  }

  async function look(path: string, call: Call): Promise<Seen | undefined> {
    if (path === "") return lookAtList(sets, call);
    const found = await sets.find(path, call);
    const uris = found?.members.map((member) => member.uri) ?? [];
    return found && { mark: JSON.stringify([found.title, found.description, uris]), uris };
  }

  return {
    list: (_request, call) => children(call),

    async read(at, call) {
      if (isRoot(at)) throw new ResourceError("directory", "a directory; list its children instead");
      const found = await find(at, call);
      const { parts, leftOut } = await readMembers(found.members, resources, call);
      return [json(indexOf(found, leftOut)), ...parts];
    },

    stat: async (at, call) => (isRoot(at) ? root : toEntry(await find(at, call))),

    async children(at, _request, call) {
      if (!isRoot(at)) throw notFound(at.path);
      return children(call);
    },

    ...followSets({ sets, resources, look, list: sets.list }),
  };
}

function createZedSource(sets: Sets, resources: Members): Source {
  return {
    list: async () => ({ items: [promptLibrary] }),

    async read(at, call) {
      checkLibrary(at);
      const all = await sets.list(call);
      return [json(all.map(({ name, title }) => ({ id: name, title: title ?? name, uri: uriOfSet(name) })))];
    },

    async stat(at) {
      checkLibrary(at);
      return promptLibrary;
    },

    ...followSets({ sets, resources, look: (_path, call) => lookAtList(sets, call), list: async () => [] }),
  };
}

function checkLibrary({ path, query }: Address): void {
  if (query || path !== promptLibrary.path) throw notFound(path);
}

export function uriOfSet(name: string): string {
  return `${setsUri}${encodeURIComponent(name)}`;
}

async function lookAtList(sets: Sets, call: Call): Promise<Seen> {
  return { mark: JSON.stringify(await sets.list(call)), uris: [] };
}

function isRoot({ path, query }: Address): boolean {
  return path === "" && !query;
}

function json(value: unknown): Part {
  return { mimeType: "application/json", body: { text: JSON.stringify(value) } };
}

async function readMembers(members: readonly SetMember[], { read }: Members, call: Call) {
  const parts: Part[] = [];
  const leftOut = new Map<string, string>();
  let room = maxBytes;
  for (const { uri, resource } of members) {
    if ((resource?.size ?? 0) > room) {
      leftOut.set(uri, "too-large");
      continue;
    }
    try {
      const { contents } = await read(uri, call);
      const bytes = contents.reduce((sum, { body }) => sum + sizeOf(body), 0);
      if (bytes > room) leftOut.set(uri, "too-large");
      else parts.push(...contents.map(({ uri: readFrom, ...part }) => ({ ...part, readFrom })));
      room -= bytes > room ? 0 : bytes;
    } catch (cause) {
      const { kind } = toResourceError(cause);
      if (call.signal.aborted || kind === "cancelled") throw cause;
      // Members deleted in the meantime are left out.
      leftOut.set(uri, kind === "not-found" || kind === "invalid" ? "gone" : kind);
    }
  }
  return { parts, leftOut };
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
