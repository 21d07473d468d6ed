/** What the caller wants in, whatever it says: resources by their URIs, what is in a directory, the members of a set. */
import { toResourceError } from "../errors.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { roundRobin } from "./round-robin.ts";

export interface Pins {
  readonly found: readonly { readonly resource: Resource; readonly why: string }[];
  /** Those that lead nowhere, as the caller spelled them. */
  readonly missing: readonly string[];
}

const atOnce = 4;
/** So many of a directory, and of a set. */
const maxMembers = 100;

export async function findPins(resources: Resources, uris: readonly string[], call: Call): Promise<Pins> {
  const missing: string[] = [];
  const found = await roundRobin([...new Set(uris)], atOnce, async (uri) => {
    try {
      const resource = await findPinned(resources, uri, call);
      const members = resource && (await membersOf(resources, resource, call));
      if (members) return members.map((member) => ({ resource: member, why: `is in ${uri}, which was asked for` }));
      if (resource) return [{ resource, why: "was asked for" }];
    } catch (cause) {
      if (call.signal.aborted) throw cause;
    }
    missing.push(uri);
    return [];
  });
  return { found: found.flat(), missing: missing.toSorted() };
}

/** Undefined where nothing is there for this caller. */
export async function findPinned(resources: Resources, uri: string, call: Call): Promise<Resource | undefined> {
  try {
    return await resources.stat(uri, call);
  } catch (cause) {
    if (call.signal.aborted) throw cause;
    // Some houses cannot say what is there without reading it.
    return toResourceError(cause).kind === "unsupported" ? { uri, name: uri } : undefined;
  }
}

/** Undefined for what stands for itself. */
async function membersOf(
  resources: Resources,
  { uri, mimeType }: Resource,
  call: Call,
): Promise<readonly Resource[] | undefined> {
  if (mimeType === directoryType) {
    const { items } = await resources.children(uri, { limit: maxMembers }, call);
    return items.filter((item) => item.mimeType !== directoryType).slice(0, maxMembers);
  }
  if (!isSet(uri)) return undefined;
  const { contents } = await resources.read(uri, call);
  // A gateway gives the members alone: some of them it may keep to itself.
  const uris = (listed(contents[0]?.body) ?? contents.map((content) => content.uri)).slice(0, maxMembers);
  return (await roundRobin(uris, atOnce, (member) => findPinned(resources, member, call))).filter(
    (one) => one !== undefined,
  );
}

/** Here, or behind a gateway. */
export function isSet(uri: string): boolean {
  return /^(?:set:\/\/|mcp:\/\/.*\/set:%2F%2F)[^/]+$/i.test(uri);
}

/** A set says what is in it before it gives it; undefined for what says nothing of the kind. */
function listed(body: object | undefined): readonly string[] | undefined {
  if (!body || !("text" in body) || typeof body.text !== "string") return undefined;
  try {
    const said: unknown = JSON.parse(body.text);
    if (typeof said !== "object" || said === null || !("resources" in said) || !Array.isArray(said.resources))
      return undefined;
    return said.resources.flatMap((one: { readonly uri?: unknown } | null) =>
      typeof one?.uri === "string" ? [one.uri] : [],
    );
  } catch {
    return undefined;
  }
}
