/** What a model may have meant by a URI that leads nowhere. Nothing is suggested that the caller could not have listed. */
import { invalid, notFound, quote, ResourceError } from "../../errors.ts";
import type { Call, Resources } from "../../resources.ts";
import { decodePath, type NamedMount, rootOf } from "./mounts.ts";

export interface SuggestionContext {
  readonly resources: Resources;
  /** Those that the caller may know of. */
  readonly mounts: readonly NamedMount[];
  /** What a model may do when nothing is near. */
  readonly advice: string;
}

const maxSuggestions = 3;
/** So many names are compared, and so many directories asked for. */
const maxCompared = 500;
const maxClimbed = 6;
const maxMounts = 8;
const patienceMs = 1500;

/** The same as was thrown, unless nothing was there: then with what is near. */
export async function withSuggestions(
  cause: unknown,
  uri: string,
  around: SuggestionContext,
  call: Call,
): Promise<unknown> {
  if (!(cause instanceof ResourceError) || cause.kind !== "not-found" || call.signal.aborted) return cause;
  return new ResourceError("not-found", `${notFound(uri).message}; ${await toTry(uri, around, call)}`, { cause });
}

/** For what is no URI at all. */
export async function notUri(text: string, around: SuggestionContext, call: Call): Promise<ResourceError> {
  return invalid(`${quote(text)} is no URI; ${await toTry(text, around, call)}`);
}

async function toTry(uri: string, around: SuggestionContext, call: Call): Promise<string> {
  const found = await suggest(uri, around, call);
  return found.length > 0 ? `did you mean ${found.join(" or ")} ?` : around.advice;
}

export async function suggest(
  uri: string,
  { resources, mounts }: Pick<SuggestionContext, "resources" | "mounts">,
  { caller, client, signal }: Call,
): Promise<readonly string[]> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const call: Call = { caller, ...(client && { client }), signal: patience };
  const found = new Set<string>();
  for (const candidate of candidatesOf(uri, mounts)) {
    for (const near of await nearestTo(candidate, resources, call)) found.add(near);
    if (found.size >= maxSuggestions) break;
  }
  if (found.size === 0) for (const near of await searched(uri, resources, call)) found.add(near);
  found.delete(uri);
  return [...found].slice(0, maxSuggestions);
}

/** The URI itself, or, for a path, what it would be in each mount. */
function candidatesOf(uri: string, mounts: readonly NamedMount[]): readonly string[] {
  const mind = uri.search(/[?#]/);
  const bare = (mind < 0 ? uri : uri.slice(0, mind)).replace(/(?<!\/)\/+$/, "");
  if (bare.length > 4096) return [];
  if (/^[a-z][a-z0-9+.-]*:/i.test(bare)) return [bare];
  const path = bare.replace(/^(?:\.?\/)+/, "");
  if (path === "") return [];
  const spelled = path.split("/").map((segment) => encodeURIComponent(segment.toWellFormed()));
  return mounts.slice(0, maxMounts).map(({ base }) => base + spelled.join("/"));
}

/** What is there after all, or else the names that are most like the first one that is wrong. */
async function nearestTo(uri: string, resources: Resources, call: Call): Promise<readonly string[]> {
  if (await isThere(uri, resources, call)) return [uri];
  let missing = uri;
  for (let climbed = 0; climbed < maxClimbed; climbed += 1) {
    const slash = missing.lastIndexOf("/");
    const above = rootOf(missing.slice(0, slash + 1));
    if (slash < 0 || above === missing) return [];
    const children = await childrenOf(above, resources, call);
    if (!children) {
      missing = above;
      continue;
    }
    const wanted = decodePath(missing.slice(slash + 1)) ?? "";
    const near = mostLike(wanted, children).map((child) => child.uri);
    const rest = uri.slice(missing.length);
    // The rest of the way may be right.
    const further = rest !== "" && near[0] !== undefined ? near[0] + rest : undefined;
    return further !== undefined && (await isThere(further, resources, call)) ? [further, ...near.slice(1)] : near;
  }
  return [];
}

interface Child {
  readonly uri: string;
  readonly name: string;
}

async function childrenOf(uri: string, resources: Resources, call: Call): Promise<readonly Child[] | undefined> {
  try {
    const { items } = await resources.children(uri, { limit: maxCompared }, call);
    return items.map((item) => ({ uri: item.uri, name: decodePath(item.uri)?.split("/").at(-1) ?? item.name }));
  } catch {
    return undefined;
  }
}

/** Names less alike than this are others. */
const leastLikeness = 0.45;

/** Best first. The time is that of reading the names once: whoever asks for nothing again and again holds up no one. */
function mostLike(wanted: string, children: readonly Child[]): readonly Child[] {
  const pairs = pairsOf(wanted);
  return children
    .map((child) => ({ child, likeness: likenessOf(pairs, pairsOf(child.name)) }))
    .filter(({ likeness }) => likeness >= leastLikeness)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, maxSuggestions)
    .map(({ child }) => child);
}

/** The pairs of neighbours in a name, with its two ends; what kind of file it is counts for little. */
function pairsOf(name: string): ReadonlySet<string> {
  const folded = name.normalize("NFKC").toLowerCase().slice(0, 128);
  const dot = folded.lastIndexOf(".");
  const stem = Array.from(`^${dot > 0 ? folded.slice(0, dot) : folded}$`);
  const pairs = new Set<string>();
  for (let at = 1; at < stem.length; at += 1) pairs.add(`${stem[at - 1]}${stem[at]}`);
  if (dot > 0) pairs.add(folded.slice(dot));
  return pairs;
}

/** From 0 to 1: how many of the pairs of both they share. */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}

async function isThere(uri: string, resources: Resources, call: Call): Promise<boolean> {
  return resources.stat(uri, call).then(
    () => true,
    () => false,
  );
}

/** It may stand somewhere else under the same name. */
async function searched(uri: string, resources: Resources, call: Call): Promise<readonly string[]> {
  const mind = uri.search(/[?#]/);
  const name = decodePath(mind < 0 ? uri : uri.slice(0, mind))
    ?.replace(/(?<!\/)\/+$/, "")
    .split("/")
    .at(-1);
  if (!name || name.length > 200) return [];
  try {
    const { hits } = await resources.search({ text: name, limit: maxSuggestions }, call);
    return hits.map(({ resource }) => resource.uri);
  } catch {
    return [];
  }
}
