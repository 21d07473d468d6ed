/** Weights of the ranking. Chosen on one half of the queries in bench/search; the other half measures them. */

export interface Weights {
  /** BM25: how soon repetition stops adding to the score, and how much a long passage is penalised. */
  readonly k1: number;
  readonly b: number;
  /** Weight of a term in this field, relative to the body. */
  readonly heading: number;
  readonly title: number;
  readonly path: number;
  /** Weight of the whole document, relative to its best passage. */
  readonly document: number;
  /** Two kana, which are mostly endings and particles; a kana beside another character, which is mostly a word boundary. */
  readonly kana: number;
  readonly halfKana: number;
  /** "how", "the", "of". */
  readonly functionWord: number;
  /** The same for two characters: "ます", "から". */
  readonly functionPair: number;
  /** A part of an identifier; a corrected word. */
  readonly part: number;
  readonly guess: number;
  /** For terms that follow one another as in the query. */
  readonly order: number;
}

export const searchWeights: Weights = {
  k1: 1,
  b: 0.8,
  heading: 0.6,
  title: 1,
  path: 0.7,
  document: 0.2,
  kana: 0.6,
  halfKana: 0.55,
  functionWord: 0.05,
  functionPair: 0.1,
  part: 0.8,
  guess: 0.6,
  order: 0.1,
};
