/** Reads results, their sections and statistics, as JSON or Markdown. */
import { notFound } from "../../errors.ts";
import type { Part, Runtime } from "../../source.ts";
import { type AnalysisFormat, type AnalysisAddress, formatAfter, analysisTypeOf } from "./addresses.ts";
import { iso } from "./analysis-actions.ts";
import { resultMarkdown, type ResultSection, sectionMarkdown, statisticsMarkdown } from "./markdown.ts";
import type { StoreEvent, StoredResult, AnalysisStore, Summary } from "./store.ts";
import type { AnalysisCounts } from "./analysis-counts.ts";

interface AnalysisReadOptions {
  readonly store: Pick<AnalysisStore, "find" | "events" | "recent">;
  readonly counts: Pick<AnalysisCounts, "read">;
  readonly now: Runtime["now"];
}

type Readable = Exclude<AnalysisAddress, { readonly kind: "mount" | "results" }>;

/** The content may be cached as long as the result is fresh, for this caller only. */
export async function readAnalysis(place: Readable, path: string, options: AnalysisReadOptions): Promise<Part> {
  const { store, counts, now } = options;
  switch (place.kind) {
    case "statistics": {
      const statistics = await counts.read();
      return toPart(place.format, statistics, () => statisticsMarkdown(statistics), 0);
    }
    case "recent": {
      const found = await store.recent({ ...place, limit: place.limit + 1 });
      const results = found.slice(0, place.limit);
      const last = results.at(-1);
      const next = found.length > results.length && last ? { next: formatAfter(last) } : {};
      const shown = {
        task: place.task,
        results: results.map((each) => toLine(each, now())),
        ...next,
      };
      return toPart(place.format, shown, () => recentMarkdown(results, now()), 0);
    }
    case "result":
    case "section": {
      const cached = await store.find(place.id);
      if (!cached) throw notFound(path);
      const events = await store.events(place.id);
      const ttlMs = Math.max(0, cached.expires - now());
      const part =
        place.kind === "result"
          ? toPart(place.format, toJson(cached, now()), () => resultMarkdown(cached, events, now()), ttlMs)
          : toPart(
              place.format,
              sectionJson(place.section, cached, events),
              () => sectionMarkdown(place.section, cached, events, now()),
              ttlMs,
            );
      return ttlMs > 0 ? part : { ...part, meta: { "pressmark/stale": true } };
    }
  }
}

function toPart(format: AnalysisFormat, json: object, markdown: () => string, ttlMs: number): Part {
  return {
    body: { text: format === "json" ? JSON.stringify(json) : markdown() },
    mimeType: analysisTypeOf(format),
    freshness: { ttlMs, scope: "private" },
  };
}

function toLine(
  { id, title, task, stored, expires, passed, confidence, consensus, providers, cost }: Summary,
  now: number,
) {
  return {
    id,
    path: `results/${id}`,
    title,
    task_type: task,
    stored_at: iso(stored),
    expires_at: iso(expires),
    stale: expires <= now,
    passed,
    confidence,
    consensus,
    providers,
    cost,
  };
}

function toJson(cached: StoredResult, now: number) {
  const { id, key, task, stored, expires, question, quality, agreement, result } = cached;
  const { prompt, options, providers, models, grounding } = question;
  return {
    id,
    key,
    task_type: task,
    prompt,
    options,
    providers,
    models,
    grounding: grounding.map(({ uri, version }) => ({ uri, version })),
    stored_at: iso(stored),
    expires_at: iso(expires),
    stale: expires <= now,
    quality,
    agreement,
    result,
  };
}

function sectionJson(
  section: ResultSection,
  { id, result, quality, agreement }: StoredResult,
  events: readonly StoreEvent[],
): object {
  switch (section) {
    case "consensus":
      return { id, ...result.consensus, quality };
    case "votes":
      return { id, llm_votes: result.llm_votes, agreement };
    case "flow": {
      const { total_cost, processing_time_ms, debug, flow_details } = result;
      return { id, flow_details, debug, total_cost, processing_time_ms };
    }
    case "events":
      return { id, events: events.map(({ at, ...event }) => ({ at: iso(at), ...event })) };
  }
}

function recentMarkdown(results: readonly Summary[], now: number): string {
  const lines = results.map(({ id, title, task, stored, expires }) => {
    const plain = title.replaceAll(/[\\`*_[\]<>|#]/g, String.raw`\$&`);
    return `- ${plain} (\`${task}\`, ${iso(stored)}${expires <= now ? ", stale" : ""}): \`results/${id}\``;
  });
  return `${["# Results", "", ...lines].join("\n")}\n`;
}
