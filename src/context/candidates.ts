/** Collects candidates: found by search, named by the task, or pinned by the caller. Reads nothing. */
import { ResourceError } from "../errors.ts";
import { createCursorGuard } from "../lib/cursor-guard.ts";
import { createTimeSlices } from "../lib/time-slices.ts";
import { type Call, directoryType, type MountFailure, type Hit, type Resource, type Resources } from "../resources.ts";
import type { ChangedLines } from "./changed-lines.ts";
import type { Task } from "./read-task.ts";
import { roundRobin } from "./round-robin.ts";
import { findPins } from "./pins.ts";
import type { PackRole } from "./passage-source.ts";
import { historyOf } from "./similar-commits.ts";

export interface Candidate {
  readonly resource: Resource;
  /** Search score, from 0 to 1. */
  found: number;
  /** Reasons, as sentences without a subject. */
  readonly why: string[];
  /** True if the caller requested it, whatever it contains. */
  isPinned: boolean;
  role?: PackRole;
  /** Factor in addition to the score of its words. */
  boost: number;
  /** How much similar past commits speak for it, from 0 to 1. */
  history: number;
  /** Lines that similar commits, or the changes of the checkout, left behind, and their weights. */
  changed?: ChangedLines;
}

/** By URI, in the order in which they were added. */
export type Candidates = Map<string, Candidate>;

/** Number of hits for the whole task, and for each of its words. */
const wholeHits = 80;
const wordHits = 15;
/** Maximum number of names to check if nothing can be searched. */
const maxListed = 20_000;
const maxPages = 1000;
const atOnce = 4;

/** Resources that the caller requested; `missing` holds URIs that were not found, as the caller wrote them. */
export async function findPinned(
  resources: Resources,
  include: readonly string[],
  call: Call,
): Promise<{ readonly all: Candidates; readonly missing: readonly string[] }> {
  const all: Candidates = new Map();
  const { found, missing } = await findPins(resources, include, call);
  for (const { resource, why } of found) Object.assign(candidateOf(all, resource), { isPinned: true }).why.push(why);
  return { all, missing };
}

/** Share of the searchable content that was searched, and errors. */
export interface Searched {
  readonly ready: number;
  readonly failures: readonly MountFailure[];
  /** True if there may be more hits than were requested. */
  readonly isCut: boolean;
}

/** Adds search hits, without commits of these histories. Undefined if nothing can be searched. */
export async function findCandidates(
  resources: Resources,
  task: Task,
  within: string | undefined,
  histories: readonly string[],
  all: Candidates,
  call: Call,
): Promise<Searched | undefined> {
  const searched = await search(resources, task, within, histories, all, call);
  if (searched === undefined) await lookThroughNames(resources, task, within, all, call);
  return searched;
}

/** Returns the candidate of a resource, and creates it if it is new. */
export function candidateOf(all: Candidates, resource: Resource): Candidate {
  let known = all.get(resource.uri);
  if (!known) {
    known = { resource, found: 0, why: [], isPinned: false, boost: 1, history: 0 };
    all.set(resource.uri, known);
  }
  return known;
}

async function search(
  resources: Resources,
  { queries }: Task,
  within: string | undefined,
  histories: readonly string[],
  all: Candidates,
  call: Call,
): Promise<Searched | undefined> {
  const isCommit = ({ resource }: Hit): boolean => historyOf(resource.uri, histories) !== undefined;
  let ready: number | undefined;
  const failures = new Map<string, MountFailure>();
  const answers = await roundRobin(queries, atOnce, async (text, at): Promise<readonly Hit[]> => {
    try {
      const limit = at === 0 ? wholeHits : wordHits;
      const answer = await resources.search({ text, limit, within }, call);
      ready = Math.min(ready ?? 1, answer.ready);
      for (const failure of answer.failures ?? []) failures.set(failure.mount, failure);
      const files = answer.hits.filter((hit) => !isCommit(hit));
      if (answer.hits.length < limit || files.length === limit) return files;
      // Messages resemble the task more than files do, so that commits took the place of files.
      const others = await resources.search({ text: `${text} -path:commit/*`, limit, within }, call);
      const seen = new Set(others.hits.map(({ resource }) => resource.uri));
      return [...others.hits, ...files.filter(({ resource }) => !seen.has(resource.uri))];
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      if (!(cause instanceof ResourceError) || (cause.kind !== "unsupported" && cause.kind !== "invalid")) throw cause;
      return [];
    }
  });
  answers.forEach((hits, at) => {
    for (const [rank, { resource }] of hits.entries()) {
      if (resource.mimeType === directoryType) continue;
      const candidate = candidateOf(all, resource);
      candidate.found = Math.min(1, candidate.found + (at === 0 ? 0.7 : 0.15) * (10 / (10 + rank)));
    }
  });
  // A searcher that requires all words finds more for one of them than for the whole task.
  const whole = answers[0]?.length ?? 0;
  const isCut = whole >= wholeHits || answers.some((hits) => hits.length >= wordHits && hits.length > whole);
  return ready === undefined ? undefined : { ready, failures: [...failures.values()], isCut };
}

/** Finds the names that match the task best, if nothing can be searched. */
async function lookThroughNames(
  resources: Resources,
  { terms }: Task,
  within: string | undefined,
  all: Candidates,
  call: Call,
): Promise<void> {
  const start = within === undefined ? "" : `${within.replace(/\/$/, "")}/`;
  const wanted = [...terms.values()].filter(({ weight }) => weight >= 0.5).map(({ surface }) => surface.toLowerCase());
  const scored: { readonly resource: Resource; readonly score: number }[] = [];
  const leadsOn = createCursorGuard(maxPages);
  const turn = createTimeSlices();
  let cursor: string | undefined;
  let seen = 0;
  do {
    const page = await resources.list({ limit: 1000, cursor }, call);
    for (const resource of page.items) {
      seen += 1;
      if (!resource.uri.startsWith(start) || resource.mimeType === directoryType) continue;
      const visible = `${readable(resource.uri)} ${resource.title ?? ""} ${resource.description ?? ""}`.toLowerCase();
      scored.push({ resource, score: wanted.filter((word) => visible.includes(word)).length });
    }
    cursor = page.next;
    await turn();
  } while (cursor !== undefined && seen < maxListed && leadsOn(cursor));
  scored.sort((left, right) => right.score - left.score || (left.resource.uri < right.resource.uri ? -1 : 1));
  for (const { resource, score } of scored.slice(0, wholeHits))
    candidateOf(all, resource).found = score / Math.max(1, wanted.length);
}

/** The decoded URI, if it can be decoded. */
export function readable(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
