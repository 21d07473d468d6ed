/** Weights of gathering. Chosen on half of the repositories of bench/gather; the other half measures them. */

export const gatherWeights = {
  /** BM25: how soon repetition stops adding to the score, and how much a long passage is penalised. */
  k1: 2,
  b: 0.75,
  /** Exponent of the rarity of terms. */
  rarity: 1.3,
  /** A term of the task in the heading of a passage; an identifier there, which is probably its definition. */
  heading: 0.3,
  definition: 1.5,
  /** A term in the path or the title. */
  path: 0.8,
  /** The location that the task begins with, in the path. */
  place: 0.5,
  /** Weight of the whole text, relative to its best passage. */
  document: 0.1,
  /** Weight of the search score. */
  found: 0.3,
  /** Weight of similar commits that changed the text. */
  history: 0.7,
  /** Weight of a passage that similar commits changed, relative to the best passage of its text. */
  changed: 0.3,
  /** Share of the score that a neighbour gets. */
  neighbour: 0.25,
  /** Factor for each further passage of one text. */
  again: 0.98,
  /** Share of the budget for a few lines each of texts that are not included yet. */
  breadth: 0.2,
  /** Factor for what the task names. */
  named: 2,
};

/** From 0.5 for the lowest priority to 1.5 for the highest; 1 without a priority. */
export function priorityFactor(priority: number | undefined): number {
  return priority === undefined || Number.isNaN(priority) ? 1 : 0.5 + Math.min(1, Math.max(0, priority));
}

const halfLifeMs = 90 * 86_400_000;

/** From 0.9 for old resources to 1.1 for the newest of the candidates; 1 without a date. */
export function recencyFactor(lastModified: string | undefined, newestMs: number): number {
  const at = Date.parse(lastModified ?? "");
  return Number.isNaN(at) ? 1 : 0.9 + 0.2 * 0.5 ** (Math.max(0, newestMs - at) / halfLifeMs);
}
