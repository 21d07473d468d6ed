/** Weights of the ranking. Chosen on one half of the queries in bench/search; the other half measures them. */

export const searchWeights = {
  /** BM25: how soon repetition stops adding to the score, and how much a long passage is penalised. */
  k1: 1,
  b: 0.9,
  /** The same as `k1` for pairs of characters: repeated, they say less than a repeated word. */
  pairK1: 0.4,
  /** Weight of a term in this field, relative to the body. */
  heading: 0.6,
  title: 1,
  path: 0.7,
  /** Weight of the whole document, relative to its best passage. */
  document: 0.2,
  /** Two kana, which are mostly endings and particles; a kana beside another character, which is mostly a word boundary. */
  kana: 0.6,
  halfKana: 0.55,
  /** A word in the other kana, relative to the word as typed. */
  otherKana: 0.4,
  /** If it is the only word: above parts of the word, and below the whole word as typed wherever each occurs. */
  otherKanaAlone: 0.8,
  typedKanaAlone: 100,
  /** "how", "the", "of". */
  functionWord: 0.05,
  /** The same for two characters: "ます", "から". */
  functionPair: 0.1,
  /** A part of an identifier; a corrected word. */
  part: 0.8,
  guess: 0.6,
  /** Of two chunks of the query that stand next to each other in the passage, relative to their own weights. */
  proximity: 0.45,
};
