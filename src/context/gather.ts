/** Gathers a pack and its receipt for a task and a budget. Uses only `Resources`, on behalf of the caller. */
import { invalid, toResourceError } from "../errors.ts";
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
import type { CountTokens } from "./count-tokens.ts";
import { maxImportsText } from "./imports.ts";
import { roundRobin } from "./round-robin.ts";
import { findNamed } from "./named-files.ts";
import { findNeighbours } from "./neighbours.ts";
import type { Included, LeftOut, Pack, PackFormat } from "./pack.ts";
import { isSet } from "./pins.ts";
import { maxTaskLength, readTask } from "./read-task.ts";
import { priorityFactor, recencyFactor, gatherWeights } from "./weights.ts";
import { type AsyncWorkbench, useWorkbench } from "./use-workbench.ts";
import type { AboutText, PackedItem, RankedText } from "./workbench.ts";

export interface GatherRequest {
  /** What is to be done, in a person's words. Without a task nothing is searched: `include` is packed, in its order. */
  readonly task?: string;
  /** Maximum number of tokens of the pack's text. */
  readonly budget: number;
  /** Default: Markdown. */
  readonly format?: PackFormat;
  /** URIs to include first, whatever they contain. */
  readonly include?: readonly string[];
  /** Searches only below this URI. */
  readonly within?: string;
  /**
   * Counts tokens: "best" uses the package `tiktoken` if it is installed. Default: "estimate". With a custom counter, all
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
const atOnce = 6;
const maxLeftOut = 40;
/** Equal requests on an equal state give equal packs. */
export async function gather(resources: Resources, ask: GatherRequest, call: Call): Promise<Pack> {
  const { budget, include = [] } = ask;
  const text = ask.task?.trim();
  if (text === "" || (text === undefined && include.length === 0))
    throw invalid("the task is empty; say what is to be done");
  if (text !== undefined && text.length > maxTaskLength)
    throw invalid(`a task has at most ${maxTaskLength} characters; shorten it`);
  if (!Number.isInteger(budget) || budget < 1 || budget > maxBudget)
    throw invalid(`the budget must be an integer from 1 to ${maxBudget} tokens`);
  if (include.length > maxIncluded) throw invalid(`at most ${maxIncluded} URIs can be included`);
  return useWorkbench(text ?? "", ask.counter ?? "estimate", call.signal, (bench) =>
    gatherAt(bench, resources, ask, text, call),
  );
}

async function gatherAt(
  bench: AsyncWorkbench,
  resources: Resources,
  { budget, format = "markdown", include = [], within }: GatherRequest,
  text: string | undefined,
  call: Call,
): Promise<Pack> {
  const task = readTask(text ?? "");
  const reader = createCandidateReader(bench, resources, call);
  // A set in the task includes all its members.
  const { all, missing } = await findPinned(resources, [...include, ...task.names.uris.filter(isSet)], call);
  for (const uri of missing) reader.leaveOut(uri, "was not found");
  let searched: Searched | undefined;
  if (text === undefined) await reader.read([...all.values()].slice(0, maxIncluded));
  else {
    searched = await findCandidates(resources, task, within, all, call);
    const met = Array.from(all.values(), ({ resource }) => resource);
    for (const { resource, why } of await findNamed(resources, task, met, within, call)) {
      const candidate = candidateOf(all, resource);
      candidate.boost = gatherWeights.named;
      if (!candidate.why.includes(why)) candidate.why.push(why);
    }
    await reader.read([...all.values()].sort(byPromise).slice(0, maxRead));
    await addNeighbours(resources, reader, all, within, call);
  }
  const packed = await bench.pack(reader.about(), budget, format);
  for (const key of packed.noRoom) reader.leaveOut(reader.readAs(key).uri, "does not fit into the budget");
  for (const key of packed.cut)
    if (reader.readAs(key).candidate.isPinned)
      reader.leaveOut(reader.readAs(key).uri, "fits into the budget only in part");
  const unread = Math.max(0, all.size - reader.seen);
  return {
    format,
    text: packed.text,
    tokens: packed.tokens,
    items: packed.items.map(({ item }) => item),
    receipt: {
      task: text,
      budget,
      tokens: packed.tokens,
      counter: packed.counter,
      ready: searched?.ready,
      ...(searched && searched.failures.length > 0 && { failures: searched.failures }),
      included: packed.items.map((one) => toIncluded(one, reader.readAs(one.key))),
      leftOut: reader.leftOut.slice(0, maxLeftOut),
      ...(packed.belowFloor > 0 && { belowFloor: packed.belowFloor }),
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

function createCandidateReader(bench: AsyncWorkbench, resources: Resources, call: Call): CandidateReader {
  const byUri = new Map<string, ReadCandidate>();
  const seen = new Set<string>();
  const leftOut: LeftOut[] = [];

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
      const { uri: key, name, title = "", description = "", mimeType } = resource;
      if (!(await bench.add({ key, raw, path, title: `${name} ${title} ${description}`, mimeType })))
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
      const { resource, found, boost, isPinned } = candidate;
      const { priority, lastModified } = resource.annotations ?? {};
      const factor = priorityFactor(priority) * recencyFactor(lastModified, newest) * boost;
      return { key, found, inherited, factor, isPinned, item: toItem(resource, uri) };
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

/** Also reads what is related to the best candidates. */
async function addNeighbours(
  resources: Resources,
  reader: CandidateReader,
  all: Candidates,
  within: string | undefined,
  call: Call,
): Promise<void> {
  const start = within === undefined ? "" : `${within.replace(/\/$/, "")}/`;
  const best = (await reader.ranked()).slice(0, maxCandidates);
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

/** Pinned first, then those that the task names, then by search score. */
function byPromise(left: Candidate, right: Candidate): number {
  return (
    Number(right.isPinned) - Number(left.isPinned) ||
    right.boost - left.boost ||
    right.found - left.found ||
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
