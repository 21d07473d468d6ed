/** Cuts documents into passages and counts their terms, as the embedded index does. */
import { grown } from "../bytes.ts";
import { foldUnits } from "../fold.ts";
import { isGarbled, textFormatOf, textLanguageOf } from "../format.ts";
import { body, fields, headingField, path, title } from "../lists.ts";
import { passagesOf } from "../passages.ts";
import { longLength, shortLength } from "../segments.ts";
import type { IndexedDocument } from "../store.ts";
import { scan } from "../tokens.ts";
import type { TermVocabulary } from "../vocabulary.ts";
import { writeContent } from "./content.ts";

export interface AnalysedPassage {
  /** Encoded by `shortLength`. */
  readonly length: number;
  /** Numbers of its terms in the vocabulary, each once, also those that it inherits. */
  readonly terms: Int32Array;
  /** For each term, the number of occurrences in each field. All are 0 for a term that is only inherited. */
  readonly times: Uint16Array;
  /** For each term, 1 if it is in the title or the path, and this is not the first passage. */
  readonly inherited: Uint8Array;
  readonly content: Uint8Array;
}

export interface AnalysedDocument {
  readonly document: IndexedDocument;
  readonly lang: string;
  /** Of all its passages. */
  readonly tokens: number;
  readonly passages: readonly AnalysedPassage[];
}

/** Numbers terms with the vocabulary. */
export function createAnalyser(vocabulary: TermVocabulary) {
  let tally = new Uint16Array(fields.length * 4096);
  let isMet = new Uint8Array(4096);
  let met: number[] = [];

  /** Returns the number of tokens. */
  function count(piece: string, field: number): number {
    if (piece === "") return 0;
    let tokens = 0;
    const units = foldUnits(piece);
    scan(units, (kind, _, from, to, ownText) => {
      if (kind !== "whole") tokens += 1;
      const number =
        ownText === undefined ? vocabulary.numberAt(units, from, to, kind) : vocabulary.numberOf(ownText, kind);
      add(number, field, 1);
    });
    return tokens;
  }

  function add(number: number, field: number, times: number): void {
    if (number >= isMet.length) {
      isMet = grown(isMet, number * 2);
      tally = grown(tally, number * 2 * fields.length);
    }
    if (isMet[number] === 0) {
      isMet[number] = 1;
      met.push(number);
    }
    const at = number * fields.length + field;
    tally[at] = Math.min(0xffff, tally[at]! + times);
  }

  /** Returns the terms that were counted since the last call. */
  function take(): { readonly terms: Int32Array; readonly times: Uint16Array } {
    const terms = Int32Array.from(met);
    const times = new Uint16Array(terms.length * fields.length);
    terms.forEach((number, at) => {
      const from = number * fields.length;
      for (let field = 0; field < fields.length; field += 1) times[at * fields.length + field] = tally[from + field]!;
      tally.fill(0, from, from + fields.length);
      isMet[number] = 0;
    });
    met = [];
    return { terms, times };
  }

  return (document: IndexedDocument): AnalysedDocument => {
    const { entry, text } = document;
    const format = textFormatOf(entry.path, entry.mimeType);
    const isText = !isGarbled(text);
    count(entry.title ?? entry.name ?? "", title);
    count([entry.path, ...Object.values(entry.query ?? {})].join(" "), path);
    const name = take();
    let tokens = 0;
    const passages = passagesOf(isText ? text : "", format).map((passage, ordinal): AnalysedPassage => {
      // Terms of the name are counted in the first passage; the other passages inherit them.
      name.terms.forEach((number, at) => {
        for (const field of [title, path])
          add(number, field, ordinal === 0 ? name.times[at * fields.length + field]! : 0);
      });
      if (ordinal === 0 && entry.description !== undefined) count(entry.description, headingField);
      count(passage.heading, headingField);
      const piece = text.slice(passage.from, passage.to);
      const length = shortLength(count(piece, body));
      tokens += longLength(length);
      const { terms, times } = take();
      const inherited = new Uint8Array(terms.length);
      // The terms of the name were added first.
      if (ordinal > 0) inherited.fill(1, 0, name.terms.length);
      return { length, terms, times, inherited, content: writeContent(passage, piece) };
    });
    return { document, lang: isText ? textLanguageOf(text, format) : "", tokens, passages };
  };
}
