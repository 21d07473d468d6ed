/** Finds the files that past commits with a similar message changed, if the git history is mounted as well. */
import { encodePath } from "../lib/encode-path.ts";
import { shortLine } from "../lib/on-one-line.ts";
import { parseJson } from "../lib/parse-json.ts";
import { withDeadline } from "../lib/with-deadline.ts";
import { withMembers } from "../lib/with-members.ts";
import { cancelled } from "../errors.ts";
import { type Call, type Resource, type Resources } from "../resources.ts";
import { tokenize } from "../search/tokens.ts";
import { clean } from "./clean.ts";
import { findPinned } from "./pins.ts";
import type { Task } from "./read-task.ts";
import { readText } from "./read-text.ts";
import { roundRobin, tryRequest } from "./round-robin.ts";

/** A past commit, and how much it resembles the task. */
export interface SimilarCommit {
  /** URI prefix of its history. */
  readonly history: string;
  readonly resource: Resource;
  readonly subject: string;
  /** Paths of the files that it changed. */
  readonly paths: readonly string[];
  /** Similarity and age, from 0 to 1. */
  readonly weight: number;
  /** How much its history counts, from 0 to 1. */
  readonly fade: number;
}

/** A file, and how much similar commits speak for it. */
export interface ChangedFile {
  readonly resource: Resource;
  /** From 0 to 1: 1 for the file that they speak for most, if the history is long. */
  readonly evidence: number;
  readonly why: string;
}

const maxHistories = 8;
const maxCommits = 24;
/** A commit of more files says little about each of them. */
export const maxPaths = 20;
/** Maximum number of files that no search found. */
const maxNew = 24;
const atOnce = 6;
/** Maximum number of folders among which the root of a history is looked for, and of paths looked up in each. */
const maxRoots = 6;
const maxProofs = 8;
/** A slower history is not waited for. */
const patienceMs = 10_000;
const halfLifeMs = 3 * 365 * 86_400_000;
const maxSubject = 80;
/** So much of a message is compared with the task. */
const maxMessage = 2000;
/** In a short history, similar commits are similar by chance: they count from the first number of commits, and fully from the second. */
const fewCommits = 100;
const manyCommits = 500;

/** URI prefixes of git mounts. */
export async function findHistories(resources: Resources, call: Call): Promise<readonly string[]> {
  const { items } = await tryRequest(() => resources.templates({ limit: 500 }, call), { items: [] }, call);
  const logs = new Set(items.map(({ uriTemplate }) => uriTemplate.split("log{?", 1)[0]));
  const bases = items.flatMap(({ uriTemplate }) => {
    const base = uriTemplate.endsWith("commit/{sha}") ? uriTemplate.slice(0, -"commit/{sha}".length) : undefined;
    return base !== undefined && logs.has(base) ? [base] : [];
  });
  return bases.slice(0, maxHistories);
}

/** The history whose commit this is. */
export function historyOf(uri: string, histories: readonly string[]): string | undefined {
  return histories.find((base) => uri.startsWith(base) && /^commit\/[0-9a-f]{40,64}$/.test(uri.slice(base.length)));
}

/** Best first. Empty if a history responds slowly. */
export async function findSimilarCommits(
  resources: Resources,
  task: Task,
  histories: readonly string[],
  call: Call,
): Promise<readonly SimilarCommit[]> {
  if (histories.length === 0) return [];
  return unlessSlow((limited) => findCommits(resources, task, histories, limited), [], call);
}

/** The result of reading a history, or the fallback if that fails or takes too long. */
export function unlessSlow<T>(work: (call: Call) => Promise<T>, fallback: T, call: Call): Promise<T> {
  const limited = () =>
    withDeadline(patienceMs, call.signal, cancelled, ({ signal }) => work(withMembers(call, { signal })));
  return tryRequest(limited, fallback, call);
}

async function findCommits(
  resources: Resources,
  task: Task,
  histories: readonly string[],
  call: Call,
): Promise<readonly SimilarCommit[]> {
  const { hits } = await resources.search({ text: `${task.queries[0] ?? ""} path:commit/*`, limit: maxCommits }, call);
  const fades = new Map<string, number>();
  await roundRobin(histories, atOnce, async (base) =>
    fades.set(base, await tryRequest(() => fadeOf(resources, base, call), 0, call)),
  );
  const newestMs = Math.max(...hits.map(({ resource }) => timeOf(resource)));
  const found = await roundRobin(hits, atOnce, async ({ resource }, rank): Promise<readonly SimilarCommit[]> => {
    const history = historyOf(resource.uri, histories);
    if (history === undefined) return [];
    const summary = await tryRequest(() => readText(resources, `${resource.uri}?as=summary`, call), "", call);
    // Subject, body, author, files; a commit may have neither body nor files.
    const [subject = "", ...rest] = summary.split("\n\n");
    const paths = rest.length < 2 ? [] : rest.at(-1)!.split("\n");
    const age = 0.5 ** ((newestMs - timeOf(resource)) / halfLifeMs);
    const message = [subject, ...rest.slice(0, -2)].join("\n").slice(0, maxMessage);
    const similarity = (coverage(task, message) * 10) / (10 + rank);
    return [{ history, resource, subject, paths, weight: similarity * age, fade: fades.get(history)! }];
  });
  return found.flat();
}

/** From 0 for a short history to 1 for a long one. */
async function fadeOf(resources: Resources, history: string, call: Call): Promise<number> {
  if (await findPinned(resources, `${history}commit/HEAD~${manyCommits}`, call)) return 1;
  const log = parseJson(await readText(resources, `${history}log?max=${manyCommits}`, call));
  const commits = (log as { readonly commits?: unknown } | null)?.commits;
  const count = Array.isArray(commits) ? commits.length : 0;
  return Math.min(1, Math.max(0, count - fewCommits) / (manyCommits - fewCommits));
}

/** The share of the task's terms, by weight, that a message contains. */
function coverage({ terms }: Task, message: string): number {
  const held = new Set(tokenize(message).map(({ term }) => term));
  let all = 0;
  let some = 0;
  for (const { term, weight } of terms.values()) {
    all += weight;
    if (held.has(term)) some += weight;
  }
  return all === 0 ? 0 : some / all;
}

/** The files of these commits that exist now and that the caller may see. `known` need not be looked up. */
export async function filesChangedBy(
  resources: Resources,
  commits: readonly SimilarCommit[],
  roots: ReadonlyMap<string, string | undefined>,
  known: readonly Resource[],
  call: Call,
): Promise<readonly ChangedFile[]> {
  const byUri = new Map<string, { sum: number; evidence: number; best: SimilarCommit }>();
  for (const commit of commits) {
    const root = roots.get(commit.history);
    if (root === undefined || commit.paths.length > maxPaths) continue;
    for (const path of commit.paths) {
      const uri = root + encodePath(path);
      const { sum, evidence, best } = byUri.get(uri) ?? { sum: 0, evidence: 0, best: commit };
      byUri.set(uri, {
        sum: sum + commit.weight,
        evidence: evidence + commit.weight * commit.fade,
        best: commit.weight > best.weight ? commit : best,
      });
    }
  }
  const most = Math.max(...Array.from(byUri.values(), ({ sum }) => sum));
  const resourceOf = new Map(known.map((resource) => [resource.uri, resource]));
  let added = 0;
  const wanted = [...byUri]
    .filter(([, { evidence }]) => evidence > 0)
    .sort(([one, left], [other, right]) => right.evidence - left.evidence || (one < other ? -1 : 1))
    .filter(([uri]) => resourceOf.has(uri) || ++added <= maxNew);
  const found = await roundRobin(wanted, atOnce, async ([uri, { evidence, best }]) => {
    const resource = resourceOf.get(uri) ?? (await findPinned(resources, uri, call));
    const subject = shortLine(clean(best.subject).text, maxSubject) ?? "";
    const why = `changed in a similar commit: "${subject}"`;
    return resource ? [{ resource, evidence: evidence / most, why }] : [];
  });
  return found.flat();
}

/** For each history, the URI prefix of its files, if some of them are known. */
export async function findRoots(
  resources: Resources,
  commits: readonly SimilarCommit[],
  known: readonly Resource[],
  call: Call,
): Promise<ReadonlyMap<string, string | undefined>> {
  const uris = known.map(({ uri }) => uri).filter((uri) => !uri.includes("?"));
  const paths = new Map<string, Set<string>>();
  for (const commit of commits)
    paths.set(commit.history, new Set([...(paths.get(commit.history) ?? []), ...commit.paths.map(encodePath)]));
  const roots = await roundRobin([...paths], atOnce, async ([history, changed]) => {
    const others = uris.filter((uri) => !uri.startsWith(history));
    return [history, await findRoot(resources, history, changed, others, call)] as const;
  });
  return new Map(roots);
}

/** The prefix under which most of these paths are known. Folders with the name of the history come first, and need not be proved. */
async function findRoot(
  resources: Resources,
  history: string,
  paths: ReadonlySet<string>,
  uris: readonly string[],
  call: Call,
): Promise<string | undefined> {
  const named = foldersNamedAs(history, uris);
  const counts = countPrefixes(paths, uris);
  const best = mostCounted(counts, named);
  if (best && named.has(best[0])) return best[0];
  // One path may be equal by chance.
  const candidates = [...named, ...(best && best[1] > 1 ? [best[0]] : [])].slice(0, maxRoots);
  if (candidates.length < 2) return candidates[0];
  const some = [...paths].slice(0, maxProofs);
  const proved = await roundRobin(candidates, 1, async (root): Promise<[string, number]> => {
    const found = await roundRobin(some, atOnce, (path) => findPinned(resources, root + path, call));
    return [root, found.filter((one) => one !== undefined).length];
  });
  return mostCounted(new Map(proved), named)?.[0];
}

/**
 * Without a config, a folder and its history have one name: `file:///home/me/project/a.ts` and `git://project/`. Folders above
 * and below may have it, too.
 */
function foldersNamedAs(history: string, uris: readonly string[]): ReadonlySet<string> {
  const name = /\/\/([^/]+)\/$/.exec(history)?.[1];
  const found = new Set<string>();
  if (name === undefined) return found;
  for (const uri of uris)
    for (let at = uri.indexOf(`/${name}/`); at >= 0; at = uri.indexOf(`/${name}/`, at + 1))
      found.add(uri.slice(0, at + name.length + 2));
  return found;
}

/** How many of the paths are known with each prefix. */
function countPrefixes(paths: ReadonlySet<string>, uris: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths)
    for (const uri of uris) {
      if (!uri.endsWith(`/${path}`)) continue;
      const root = uri.slice(0, -path.length);
      counts.set(root, (counts.get(root) ?? 0) + 1);
    }
  return counts;
}

function mostCounted(
  counts: ReadonlyMap<string, number>,
  named: ReadonlySet<string>,
): readonly [root: string, count: number] | undefined {
  return [...counts].sort(
    ([one, left], [other, right]) =>
      right - left ||
      Number(named.has(other)) - Number(named.has(one)) ||
      one.length - other.length ||
      (one < other ? -1 : 1),
  )[0];
}

function timeOf({ annotations }: Resource): number {
  return Date.parse(annotations?.lastModified ?? "") || 0;
}
