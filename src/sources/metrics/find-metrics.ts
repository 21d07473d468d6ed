/** Metrics as entries, and the search in their names and descriptions. */
import { pathOf } from "../../source.ts";
import type { Entry, SourceHit } from "../../source.ts";
import type { Metric } from "./catalogue.ts";

export function metricEntry({ name, type, help, unit }: Metric): Entry {
  return {
    path: pathOf(["series", name]),
    name,
    description: help,
    mimeType: "application/json",
    ...((type !== undefined || unit !== undefined) && { meta: { "pressmark/metric": { type, unit } } }),
  };
}

/** Every word must be in the name or the description; a match in the name scores higher. */
export function findMetrics(metrics: readonly Metric[], text: string): SourceHit[] {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_:]+/u)
    .filter((word) => word !== "")
    .slice(0, 20);
  if (words.length === 0) return [];
  const hits = metrics.flatMap((metric): SourceHit[] => {
    const name = metric.name.toLowerCase();
    const help = metric.help?.toLowerCase() ?? "";
    let score = 0;
    for (const word of words) {
      if (name.includes(word)) score += 2 + word.length / name.length;
      else if (help.includes(word)) score += 1;
      else return [];
    }
    return [
      { entry: metricEntry(metric), score: score / (4 * words.length), ...(metric.help && { snippet: metric.help }) },
    ];
  });
  return hits.sort((left, right) => right.score - left.score);
}
