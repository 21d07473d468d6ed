/** Searches contents while the user types, and gives each hit as a passage that can be chosen. */
import { toResourceError } from "../../errors.ts";
import { hitUri } from "../../lib/passage-uri.ts";
import { readableUri } from "../../lib/readable-uri.ts";
import { directoryType, hasChildren, type Call, type Hit, type Resource } from "../../resources.ts";
import type { ReadingContext } from "../reading/reading-context.ts";
import { pathBelowRoot, type ReachRoot } from "../reading/resource-access.ts";
import type { PickEvent, PickItem } from "./state.ts";

const maxHits = 100;

export function toPickItem(resource: Resource, roots: readonly ReachRoot[]): PickItem {
  const { uri, name, mimeType, size } = resource;
  const path = pathBelowRoot(roots, { uri }) || readableUri(uri);
  return { uri, name, path, isDirectory: mimeType === directoryType, canOpen: hasChildren(resource), mimeType, size };
}

/** Call it with the current text, undefined for none, as often as that may have changed: only the last search reports. */
export function createPassageSearch({ resources, roots, index }: ReadingContext, call: Call) {
  let current: { readonly text: string; readonly stop: AbortController } | undefined;
  let ready: Promise<unknown> | undefined;
  let rangeStarts: Promise<readonly string[]> | undefined;

  return (text: string | undefined, report: (event: PickEvent) => void): void => {
    if (current?.text === text) return;
    current?.stop.abort();
    current = undefined;
    if (text === undefined) return;
    const stop = new AbortController();
    current = { text, stop };
    void search(text, { caller: call.caller, signal: AbortSignal.any([call.signal, stop.signal]) }, report);
  };

  async function search(text: string, own: Call, report: (event: PickEvent) => void): Promise<void> {
    if (text.trim() === "") return report({ kind: "passages", text, items: [] });
    try {
      if (!ready) report({ kind: "notice", notice: "updating the index…" });
      // For all searches: it goes on if the text changes.
      ready ??= index?.caughtUp({ signal: call.signal }) ?? Promise.resolve();
      await ready;
      const [{ hits, ready: share }, starts] = await Promise.all([
        resources.search({ text, limit: maxHits }, own),
        (rangeStarts ??= startsWithLines(call)),
      ]);
      const notice = share < 1 ? "not everything is indexed; there may be more" : undefined;
      report({ kind: "passages", text, items: hits.map((hit) => toPassage(hit, starts)), notice });
    } catch (cause) {
      ready = undefined;
      if (!own.signal.aborted) report({ kind: "passages", text, items: [], notice: toResourceError(cause).message });
    }
  }

  /** Beginnings of URIs of which lines can be read. */
  async function startsWithLines(own: Call): Promise<readonly string[]> {
    const { items } = await resources.templates({}, own).catch(() => ({ items: [] }));
    return items.flatMap(({ uriTemplate }) => {
      const isRange = /\{[?&][^}]*\blines\b/.test(uriTemplate);
      return isRange ? [uriTemplate.slice(0, uriTemplate.indexOf("{"))] : [];
    });
  }

  /** A hit without lines that can be read is the whole resource. */
  function toPassage(hit: Hit, starts: readonly string[]): PickItem {
    const { resource, lines, snippet, marks = [] } = hit;
    const item = toPickItem(resource, roots);
    const shown = snippet === undefined ? undefined : lineAt(snippet, marks[0]?.[0] ?? 0);
    const uri = hitUri(hit);
    if (!lines || uri === resource.uri || !starts.some((start) => resource.uri.startsWith(start)))
      return { ...item, snippet: shown };
    const suffix = `:${lines[0]}-${lines[1]}`;
    return {
      ...item,
      uri,
      name: item.name + suffix,
      path: item.path + suffix,
      size: undefined,
      file: item.name,
      filePath: item.path,
      snippet: shown,
    };
  }
}

function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", Math.max(0, at - 1)) + 1;
  const end = text.indexOf("\n", at);
  return text.slice(start, end < 0 ? undefined : end).trim();
}
