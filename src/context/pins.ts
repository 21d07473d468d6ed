/** What the caller wants in, whatever it says: resources by their URIs, what is in a directory, the members of a set. */
import { toResourceError } from "../errors.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { inTurn } from "./in-turn.ts";

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
  const found = await inTurn([...new Set(uris)], atOnce, async (uri) => {
    try {
      const resource = await find(resources, uri, call);
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
export async function find(resources: Resources, uri: string, call: Call): Promise<Resource | undefined> {
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
  const uris = listed(contents[0]?.body).slice(0, maxMembers);
  return (await inTurn(uris, atOnce, (member) => find(resources, member, call))).filter((one) => one !== undefined);
}

export function isSet(uri: string): boolean {
  return uri.startsWith("set://");
}

/** A set says what is in it before it gives it. */
function listed(body: object | undefined): readonly string[] {
  if (!body || !("text" in body) || typeof body.text !== "string") return [];
  try {
    const { resources } = JSON.parse(body.text) as { readonly resources?: readonly { readonly uri?: unknown }[] };
    return (Array.isArray(resources) ? resources : []).flatMap((one: { readonly uri?: unknown }) =>
      typeof one?.uri === "string" ? [one.uri] : [],
    );
  } catch {
    return [];
  }
}
