/** Suggests URIs for one that does not exist. Suggests only what the caller may list. */
import { invalid, notFound, quote, ResourceError } from "../../errors.ts";
import { encodePath } from "../../lib/encode-path.ts";
import type { Call, Resources } from "../../resources.ts";
import { decodePath, type NamedMount, rootOf } from "./mounts.ts";

interface SuggestionContext {
  readonly resources: Resources;
  /** Mounts that the caller may see. */
  readonly mounts: readonly NamedMount[];
  /** What a model may do if nothing is similar. */
  readonly advice: string;
}

const maxSuggestions = 3;
/** Limits of compared names and requested directories. */
const maxCompared = 500;
const maxClimbed = 6;
const maxMounts = 8;
const patienceMs = 1500;

/** Adds suggestions to a "not-found" error; returns other errors unchanged. */
export async function withSuggestions(
  cause: unknown,
  uri: string,
  around: SuggestionContext,
  call: Call,
): Promise<unknown> {
  if (!(cause instanceof ResourceError) || cause.kind !== "not-found" || call.signal.aborted) return cause;
  return new ResourceError("not-found", `${notFound(uri).message}; ${await toTry(uri, around, call)}`, { cause });
}

/** For a text that is not a URI. */
export async function notUri(text: string, around: SuggestionContext, call: Call): Promise<ResourceError> {
  return invalid(`${quote(text)} is not a URI; ${await toTry(text, around, call)}`);
}

async function toTry(uri: string, around: SuggestionContext, call: Call): Promise<string> {
  const found = await suggest(uri, around, call);
  return found.length > 0 ? `did you mean ${found.join(" or ")} ?` : around.advice;
}

async function suggest(
  uri: string,
  { resources, mounts }: Pick<SuggestionContext, "resources" | "mounts">,
  { caller, client, signal }: Call,
): Promise<readonly string[]> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const call: Call = { caller, client, signal: patience };
  const found = new Set<string>();
  for (const candidate of candidatesOf(uri, mounts)) {
    for (const near of await nearestTo(candidate, resources, call)) found.add(near);
    if (found.size >= maxSuggestions) break;
  }
  if (found.size === 0) for (const near of await searched(uri, resources, call)) found.add(near);
  found.delete(uri);
  return [...found].slice(0, maxSuggestions);
}

/** The URI itself or, for a path, its URI in each mount. */
function candidatesOf(uri: string, mounts: readonly NamedMount[]): readonly string[] {
  const mind = uri.search(/[?#]/);
  const bare = (mind < 0 ? uri : uri.slice(0, mind)).replace(/(?<!\/)\/+$/, "");
  if (bare.length > 4096) return [];
  if (/^[a-z][a-z0-9+.-]*:/i.test(bare)) return [bare];
  const path = bare.replace(/^(?:\.?\/)+/, "");
  if (path === "") return [];
  return mounts.slice(0, maxMounts).map(({ base }) => base + encodePath(path));
}

/** The URI if it exists after all, or the names most similar to the first wrong segment. */
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
    // The rest of the path may be right.
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

/** Names below this similarity are not suggested. */
const leastLikeness = 0.45;

/** Best first. Runs in linear time, so that repeated misses do not slow down the server. */
function mostLike(wanted: string, children: readonly Child[]): readonly Child[] {
  const pairs = pairsOf(wanted);
  return children
    .map((child) => ({ child, likeness: likenessOf(pairs, pairsOf(child.name)) }))
    .filter(({ likeness }) => likeness >= leastLikeness)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, maxSuggestions)
    .map(({ child }) => child);
}

/** Pairs of neighbouring characters of a name, with both ends; the extension counts little. */
function pairsOf(name: string): ReadonlySet<string> {
  const folded = name.normalize("NFKC").toLowerCase().slice(0, 128);
  const dot = folded.lastIndexOf(".");
  const stem = Array.from(`^${dot > 0 ? folded.slice(0, dot) : folded}$`);
  const pairs = new Set<string>();
  for (let at = 1; at < stem.length; at += 1) pairs.add(`${stem[at - 1]}${stem[at]}`);
  if (dot > 0) pairs.add(folded.slice(dot));
  return pairs;
}

/** Similarity from 0 to 1: the share of common pairs. */
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

/** Looks for the same name elsewhere. */
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
