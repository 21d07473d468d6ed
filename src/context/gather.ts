/** Gathers a pack and its receipt for a task and a budget. Uses only `Resources`, on behalf of the caller. */
import { invalid, toResourceError } from "../errors.ts";
import { defaultBudget, noRoom, partlyNoRoom } from "../lib/pack-budget.ts";
import { ThreadOverrun } from "../lib/threads.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import {
  type Candidate,
  type Candidates,
  findCandidates,
  findPinned,
  candidateOf,
  readable,
  type Searched,
} from "./candidates.ts";
import { type CheckoutChanges, findChanges } from "./changed.ts";
import { linesChangedBy } from "./changed-lines.ts";
import type { CountTokens } from "./count-tokens.ts";
import { maxImportsText } from "./imports.ts";
import { roundRobin } from "./round-robin.ts";
import { findNamed } from "./named-files.ts";
import { findNeighbours } from "./neighbours.ts";
import type { Included, LeftOut, Pack, PackFormat } from "./pack.ts";
import { isSet } from "./pins.ts";
import { maxTaskLength, readTask, type Task } from "./read-task.ts";
import { findBase } from "./shown-paths.ts";
import { withoutExtension } from "./texts.ts";
import { priorityFactor, recencyFactor, gatherWeights } from "./weights.ts";
import { filesChangedBy, findHistories, findRoots, findSimilarCommits, type SimilarCommit } from "./similar-commits.ts";
import { type AsyncWorkbench, useWorkbench } from "./use-workbench.ts";
import type { AboutText, PackedItem, RankedText } from "./workbench.ts";

export interface GatherRequest {
  /** The task in a person's words. Without a task nothing is searched: `include` is packed, in its order. */
  readonly task?: string;
  /**
   * Also packs what a checkout has changed since it left this branch, tag or commit, and what that touches; true for the branch
   * where work usually begins. Needs the history of the checkout.
   */
  readonly changed?: string | true;
  /** Maximum number of tokens of the pack's text. Default: `defaultBudget`. */
  readonly budget?: number;
  /** Default: Markdown. */
  readonly format?: PackFormat;
  /** URIs to include first, whatever they contain. */
  readonly include?: readonly string[];
  /** Searches only below this URI. */
  readonly within?: string;
  /** Prefixes of the URIs of mounts: the pack shows paths below one of them. Default: the common folder of the candidates. */
  readonly roots?: readonly string[];
  /**
   * Counts tokens: "best" as o200k does. Default: "estimate". With a custom counter, all
   * work is done on the calling thread.
   */
  readonly counter?: "estimate" | "best" | CountTokens;
}

const maxBudget = 10_000_000;
const maxIncluded = 200;
/** Maximum number of candidates to read if there is a task, and of their neighbours. */
const maxRead = 80;
const maxNeighbours = 24;
/** Number of best candidates whose neighbours are searched. */
const maxCandidates = 6;
const maxCandidatesOfChanges = 20;
const atOnce = 6;
const maxLeftOut = 40;
/** Equal requests on an equal state give equal packs. */
export async function gather(resources: Resources, ask: GatherRequest, call: Call): Promise<Pack> {
  const { budget = defaultBudget, include = [] } = ask;
  const text = ask.task?.trim();
  if (text === "" || (text === undefined && include.length === 0 && ask.changed === undefined))
    throw invalid("the task is empty; say what is to be done");
  if (text !== undefined && text.length > maxTaskLength)
    throw invalid(`a task has at most ${maxTaskLength} characters; shorten it`);
  if (!Number.isInteger(budget) || budget < 1 || budget > maxBudget)
    throw invalid(`the budget must be an integer from 1 to ${maxBudget} tokens`);
  if (include.length > maxIncluded) throw invalid(`at most ${maxIncluded} URIs can be included`);
  const changes =
    ask.changed === undefined
      ? undefined
      : await findChanges(resources, ask.changed === true ? undefined : ask.changed, ask.roots ?? [], call);
  // Names that the changes define are searched for, as if the task contained them.
  const words = `${text ?? ""}\n${changes?.names.join(" ") ?? ""}`.trim().slice(0, maxTaskLength);
  const read = readTask(words);
  // Words that carry grammar only are everywhere: nothing is searched for them.
  const task = read.terms.size > 0 ? read : readTask("");
  return useWorkbench(task.text, ask.counter ?? "estimate", call.signal, (bench) =>
    gatherAt(bench, resources, ask, task, changes, call),
  );
}

async function gatherAt(
  bench: AsyncWorkbench,
  resources: Resources,
  { task: taskText, budget = defaultBudget, format = "markdown", include = [], within, roots = [] }: GatherRequest,
  task: Task,
  changes: CheckoutChanges | undefined,
  call: Call,
): Promise<Pack> {
  const reader = createCandidateReader(bench, resources, roots, call);
  // A set in the task includes all its members.
  const pinned = [...(changes?.include.keys() ?? []), ...include, ...task.names.uris.filter(isSet)];
  const { all, missing } = await findPinned(resources, pinned, call);
  if (changes) noteChanges(changes, all, reader);
  for (const uri of missing) reader.leaveOut(uri, "was not found");
  let searched: Searched | undefined;
  if (task.terms.size === 0 && !changes) await reader.read([...all.values()].slice(0, maxIncluded));
  else {
    const histories = (await findHistories(resources, call)).filter((base) => !within?.startsWith(base));
    const [answered, similar] = await Promise.all([
      findCandidates(resources, task, within, histories, all, call),
      // Names alone resemble any commit that mentions them.
      taskText === undefined ? [] : findSimilarCommits(resources, task, histories, call),
    ]);
    searched = answered;
    await addChangedFiles(resources, similar, within, all, call);
    const met = Array.from(all.values(), ({ resource }) => resource);
    for (const { resource, why } of await findNamed(resources, task, met, within, call)) {
      const candidate = candidateOf(all, resource);
      candidate.boost = gatherWeights.named;
      if (!candidate.why.includes(why)) candidate.why.push(why);
    }
    await reader.read([...all.values()].sort(byPromise).slice(0, changes ? maxIncluded : maxRead));
    for (const { uri } of changes?.files ?? []) reader.inherit(uri, gatherWeights.changedFile);
    await addNeighbours(resources, reader, all, within, changes ? maxCandidatesOfChanges : maxCandidates, call);
  }
  const about = reader.about();
  const base = findBase(
    about.map(({ item }) => item.uri),
    roots,
  );
  const packed = await bench.pack(about, budget, format, base);
  for (const key of packed.cut)
    if (reader.readAs(key).candidate.isPinned) reader.leaveOut(reader.readAs(key).uri, partlyNoRoom);
  for (const key of packed.noRoom) reader.leaveOut(reader.readAs(key).uri, noRoom);
  const unread = Math.max(0, all.size - reader.seen);
  const isAllSearched = searched?.ready === 1 && searched.failures.length === 0 && !searched.isCut;
  return {
    format,
    text: packed.text,
    ...(base !== undefined && { base }),
    tokens: packed.tokens,
    items: packed.items.map(({ item }) => item),
    receipt: {
      task: taskText?.trim(),
      ...(changes && {
        changed: { base: changes.base, files: changes.count, ...(changes.isMore && { isMore: true as const }) },
      }),
      budget,
      tokens: packed.tokens,
      counter: packed.counter,
      ready: searched?.ready,
      ...(searched && searched.failures.length > 0 && { failures: searched.failures }),
      included: packed.items.map((one) => toIncluded(one, reader.readAs(one.key))),
      leftOut: reader.leftOut.slice(0, maxLeftOut),
      ...(packed.belowFloor > 0 && { belowFloor: packed.belowFloor }),
      hasAllRelevant: isAllSearched && packed.cut.length + reader.leftOut.length + unread === 0,
      moreLeftOut: Math.max(0, reader.leftOut.length - maxLeftOut) + unread,
    },
  };
}

/** A candidate that was read. Its text is in the thread. */
interface ReadCandidate {
  readonly candidate: Candidate;
  /** URI for reading the text again. */
  readonly uri: string;
  /** The beginning of the text, which may hold imports. */
  readonly beginning: string;
  inherited: number;
}

interface CandidateReader {
  readonly leftOut: readonly LeftOut[];
  /** Number of candidates tried, whether or not they could be read. */
  readonly seen: number;
  leaveOut(uri: string, why: string): void;
  read(candidates: readonly Candidate[]): Promise<void>;
  /** The candidate that was read under this URI. */
  readAs(uri: string): ReadCandidate;
  /** Gives the candidate of this URI a share of another's score. */
  inherit(uri: string, score: number): void;
  /** Metadata of all that were read. */
  about(): readonly AboutText[];
  /** Best first. */
  ranked(): Promise<readonly (RankedText & { readonly readAs: ReadCandidate })[]>;
}

function createCandidateReader(
  bench: AsyncWorkbench,
  resources: Resources,
  roots: readonly string[],
  call: Call,
): CandidateReader {
  const byUri = new Map<string, ReadCandidate>();
  const seen = new Set<string>();
  const leftOut: LeftOut[] = [];
  let bases: readonly string[] | undefined;

  async function readOne(candidate: Candidate): Promise<ReadCandidate | string | undefined> {
    const { resource, isPinned } = candidate;
    const { audience } = resource.annotations ?? {};
    if (audience && audience.length > 0 && !audience.includes("assistant")) return "is not meant for the assistant";
    if (resource.mimeType === directoryType) return "is a directory";
    const uri = textUri(resource);
    try {
      const { contents } = await resources.read(uri, call);
      const body = contents.find((content) => "text" in content.body)?.body;
      if (!body || !("text" in body)) return "is not text";
      const raw = body.text;
      const path = readable(uri.replace(/^[a-z][a-z0-9+.-]*:\/*/i, ""));
      const pathBelowRoot = readable(uri.slice(rootOf(uri, bases ?? roots).length));
      const { uri: key, name, title = "", description = "", mimeType } = resource;
      if (
        !(await bench.add({
          key,
          raw,
          path,
          pathBelowRoot,
          title: `${withoutExtension(name)} ${title} ${description}`,
          mimeType,
        }))
      )
        return "is not text";
      return { candidate, uri, beginning: raw.slice(0, maxImportsText), inherited: 0 };
    } catch (cause) {
      if (call.signal.aborted || cause instanceof ThreadOverrun) throw cause;
      const { kind } = toResourceError(cause);
      // A URI that is missing or hidden is reported only if the caller named it.
      if (kind === "not-found" || kind === "denied") return isPinned ? "was not found" : undefined;
      return kind === "too-large" ? "is too large to be read" : "could not be read";
    }
  }

  function about(): AboutText[] {
    const all = [...byUri];
    const times = all.map(([, { candidate }]) => Date.parse(candidate.resource.annotations?.lastModified ?? ""));
    const newest = times.reduce((most, time) => (time > most ? time : most), 0);
    return all.map(([key, { candidate, uri, inherited }]) => {
      const { resource, found, history, changed, boost, isPinned, role } = candidate;
      const { priority, lastModified } = resource.annotations ?? {};
      const factor = priorityFactor(priority) * recencyFactor(lastModified, newest) * boost;
      return { key, found, inherited, history, changed, factor, isPinned, role, item: toItem(resource, uri) };
    });
  }

  return {
    leftOut,
    get seen() {
      return seen.size;
    },
    leaveOut: (uri, why) => leftOut.push({ uri, why }),
    async read(candidates) {
      const fresh = candidates.filter(({ resource }) => !seen.has(resource.uri));
      for (const { resource } of fresh) seen.add(resource.uri);
      bases ??= basesOf(candidates, roots);
      const answers = await roundRobin(fresh, atOnce, readOne);
      answers.forEach((answer, at) => {
        const { uri } = fresh[at]!.resource;
        if (typeof answer === "string") leftOut.push({ uri, why: answer });
        else if (answer) byUri.set(uri, answer);
      });
    },
    readAs: (uri) => byUri.get(uri)!,
    inherit(uri, score) {
      const candidate = byUri.get(uri);
      if (candidate) candidate.inherited = Math.max(candidate.inherited, score);
    },
    about,
    async ranked() {
      const ranked = await bench.rankTexts(about());
      return ranked.map((one) => ({ ...one, readAs: byUri.get(one.key)! }));
    },
  };
}

/** The roots, and the common folder of files that are below none of them. */
function basesOf(candidates: readonly Candidate[], roots: readonly string[]): readonly string[] {
  const uris = candidates.map(({ resource }) => resource.uri);
  const base = findBase(
    uris.filter((uri) => uri.startsWith("file:///") && rootOf(uri, roots) === "file:///"),
    [],
  );
  return base === undefined ? roots : [...roots, base];
}

/** The longest of the roots that the URI begins with, or else its scheme and authority. */
function rootOf(uri: string, roots: readonly string[]): string {
  const start = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*\/?)?/i.exec(uri)?.[0] ?? "";
  return roots
    .filter((one) => uri.startsWith(one))
    .reduce((most, one) => (one.length > most.length ? one : most), start);
}

/** Adds the changed files to the candidates, with reasons. */
function noteChanges(
  { include, files, lines, leftOut }: CheckoutChanges,
  all: Candidates,
  reader: CandidateReader,
): void {
  for (const [uri, why] of include) all.get(uri)?.why.splice(0, Infinity, why);
  for (const uri of [...include.keys()].slice(0, 1)) Object.assign(all.get(uri) ?? {}, { role: "summary" });
  for (const resource of files) {
    const candidate = candidateOf(all, resource);
    Object.assign(candidate, { role: "changed", boost: gatherWeights.named, changed: lines.get(resource.uri) });
    if (!candidate.isPinned) candidate.why.push("has changed");
  }
  for (const { uri, why } of leftOut) reader.leaveOut(uri, why);
}

/** Adds what similar commits changed. A commit itself is a candidate only if its files are not. */
async function addChangedFiles(
  resources: Resources,
  commits: readonly SimilarCommit[],
  within: string | undefined,
  all: Candidates,
  call: Call,
): Promise<void> {
  const known = Array.from(all.values(), ({ resource }) => resource);
  const roots = await findRoots(resources, commits, known, call);
  for (const { resource, evidence, why } of await filesChangedBy(resources, commits, roots, known, call)) {
    if (!resource.uri.startsWith(startOf(within))) continue;
    const candidate = candidateOf(all, resource);
    candidate.history = evidence;
    candidate.why.push(why);
  }
  for (const [uri, changed] of await linesChangedBy(resources, commits, roots, call)) {
    const candidate = all.get(uri);
    if (candidate) candidate.changed ??= changed;
  }
  if (within !== undefined) return;
  for (const { resource, history, weight } of commits)
    if (roots.get(history) === undefined) candidateOf(all, resource).found = weight;
}

/** Also reads what is related to the best candidates. */
async function addNeighbours(
  resources: Resources,
  reader: CandidateReader,
  all: Candidates,
  within: string | undefined,
  maxBest: number,
  call: Call,
): Promise<void> {
  const start = startOf(within);
  // A URI with a query has no neighbours.
  const best = (await reader.ranked()).filter(({ key }) => !key.includes("?")).slice(0, maxBest);
  const neighbours = await findNeighbours(
    resources,
    best.map(({ readAs }) => ({ uri: readAs.candidate.resource.uri, text: readAs.beginning })),
    Array.from(all.values(), ({ resource }) => resource),
    call,
  );
  const nearest = neighbours.toSorted(
    (left, right) =>
      right.nearness - left.nearness || left.of - right.of || compare(left.resource.uri, right.resource.uri),
  );
  const taken = new Map<string, number>();
  for (const { resource, of, nearness, why } of nearest) {
    if (!resource.uri.startsWith(start)) continue;
    const share = gatherWeights.neighbour * nearness * best[of]!.score;
    if (!taken.has(resource.uri)) {
      if (taken.size >= maxNeighbours) continue;
      const candidate = candidateOf(all, resource);
      candidate.why.push(why);
    }
    taken.set(resource.uri, Math.max(taken.get(resource.uri) ?? 0, share));
  }
  await reader.read([...taken.keys()].map((uri) => all.get(uri)!));
  for (const [uri, share] of taken) reader.inherit(uri, share);
}

function startOf(within: string | undefined): string {
  return within === undefined ? "" : `${within.replace(/\/$/, "")}/`;
}

/** Pinned first, then those that the task names, then by search score and past commits. */
function byPromise(left: Candidate, right: Candidate): number {
  return (
    Number(right.isPinned) - Number(left.isPinned) ||
    right.boost - left.boost ||
    right.found + right.history - (left.found + left.history) ||
    compare(left.resource.uri, right.resource.uri)
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** For a document, the URI of its extracted text. */
function textUri({ uri, mimeType = "", meta }: Resource): string {
  const forms = meta?.["pressmark/as"];
  const isDocument = !mimeType.startsWith("text/") && Array.isArray(forms) && forms.includes("text");
  return isDocument && !/[?#]/.test(uri) ? `${uri}?as=text` : uri;
}

function toItem({ name, title, mimeType, annotations }: Resource, uri: string): AboutText["item"] {
  return { uri, name, title, mimeType, lastModified: annotations?.lastModified };
}

function toIncluded(packed: PackedItem, { candidate }: ReadCandidate): Included {
  const { item, also, digest, tokens, says, masked, removed } = packed;
  const { uri, lines, columns, lastModified } = item;
  return {
    uri,
    lines,
    columns,
    lastModified,
    digest,
    tokens,
    why: candidate.why.length + says.length > 0 ? [...candidate.why, ...says] : ["was found by search"],
    ...(also.length > 0 && { also }),
    ...(masked > 0 && { masked }),
    ...(removed > 0 && { removed }),
  };
}
