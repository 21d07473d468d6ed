/** Turns a piece of a query into terms to look up. */
import { foldText } from "./fold.ts";
import { tokenize, type Token } from "./tokens.ts";

/** A term to search for. */
export interface QueryTerm {
  readonly term: string;
  /** Present if every term with this prefix matches too. */
  readonly beginning?: string;
  readonly kind: Token["kind"];
  /** Token position in the query. */
  readonly position: number;
  /** As typed, folded and in lowercase. */
  readonly surface: string;
}

/** Equal for terms that are found in the same places. */
export function termKey({ term, beginning = "" }: QueryTerm): string {
  return `${beginning}\0${term}`;
}

/** Terms that must follow one another in this order. */
export type Phrase = readonly QueryTerm[];

/** The terms of one clause or of a part of it, with positions from `first`. */
export function wantedOf(text: string, first: number, isUnfinished: boolean): QueryTerm[] {
  const tokens = tokenize(text);
  const last = tokens.at(-1);
  return tokens
    .filter((token, at) => token.kind !== "single" || !endsPair(tokens[at - 1], token))
    .map((token) => {
      const surface = surfaceOf(text, token);
      const isBeginning = token.kind === "single" || (token === last && isUnfinished && token.kind !== "pair");
      return {
        term: token.term,
        ...(isBeginning && { beginning: surface }),
        kind: token.kind,
        position: first + token.position,
        surface,
      };
    });
}

/** True if the last character of a run is already in the pair before it. */
function endsPair(before: Token | undefined, single: Token): boolean {
  return before?.kind === "pair" && before.position === single.position - 1;
}

/** The whole of an identifier has the position of its first part, and would count twice. */
export function isStep(one: QueryTerm, index: number, all: readonly QueryTerm[]): boolean {
  return one.kind !== "whole" || all[index + 1]?.position !== one.position;
}

function surfaceOf(text: string, { from, to }: Token): string {
  return foldText(text.slice(from, to)).toLowerCase();
}
