/** A task and a budget in, a pack and its receipt out. Asks nothing but `Resources`, in the name of the caller. */
import { invalid, toResourceError } from "../errors.ts";
import { digestOf } from "../lib/digest.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import {
  type Candidate,
  type Candidates,
  findCandidates,
  findPinned,
  meet,
  readable,
  type Searched,
} from "./candidates.ts";
import { clean, countIn, type Clean } from "./clean.ts";
import { estimate, type CountTokens } from "./count-tokens.ts";
import { fit, type Choice } from "./fit.ts";
import { frameOf } from "./frame.ts";
import { inTurn } from "./in-turn.ts";
import { findNamed } from "./named.ts";
import { findNeighbours, nameOf } from "./neighbours.ts";
import type { Included, LeftOut, Pack, PackFormat } from "./pack.ts";
import { isSet } from "./pins.ts";
import { rank, type Ranked } from "./rank.ts";
import { maxTaskLength, readTask, type Task } from "./read-task.ts";
import type { Shelf } from "./shelf.ts";
import { lookThrough, type Text } from "./texts.ts";
import { priorityFactor, recencyFactor, weights } from "./weights.ts";

export interface GatherAsk {
  /** What is to be done, as a person says it. Without one nothing is looked for: what is in `include` is packed, in its order. */
  readonly task?: string;
  /** What the text of the pack may have at most, in tokens. */
  readonly budget: number;
  /** Markdown unless said. */
  readonly format?: PackFormat;
  /** URIs that come first, whatever they say. */
  readonly include?: readonly string[];
  /** Searches only below this URI. */
  readonly within?: string;
  /** An estimate unless said. */
  readonly counter?: CountTokens;
}

export const maxBudget = 10_000_000;
const maxIncluded = 200;
/** So many of the candidates are read where there is a task, and so many of their neighbours. */
const maxRead = 80;
const maxNeighbours = 24;
/** So many of the best have their neighbours looked for. */
const maxResidents = 6;
const atOnce = 6;
/** Longer texts are looked through only so far. */
const maxTextLength = 1024 * 1024;
const maxLeftOut = 40;

/** The same question on the same state gives the same pack. */
export async function gather(resources: Resources, ask: GatherAsk, call: Call): Promise<Pack> {
  const { budget, format = "markdown", include = [], within, counter = estimate } = ask;
  const text = ask.task?.trim();
  if (text === "" || (text === undefined && include.length === 0))
    throw invalid("there is no task to gather for: say what is to be done");
  if (text !== undefined && text.length > maxTaskLength)
    throw invalid(`a task has at most ${maxTaskLength} characters`);
  if (!Number.isInteger(budget) || budget < 1 || budget > maxBudget)
    throw invalid(`a budget is a whole number of tokens from 1 to ${maxBudget}`);
  if (include.length > maxIncluded) throw invalid(`at most ${maxIncluded} URIs can be included`);

  const task = readTask(text ?? "");
  const desk = createDesk(resources, task, call);
  // Who names a set means all that is in it.
  const { all, missing } = await findPinned(resources, [...include, ...task.names.uris.filter(isSet)], call);
  for (const uri of missing) desk.leaveOut(uri, "is not here");
  let searched: Searched | undefined;
  if (text === undefined) await desk.read([...all.values()].slice(0, maxIncluded));
  else {
    searched = await findCandidates(resources, task, within, all, call);
    const met = Array.from(all.values(), ({ resource }) => resource);
    for (const { resource, why } of await findNamed(resources, task, met, within, call)) {
      const candidate = meet(all, resource);
      candidate.boost = weights.named;
      if (!candidate.why.includes(why)) candidate.why.push(why);
    }
    await desk.read([...all.values()].sort(byPromise).slice(0, maxRead));
    await addNeighbours(resources, desk, all, within, call);
  }
  const ranked = desk.ranked();
  const shelves = ranked.map(({ paper, ranking }) => toShelf(paper, ranking));
  const fitted = fit(shelves, budget, frameOf(format), counter);

  for (const shelf of fitted.noRoom)
    if (shelf.passages.some(({ score }) => score > 0) || shelf.isPinned)
      desk.leaveOut(shelf.item.uri, "does not fit into the budget");
  for (const { item, isPinned } of fitted.cut)
    if (isPinned) desk.leaveOut(item.uri, "fits into the budget only in part");
  const papers = new Map(ranked.map(({ paper }, at) => [shelves[at]!, paper]));
  const included = await inTurn(fitted.chosen, 1, (choice) =>
    toIncluded(choice, papers.get(choice.shelf)!, task, counter, format),
  );
  const unread = Math.max(0, all.size - desk.seen);
  return {
    format,
    text: fitted.text,
    tokens: fitted.tokens,
    items: fitted.chosen.map(({ item }) => item),
    receipt: {
      ...(text !== undefined && { task: text }),
      budget,
      tokens: fitted.tokens,
      counter: counter.name,
      ...(searched && { ready: searched.ready }),
      ...(searched && searched.failures.length > 0 && { failures: searched.failures }),
      included,
      leftOut: desk.leftOut.slice(0, maxLeftOut),
      moreLeftOut: Math.max(0, desk.leftOut.length - maxLeftOut) + unread,
    },
  };
}

/** A candidate that was read. */
interface Paper {
  readonly candidate: Candidate;
  /** Where the text is read again. */
  readonly uri: string;
  readonly raw: string;
  readonly clean: Clean;
  readonly text: Text;
  inherited: number;
}

interface Desk {
  readonly leftOut: readonly LeftOut[];
  /** How many candidates were looked at, whether or not they could be read. */
  readonly seen: number;
  leaveOut(uri: string, why: string): void;
  read(candidates: readonly Candidate[]): Promise<void>;
  /** Gives a paper of this URI something of another's score. */
  inherit(uri: string, score: number): void;
  /** Best first. */
  ranked(): readonly { readonly paper: Paper; readonly ranking: Ranked }[];
}

function createDesk(resources: Resources, task: Task, call: Call): Desk {
  const papers = new Map<string, Paper>();
  const seen = new Set<string>();
  const leftOut: LeftOut[] = [];

  async function readOne(candidate: Candidate): Promise<Paper | string | undefined> {
    const { resource, isPinned } = candidate;
    const { audience } = resource.annotations ?? {};
    if (audience && audience.length > 0 && !audience.includes("assistant")) return "is not meant for the assistant";
    if (resource.mimeType === directoryType) return "is a directory";
    const uri = textUri(resource);
    try {
      const { contents } = await resources.read(uri, call);
      const body = contents.find((content) => "text" in content.body)?.body;
      if (!body || !("text" in body)) return "is no text";
      const raw = body.text;
      const cleaned = clean(raw.slice(0, maxTextLength));
      const path = readable(uri.replace(/^[a-z][a-z0-9+.-]*:\/*/i, ""));
      const { name, title = "", description = "", mimeType } = resource;
      const text = lookThrough(cleaned.text, path, `${name} ${title} ${description}`, task, mimeType);
      return text ? { candidate, uri, raw, clean: cleaned, text, inherited: 0 } : "is no text";
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      const { kind } = toResourceError(cause);
      // What was there a moment ago, or never was for this caller, is not spoken of unless the caller spoke of it first.
      if (kind === "not-found" || kind === "denied") return isPinned ? "is not here" : undefined;
      return kind === "too-large" ? "is too large to be read at once" : "could not be read just now";
    }
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
      const answers = await inTurn(fresh, atOnce, readOne);
      answers.forEach((answer, at) => {
        const { uri } = fresh[at]!.resource;
        if (typeof answer === "string") leftOut.push({ uri, why: answer });
        else if (answer) papers.set(uri, answer);
      });
    },
    inherit(uri, score) {
      const paper = papers.get(uri);
      if (paper) paper.inherited = Math.max(paper.inherited, score);
    },
    ranked() {
      const all = [...papers.values()];
      const times = all.map(({ candidate }) => Date.parse(candidate.resource.annotations?.lastModified ?? ""));
      const newest = times.reduce((most, time) => (time > most ? time : most), 0);
      const rankings = rank(
        all.map(({ candidate: { resource, found, boost }, text, inherited }) => ({
          text,
          found,
          inherited,
          factor:
            priorityFactor(resource.annotations?.priority) *
            recencyFactor(resource.annotations?.lastModified, newest) *
            boost,
        })),
        task,
      );
      return all
        .map((paper, at) => ({ paper, ranking: rankings[at]! }))
        .sort(
          (left, right) =>
            right.ranking.score - left.ranking.score ||
            // Without a task they stay in the order of whoever chose them.
            (task.terms.size === 0 ? 0 : compare(left.paper.uri, right.paper.uri)),
        );
    },
  };
}

/** Reads what belongs to the best, too. */
async function addNeighbours(
  resources: Resources,
  desk: Desk,
  all: Candidates,
  within: string | undefined,
  call: Call,
): Promise<void> {
  const start = within === undefined ? "" : `${within.replace(/\/$/, "")}/`;
  const best = desk.ranked().slice(0, maxResidents);
  const neighbours = await findNeighbours(
    resources,
    best.map(({ paper }) => ({ uri: paper.candidate.resource.uri, text: paper.raw })),
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
    const share = weights.neighbour * nearness * best[of]!.ranking.score;
    if (!taken.has(resource.uri)) {
      if (taken.size >= maxNeighbours) continue;
      const candidate = meet(all, resource);
      candidate.why.push(why);
    }
    taken.set(resource.uri, Math.max(taken.get(resource.uri) ?? 0, share));
  }
  await desk.read([...taken.keys()].map((uri) => all.get(uri)!));
  for (const [uri, share] of taken) desk.inherit(uri, share);
}

/** Pins first, then what the task names, then what searches found best. */
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

/** Of a document the text that can be taken out of it. */
function textUri({ uri, mimeType = "", meta }: Resource): string {
  const forms = meta?.["pressmark/as"];
  const isDocument = !mimeType.startsWith("text/") && Array.isArray(forms) && forms.includes("text");
  return isDocument && !/[?#]/.test(uri) ? `${uri}?as=text` : uri;
}

/** What is said of a text is no safer than the text. */
function shown(said: string): string {
  return clean(said).text;
}

function toShelf({ candidate: { resource, isPinned }, uri, clean: { text } }: Paper, ranking: Ranked): Shelf {
  const { name, title, mimeType, annotations } = resource;
  return {
    item: {
      uri,
      name: shown(name),
      ...(title !== undefined && { title: shown(title) }),
      ...(mimeType !== undefined && { mimeType: shown(mimeType) }),
      ...(annotations?.lastModified !== undefined && { lastModified: shown(annotations.lastModified) }),
    },
    text,
    isPinned,
    passages: ranking.passages,
  };
}

async function toIncluded(
  { item, passages, also }: Choice,
  { candidate, raw, clean: { removed, masked }, text: { pathTerms } }: Paper,
  task: Task,
  counter: CountTokens,
  format: PackFormat,
): Promise<Included> {
  const { uri, lines, columns, lastModified } = item;
  const said = (terms: Iterable<string>) =>
    [...new Set(Array.from(terms, (term) => task.terms.get(term)!.surface))]
      .slice(0, 4)
      .map((word) => `"${word}"`)
      .join(", ");
  const words = said(passages.flatMap(({ terms }) => terms.slice(0, 4)));
  const inPath = said([...pathTerms].filter((term) => task.terms.get(term)!.weight >= 0.5));
  const hidden = countIn(removed, lines);
  const secrets = countIn(masked, lines);
  return {
    uri,
    lines,
    ...(columns && { columns }),
    ...(lastModified !== undefined && { lastModified }),
    digest: await digestOf(raw),
    tokens: counter.count(frameOf(format).item(item)),
    why: [
      ...candidate.why,
      ...(words === "" ? [] : [`says ${words}`]),
      ...(inPath === "" ? [] : [`${shown(nameOf(uri))} is called so: ${inPath}`]),
    ],
    ...(also.length > 0 && { also }),
    ...(secrets > 0 && { masked: secrets }),
    ...(hidden > 0 && { removed: hidden }),
  };
}
