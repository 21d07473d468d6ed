/** Where the terms of a question stand in one passage. */
import type { Found } from "./lookup.ts";
import type { Phrase } from "./query.ts";
import { tokensOf, type Token } from "./tokens.ts";

export interface Match {
  readonly found: Found;
  /** Its place among those that were found. */
  readonly index: number;
  readonly token: Token;
}

/** Finds in passage after passage. */
export interface Matcher {
  /** In the order of the text. */
  (tokens: readonly Token[]): Match[];
}

export function createMatcher(found: readonly Found[]): Matcher {
  const byTerm = new Map<string, number>();
  const others: number[] = [];
  found.forEach((one, index) => {
    if (one.wanted.beginning !== undefined || one.isGuess) others.push(index);
    else if (!byTerm.has(one.wanted.term)) byTerm.set(one.wanted.term, index);
  });
  return (tokens) => {
    const matches: Match[] = [];
    for (const token of tokens) {
      const index = byTerm.get(token.term) ?? others.find((other) => found[other]!.isTerm(token.term));
      if (index !== undefined) matches.push({ found: found[index]!, index, token });
    }
    return matches;
  };
}

/** Whether the terms of the phrase follow one another somewhere in the text. */
export function hasPhrase(text: string, phrase: Phrase): boolean {
  const first = phrase[0]!.position;
  const tokens = tokensOf(text);
  let starts: Set<number> | undefined;
  for (const { term, beginning, position } of phrase) {
    const here = new Set<number>();
    for (const token of tokens)
      if (token.term === term || (beginning !== undefined && token.term.startsWith(beginning)))
        here.add(token.position - (position - first));
    const before: Set<number> | undefined = starts;
    starts = before ? new Set([...before].filter((start) => here.has(start))) : here;
    if (starts.size === 0) return false;
  }
  return true;
}
