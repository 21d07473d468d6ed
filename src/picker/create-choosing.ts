/** Chosen resources: counts, orders, formats, saves and opens them. */
import type { ToolSaid } from "../client/tool-fallback.ts";
import { ResourceError } from "../errors.ts";
import { estimateTokens, estimateTokensOf } from "../lib/estimate-tokens.ts";
import { asMarkdown, asXml } from "../lib/format-resources.ts";
import { inParallel } from "../lib/in-parallel.ts";
import { linesOf } from "../lib/line-range-uri.ts";
import { extractedUri, isDocument, isDocumentBytes } from "../lib/passage-uri.ts";
import type { Resource } from "../resources.ts";
import { choiceKey } from "./choice-key.ts";
import { createFolderChoice } from "./create-folder-choice.ts";
import type { PagePart } from "./create-picker.ts";
import { createTrayWatch } from "./create-tray-watch.ts";
import { isPassing } from "./is-passing.ts";
import { messageOf } from "./message-of.ts";
import { optionalNumber, optionalText, recordOf, recordsIn } from "./loose.ts";
import {
  type Chosen,
  movedTo,
  toggled,
  type TokenCount,
  type Tray,
  trayCounts,
  wholeToggled,
  withAll,
  without,
  withoutAll,
} from "./tray.ts";
import { isFolder } from "./tree.ts";

export type Form = "markdown" | "xml" | "uris";

const readAtOnce = 4;
/** After each change of the tray. */
const maxRetries = 3;
/** Time between two reports of progress. */
const progressMs = 200;
const countTool = "count_tokens";
/** URIs in one call of that tool. */
const maxCounted = 100;
/** The maximum of the tool. */
export const maxSet = 500;
const setsUri = "set://";

/** Chosen resources as one text, and what it lacks. */
export interface Written {
  readonly text: string;
  /** Number of resources without text. */
  readonly withoutText: number;
  /** Number of resources that could not be read. */
  readonly unread: number;
  /** Number of folders that could not be listed. */
  readonly failed: number;
}

export function createChoosing(part: PagePart) {
  const taken = new Set<string>();
  const tried = new Set<string>();
  let underCount = 0;
  let retries = 0;
  let writing = new AbortController();
  /** Removed together, as long as nothing else is chosen. */
  let cleared: Tray = [];
  const { countFolders, retryFolders, expand } = createFolderChoice(part);
  const { watchTray, isMissing, seen } = createTrayWatch(part, costs);

  /** A few at a time, because a person may choose hundreds at once. */
  async function countTray(): Promise<void> {
    if (underCount >= readAtOnce) return;
    underCount += 1;
    for (;;) {
      const waiting = part.state.tray
        .filter(({ resource, tokens }) => tokens === undefined && !isFolder(resource) && !taken.has(resource.uri))
        .map(({ resource }) => resource)
        .filter(({ uri }) => !tried.has(uri))
        .slice(0, part.state.tools.has(countTool) ? maxCounted : 1);
      if (waiting.length === 0) break;
      for (const { uri } of waiting) {
        tried.add(uri);
        taken.add(uri);
      }
      const counts = await costs(waiting);
      for (const { uri } of waiting) taken.delete(uri);
      part.change({ tray: trayCounts(part.state.tray, counts) });
    }
    underCount -= 1;
  }

  /** Counted by the server if it can; otherwise estimated from the text. */
  async function costs(resources: readonly Resource[]): Promise<ReadonlyMap<string, TokenCount | "none">> {
    const counted = await countByTool(resources).catch(() => new Map<string, TokenCount | "none">());
    const rest = resources.filter(({ uri }) => !counted.has(uri));
    const read = await inParallel(rest, readAtOnce, async (resource) => [resource.uri, await cost(resource)] as const);
    return new Map([...counted, ...read.flatMap(([uri, tokens]) => (tokens ? [[uri, tokens] as const] : []))]);
  }

  async function countByTool(resources: readonly Resource[]): Promise<Map<string, TokenCount | "none">> {
    const { useTool } = part.pressmark();
    if (!useTool || !part.state.tools.has(countTool)) return new Map();
    const { structured } = await useTool(countTool, { uris: resources.map(textUri) }, part.call());
    const counts = new Map(recordsIn(structured?.["counts"]).map((each) => [each["uri"], each]));
    return new Map(
      resources.flatMap((resource): [string, TokenCount | "none"][] => {
        const { tokens, isExact, problem } = counts.get(textUri(resource)) ?? {};
        if (typeof tokens === "number") return [[resource.uri, { count: tokens, isExact: isExact === true }]];
        // The error of a read tells whether such a range has any lines.
        return problem === undefined || isOpenRange(resource) ? [] : [[resource.uri, "none"]];
      }),
    );
  }

  /** Counts what is new in it. */
  function set(tray: Tray): void {
    if (tray.length > 0) cleared = [];
    part.change({ tray });
    retries = 0;
    countFolders(tray);
    watchTray(tray);
    countNew();
  }

  function countNew(): void {
    tried.clear();
    for (let at = 0; at < readAtOnce; at += 1) void countTray();
  }

  /** Undefined if it may succeed later. */
  async function cost(resource: Resource): Promise<TokenCount | "none" | undefined> {
    try {
      const text = await textOf(resource);
      return text === undefined ? "none" : { count: estimateTokens(text), isExact: false };
    } catch (cause) {
      // The lines after those that were removed: there are none.
      if (isOpenRange(resource) && isBeyondEnd(cause)) set(without(part.state.tray, resource.uri));
      if (isPassing(cause) && retries < maxRetries) return undefined;
      const size = cause instanceof ResourceError && cause.kind === "too-large" ? cause.details?.["size"] : undefined;
      const listed = isPassing(cause) ? resource.size : undefined;
      const count = estimateTokensOf({ ...resource, size: optionalNumber(size) ?? listed });
      return typeof count === "number" ? { count, isExact: false } : "none";
    }
  }

  /** Undefined for binary content. For a document, its extracted text. */
  async function textOf(resource: Resource, signal?: AbortSignal): Promise<string | undefined> {
    const uri = textUri(resource);
    const call = part.call(signal);
    let { contents } = await part.pressmark().read(uri, call);
    // A member of a set has no metadata that names its forms.
    if (isDocumentBytes(uri, contents)) ({ contents } = await part.pressmark().read(extractedUri(uri), call));
    const texts = contents.flatMap(({ body }) => ("text" in body ? [body.text] : []));
    return texts.length === 0 ? undefined : texts.join("\n");
  }

  async function loadSets(): Promise<void> {
    const { sets } = part.state;
    part.change({ sets: { items: sets.items, status: "loading" } });
    try {
      const { items } = await part.pressmark().children(setsUri, {}, part.call());
      part.change({ sets: { items, status: "ready" } });
    } catch (cause) {
      // Without any saved set, the URI may not exist.
      const isNone = cause instanceof ResourceError && ["not-found", "invalid", "unsupported"].includes(cause.kind);
      part.change({
        sets: isNone ? { items: [], status: "ready" } : { items: [], status: "failed", problem: messageOf(cause) },
      });
    }
  }

  async function changeSets(tool: string, args: Readonly<Record<string, unknown>>): Promise<ToolSaid> {
    const { useTool } = part.pressmark();
    if (!useTool) throw new ResourceError("unsupported", "this server cannot save sets");
    const answer = await useTool(tool, args, part.call());
    await loadSets();
    return answer;
  }

  /** URIs of all chosen files. Throws if some are unknown: a set must not lack what its owner chose. */
  async function setMembers(): Promise<readonly string[]> {
    const { resources, failed } = await expand(part.state.tray);
    if (failed > 0)
      throw new ResourceError("unavailable", `${failed === 1 ? "a folder" : `${failed} folders`} could not be listed`);
    return resources.map(({ uri }) => uri);
  }

  return {
    /** Chooses it, or removes it if all of it is chosen, also as a part of something larger. */
    toggle: (resource: Resource) => set(toggled(part.state.tray, resource, part.listings)),
    /** Replaces a passage by its whole resource, and back. */
    takeWhole: (uri: string) => set(wholeToggled(part.state.tray, uri)),
    /** Adds new ones at the end. */
    choose: (resources: readonly Resource[]) => set(withAll(part.state.tray, resources, part.listings)),
    unchoose: (resources: readonly Resource[]) => set(withoutAll(part.state.tray, resources)),
    /** The server responds again: counts and watches what could not be counted and watched. */
    resume(): void {
      const { tray } = part.state;
      // The server may respond while one of its mounts does not.
      if (retries >= maxRetries || (tray.every(isCounted) && !isMissing())) return;
      retries += 1;
      watchTray(tray);
      retryFolders();
      countNew();
    },
    /** The person has looked at it: removes the mark of a change. */
    seen,
    /** Moves to a position from 0. */
    move: (uri: string, to: number) => part.change({ tray: movedTo(part.state.tray, uri, to) }),
    clearTray(): void {
      if (part.state.tray.length === 0) return;
      cleared = part.state.tray;
      set([]);
    },
    canUndoClear: () => cleared.length > 0,
    undoClear: () => set(cleared),
    setBudget: (budget: number) => part.change({ budget }),
    /** The chosen resources, with the files of chosen folders instead of the folders. */
    expanded: (signal?: AbortSignal) => expand(part.state.tray, signal),
    /** The chosen resources as text. Cancels an earlier call; `progress` is called at intervals. Throws if it is cancelled, and "unsupported" if there is no text at all. */
    async written(form: Form, progress?: (read: number, of: number) => void): Promise<Written> {
      writing.abort();
      writing = new AbortController();
      const { signal } = writing;
      const { resources, failed } = await expand(part.state.tray, signal);
      if (form === "uris")
        return { text: resources.map(({ uri }) => `${uri}\n`).join(""), withoutText: 0, unread: 0, failed };
      let [done, unread] = [0, 0];
      const live = progress && setInterval(() => progress(done, resources.length), progressMs);
      try {
        const texts = await inParallel(resources, readAtOnce, async (resource) => {
          try {
            const text = await textOf(resource, signal);
            return text === undefined ? [] : [{ resource, text }];
          } catch {
            signal.throwIfAborted();
            unread += 1;
            return [];
          } finally {
            done += 1;
          }
        });
        const read = texts.flat();
        if (read.length === 0) throw new ResourceError("unsupported", "none of the chosen resources has text");
        const withoutText = resources.length - read.length - unread;
        return { text: form === "xml" ? asXml(read) : asMarkdown(read), withoutText, unread, failed };
      } finally {
        clearInterval(live);
      }
    },
    /** Cancels `written`. */
    stopWriting: () => writing.abort(),
    setMembers,
    loadSets: () => void loadSets(),
    /** The name of the prompt of the set that was saved or opened last, while exactly that set is chosen. */
    promptOfChoice(): string | undefined {
      const { savedSet, tray } = part.state;
      return savedSet?.key === choiceKey(tray) ? savedSet.prompt : undefined;
    },
    /** Returns the name of the set's prompt, if the server tells it. Throws with a message for the person. */
    async saveSet(name: string, replace: boolean): Promise<string | undefined> {
      const { tray } = part.state;
      const uris = await setMembers();
      if (uris.length > maxSet)
        throw new ResourceError("invalid", `a set may hold ${maxSet} resources, and these are ${uris.length}`);
      const { structured } = await changeSets("save_set", { name, uris, ...(replace && { replace }) });
      const prompt = optionalText(structured?.["prompt"]);
      part.change({ savedSet: { name, prompt, key: choiceKey(tray) } });
      return prompt;
    },
    async deleteSet(name: string): Promise<void> {
      await changeSets("delete_set", { name });
      if (part.state.savedSet?.name === name) part.change({ savedSet: undefined });
    },
    /** Replaces the chosen resources with the members of the set. */
    async openSet({ uri, name, meta }: Resource): Promise<void> {
      const { contents } = await part.pressmark().read(uri, part.call());
      const [first] = contents;
      const tray = withAll([], membersIn(first && "text" in first.body ? first.body.text : ""), part.listings);
      part.change({ savedSet: { name, prompt: optionalText(meta?.["pressmark/prompt"]), key: choiceKey(tray) } });
      set(tray);
    },
  };
}

function isCounted({ resource, tokens, folder }: Chosen): boolean {
  return isFolder(resource) ? folder?.failed === 0 : tokens !== undefined;
}

function isOpenRange({ uri }: Resource): boolean {
  return linesOf(uri)?.[1] === Infinity;
}

function isBeyondEnd(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "beyond-end";
}

function textUri(resource: Resource): string {
  return isDocument(resource) ? extractedUri(resource.uri) : resource.uri;
}

/** The members of a set, from its first content. */
function membersIn(json: string): readonly Resource[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return [];
  }
  return recordsIn(recordOf(parsed)["resources"]).flatMap(({ uri, name, title, mimeType, size }): Resource[] =>
    typeof uri === "string"
      ? [
          {
            uri,
            name: optionalText(name) ?? uri,
            title: optionalText(title),
            mimeType: optionalText(mimeType),
            size: optionalNumber(size),
          },
        ]
      : [],
  );
}
