/** Results of analyses that several language models agreed on: stored, searched, and dropped when they are no longer valid. */
import { entriesPage } from "../backends/entries-page.ts";
import { isDirectoryError, notFound } from "../errors.ts";
import { directoryType } from "../resources.ts";
import type { Page } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Entry, ListRequest, Source, Runtime } from "../source.ts";
import {
  analysisFormats,
  parseAnalysisAddress,
  sections,
  analysisTemplates,
  analysisTypeOf,
} from "./analysis/addresses.ts";
import { createAnalysisStore } from "./analysis/create-store.ts";
import { type AnalysisActions, iso } from "./analysis/analysis-actions.ts";
import { createFindAnalysis } from "./analysis/find-analysis.ts";
import { createComputations } from "./analysis/computations.ts";
import { createGrounding } from "./analysis/grounding.ts";
import { openAnalysisDatabase } from "./analysis/open-database.ts";
import { type AnalysisOptions, analysisOptions } from "./analysis/options.ts";
import { taskTypes } from "./analysis/question.ts";
import { readAnalysis } from "./analysis/reading.ts";
import { createStoreAnalysis } from "./analysis/store-analysis.ts";
import type { AnalysisStore, Summary } from "./analysis/store.ts";
import { createAnalysisCounts } from "./analysis/analysis-counts.ts";
import { createAnalysisWatch } from "./analysis/watch.ts";
import { createSharedWatch } from "../backends/shared-watch.ts";

/** How often expired results are purged and stored sources are followed again. */
const sweepMs = 60_000;

export type { AnalysisOptions } from "./analysis/options.ts";

export default defineSource<AnalysisOptions>({
  name: "analysis",
  summary: "Stored results of analyses by several language models, reused instead of computed again",
  scheme: "analysis",
  searchable: false,
  options: analysisOptions,
  base: () => "analysis://",
  usesCredentials: () => true,
  async open(options, runtime) {
    const database = await openAnalysisDatabase(options, runtime);
    return openAnalysis(
      options,
      { ...runtime, now: database.now },
      createAnalysisStore({ database, maxBytes: options.maxBytes, leaseMs: options.leaseMs }),
    );
  },
});

/** @internal Closes `store` when it is closed. `runtime.now` must be the clock of the store. */
export function openAnalysis(options: AnalysisOptions, runtime: Runtime, store: AnalysisStore): Source {
  const { now, wait, log } = runtime;
  const closing = new AbortController();
  const computations = createComputations(store, runtime);
  const grounding = createGrounding(store, runtime);
  const counts = createAnalysisCounts(store, runtime);
  const writes = new Set<() => void>();
  const wrote = (): void => {
    for (const hear of writes) hear();
  };
  const watching = createSharedWatch(
    createAnalysisWatch({
      store,
      runtime,
      pollMs: options.pollMs,
      onWrite(hear, signal) {
        writes.add(hear);
        signal.addEventListener("abort", () => writes.delete(hear), { once: true });
      },
    }),
  );
  let sweeping: Promise<void> | undefined;

  /** Starts on the first call: nothing is opened before. */
  function begin(): void {
    if (sweeping) return;
    sweeping = sweep().catch(() => undefined);
    store.listen?.((key) => {
      wrote();
      computations.settled(key === "" ? undefined : key);
    }, closing.signal);
  }

  async function sweep(): Promise<void> {
    for (;;) {
      try {
        while (await store.purge()) await wait(1, closing.signal);
        await grounding.followStored();
      } catch (cause) {
        if (closing.signal.aborted) return;
        log("warn", "cannot purge expired results; will try again", { cause });
      }
      await wait(sweepMs, closing.signal);
    }
  }

  function entryOf(summary: Summary): Entry {
    const { id, title, task, stored, expires, passed, confidence, consensus, providers, cost } = summary;
    const stale = expires <= now();
    return {
      path: `results/${id}`,
      title,
      description: `${task}${passed ? "" : ", below the gate"}${stale ? ", stale" : ""}`,
      mimeType: "application/json",
      annotations: { lastModified: iso(stored), priority: passed && !stale ? 0.5 : 0.2 },
      meta: {
        "pressmark/analysis": { task, passed, confidence, consensus, providers, cost, expires: iso(expires), stale },
      },
    };
  }

  async function results(request: ListRequest, after: string): Promise<Page<Entry>> {
    const limit = Math.max(1, request.limit);
    const found = await store.page(after, limit + 1);
    const items = found.slice(0, limit).map(entryOf);
    return found.length > limit ? { items, next: items.at(-1)?.path ?? "" } : { items };
  }

  const analysisActions: AnalysisActions = {
    options,
    store,
    computations,
    grounding,
    counts,
    now,
    begin() {
      begin();
      return store.agree();
    },
    entryOf,
    wrote,
  };
  const source: Source = {
    timeoutMs: options.timeoutMs,
    cursorAfter: ({ path }) => path,

    async list(request) {
      begin();
      if (request.cursor === statistics.path) return { items: [] };
      const page = await results(request, idIn(request.cursor));
      if (page.next !== undefined) return page;
      // If this page is full, the next page holds only the statistics.
      if (page.items.length >= Math.max(1, request.limit)) return { ...page, next: page.items.at(-1)?.path ?? "" };
      return { items: [...page.items, statistics] };
    },

    async read(at) {
      begin();
      const place = parseAnalysisAddress(at);
      if (place.kind === "mount" || place.kind === "results") throw isDirectoryError(at.path);
      return [await readAnalysis(place, at.path, { store, counts, now })];
    },

    async stat(at) {
      begin();
      const place = parseAnalysisAddress(at);
      const requested = at.query && Object.keys(at.query).length > 0 ? { query: at.query } : {};
      switch (place.kind) {
        case "mount":
        case "results":
          return { path: at.path, mimeType: directoryType };
        case "statistics":
          return { ...statistics, ...requested, mimeType: analysisTypeOf(place.format) };
        case "recent":
          return { path: at.path, ...requested, name: "results", mimeType: analysisTypeOf(place.format) };
        case "result":
        case "section": {
          const summary = await store.summary(place.id);
          if (!summary) throw notFound(at.path);
          return { ...entryOf(summary), path: at.path, ...requested, mimeType: analysisTypeOf(place.format) };
        }
      }
    },

    async children(at, request) {
      begin();
      const { kind } = parseAnalysisAddress(at);
      if (kind === "results") return results(request, idIn(request.cursor));
      if (kind !== "mount") throw notFound(at.path);
      const both: readonly Entry[] = [{ path: "results", mimeType: directoryType }, statistics];
      return entriesPage(both, request);
    },

    templates: analysisTemplates,

    async complete({ variable, value }) {
      begin();
      const among = (values: readonly string[]) =>
        values.filter((each) => each.startsWith(value)).map((each) => ({ value: each, reveals: { path: "" } }));
      switch (variable) {
        case "task":
          return among(taskTypes);
        case "section":
          return among(sections);
        case "format":
          return among(analysisFormats);
        case "id": {
          const ids = /^[0-9a-f]{0,44}$/.test(value) ? await store.ids(value, 100) : [];
          return ids.map((id) => ({ value: id, reveals: { path: `results/${id}` } }));
        }
        default:
          return [];
      }
    },

    async watch({ signal }) {
      begin();
      return watching.watch(signal);
    },

    actions: {
      find_analysis: createFindAnalysis(analysisActions),
      ...(options.store && { store_analysis: createStoreAnalysis(analysisActions) }),
    },

    async close() {
      closing.abort();
      await watching.close();
      await grounding.close();
      await sweeping;
      await counts.close();
      await store.close();
    },
  };
  return source;
}

const statistics: Entry = {
  path: "statistics",
  title: "Statistics of analyses",
  description: "How often a stored result was reused, and what that saved",
  mimeType: "application/json",
};

function idIn(cursor: string | undefined): string {
  return cursor?.slice("results/".length) ?? "";
}
