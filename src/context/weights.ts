/** How much counts how much when a pack is put together. Chosen on half of the repositories of bench/gather; the other half measures them. */

export const gatherWeights = {
  /** BM25: how soon more of the same says nothing new, and how much a long passage must do better. */
  k1: 2,
  b: 0.75,
  /** Rare terms count by this power of their rarity. */
  rarity: 1.3,
  /** A term of the task in what a passage stands under; a name there, which is probably defined. */
  heading: 0.3,
  definition: 1.5,
  /** A term in the path or the title. */
  path: 0.8,
  /** The place that the task begins with, in the path. */
  place: 0.5,
  /** What the whole text says of the task, beside its best passage. */
  document: 0.1,
  /** How high searches put it. */
  found: 0.3,
  /** What a neighbour has of its neighbour's score. */
  neighbour: 0.25,
  /** Each further passage of one text counts by this power less. */
  again: 0.98,
  /** This share of the budget is for a few lines each of texts that are not in yet. */
  breadth: 0.2,
  /** What is named in the task counts so much more. */
  named: 2,
};

/** From 0.5 for what may be left out to 1.5 for what must be read; 1 where nothing is said. */
export function priorityFactor(priority: number | undefined): number {
  return priority === undefined || Number.isNaN(priority) ? 1 : 0.5 + Math.min(1, Math.max(0, priority));
}

const halfLifeMs = 90 * 86_400_000;

/** From 0.9 for what is old to 1.1 for what is as new as the newest of the candidates; 1 where nothing is said. */
export function recencyFactor(lastModified: string | undefined, newestMs: number): number {
  const at = Date.parse(lastModified ?? "");
  return Number.isNaN(at) ? 1 : 0.9 + 0.2 * 0.5 ** (Math.max(0, newestMs - at) / halfLifeMs);
}
