/** Weights of gathering. Chosen on half of the repositories of bench/gather; the other half measures them. */

export const gatherWeights = {
  /** BM25: how soon repetition stops adding to the score, and how much a long passage is penalised. */
  k1: 2,
  b: 0.75,
  /** Exponent of the rarity of terms. */
  rarity: 1.3,
  /** A term of the task in the heading of a passage; an identifier there, which is probably its definition. */
  heading: 0.35,
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
  /** Score of a file for being changed in the checkout. */
  changedFile: 0.2,
  /** Share of the score that a neighbour gets. */
  neighbour: 0.25,
  /** Factor for what the task names. */
  named: 2,
  /** Factor for a text that the task quotes exactly. */
  exact: 1.5,
  /** Factor for a test, if the task is not about tests, and for a changelog. */
  test: 0.9,
  changelog: 0.8,
  /** Maximum score of a test, relative to its implementation. */
  tested: 0.7,
  /** Exponent of the score of a text: how much of the budget the best texts get. */
  focus: 3.3,
  /** Exponent of the score of a passage, relative to the best of its text. */
  contrast: 1.9,
  /** Shares of the score of a text: for a passage beside a matching one, for all in proportion to their length. */
  beside: 0.08,
  anywhere: 0.25,
  /** The same for the first passage of a text, the newest entries of a changelog and the last passage of a test. */
  beginning: 0.02,
  newest: 0.5,
  lastTest: 0.15,
  /** Words that a passage costs in addition to its own, and exponent of its cost: how much short passages are preferred. */
  cost: 10,
  thrift: 0.68,
  /** Factor for each further passage of one text. */
  again: 0.986,
  /** Share of the budget for a few lines each of texts that are not included yet. */
  breadth: 0.17,
  /** Less probable passages are left out, even if there is room; the same for the best passage of a text. */
  floor: 3e-4,
  firstFloor: 2e-6,
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
