/** Resolves what the caller requested: resources by URI, the content of a directory, the members of a set. */
import { toResourceError } from "../errors.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { roundRobin } from "./round-robin.ts";

interface Pins {
  readonly found: readonly { readonly resource: Resource; readonly why: string }[];
  /** URIs that were not found, as the caller wrote them. */
  readonly missing: readonly string[];
}

const atOnce = 4;
/** Maximum number of entries of a directory or a set. */
const maxMembers = 100;

export async function findPins(resources: Resources, uris: readonly string[], call: Call): Promise<Pins> {
  const missing: string[] = [];
  const found = await roundRobin([...new Set(uris)], atOnce, async (uri) => {
    try {
      const resource = await findPinned(resources, uri, call);
      const members = resource && (await membersOf(resources, resource, call));
      if (members) return members.map((member) => ({ resource: member, why: `is in ${uri}, which was requested` }));
      if (resource) return [{ resource, why: "was requested" }];
    } catch (cause) {
      if (call.signal.aborted) throw cause;
    }
    missing.push(uri);
    return [];
  });
  return { found: found.flat(), missing: missing.toSorted() };
}

/** Undefined if it does not exist for this caller. */
export async function findPinned(resources: Resources, uri: string, call: Call): Promise<Resource | undefined> {
  try {
    return await resources.stat(uri, call);
  } catch (cause) {
    if (call.signal.aborted) throw cause;
    // Some servers have no metadata without reading.
    return toResourceError(cause).kind === "unsupported" ? { uri, name: uri } : undefined;
  }
}

/** Undefined for a plain resource. */
async function membersOf(
  resources: Resources,
  { uri, mimeType }: Resource,
  call: Call,
): Promise<readonly Resource[] | undefined> {
  if (mimeType === directoryType) return filesIn(resources, uri, call);
  if (!isSet(uri)) return undefined;
  const { contents } = await resources.read(uri, call);
  // A gateway returns the members only, and may leave out some of them.
  const uris = (listed(contents[0]?.body) ?? contents.map((content) => content.uri)).slice(0, maxMembers);
  const members = await roundRobin(uris, atOnce, async (member): Promise<readonly Resource[]> => {
    const found = await findPinned(resources, member, call);
    if (found?.mimeType !== directoryType) return found ? [found] : [];
    return filesIn(resources, found.uri, call).catch((cause: unknown) => {
      if (call.signal.aborted) throw cause;
      return [];
    });
  });
  return members.flat().slice(0, maxMembers);
}

async function filesIn(resources: Resources, uri: string, call: Call): Promise<readonly Resource[]> {
  const { items } = await resources.children(uri, { limit: maxMembers }, call);
  return items.filter((item) => item.mimeType !== directoryType).slice(0, maxMembers);
}

/** True for a set of this server, or behind a gateway. */
export function isSet(uri: string): boolean {
  return /^(?:set:\/\/|mcp:\/\/.*\/set:%2F%2F)[^/]+$/i.test(uri);
}

/** The URIs that the first content of a set lists; undefined for other content. */
function listed(body: object | undefined): readonly string[] | undefined {
  if (!body || !("text" in body) || typeof body.text !== "string") return undefined;
  try {
    const parsed: unknown = JSON.parse(body.text);
    if (typeof parsed !== "object" || parsed === null || !("resources" in parsed) || !Array.isArray(parsed.resources))
      return undefined;
    return parsed.resources.flatMap((one: { readonly uri?: unknown } | null) =>
      typeof one?.uri === "string" ? [one.uri] : [],
    );
  } catch {
    return undefined;
  }
}
