/** Finds the passages of a text that the task quotes exactly: lines of a stack trace, texts of errors, definitions of its names. */
import { definedNames } from "../search/defined-names.ts";
import type { TextFormat } from "../search/format.ts";
import type { Passage } from "../search/passages.ts";
import type { Task } from "./read-task.ts";

export interface ExactMatch {
  /** Index of the passage. */
  readonly passage: number;
  /** The location, phrase or name that is matched. Matches of one key in several texts compete. */
  readonly key: string;
  /** Only the closest matches of a key count. */
  readonly closeness: number;
  /** True for a line that the task names, which comes before texts and names that it quotes. */
  readonly isLine: boolean;
  /** A sentence without a subject. */
  readonly why: string;
}

/** Matches of one phrase or name in one text that are considered. */
const maxMatches = 8;

/** `passages` hold the terms of the task in them, which saves looking for names in the others. */
export function exactMatches(
  text: string,
  path: string,
  format: TextFormat,
  passages: readonly (Passage & { readonly times: ReadonlyMap<string, number> })[],
  { names: { locations, phrases, symbols }, terms }: Task,
): readonly ExactMatch[] {
  const found: ExactMatch[] = [];
  for (const { path: named, line } of locations) {
    const closeness = sameSegments(path, named);
    // White space after a passage belongs to it.
    const passage = passages.findLastIndex(({ lines: [first] }) => first <= line);
    if (closeness > 0 && passage >= 0 && line <= passages.at(-1)!.lines[1])
      found.push({
        passage,
        key: `${named}:${line}`,
        closeness,
        isLine: true,
        why: `has line ${line}, which the task names`,
      });
  }
  for (const phrase of phrases) {
    const words = phrase.split(" ").map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    const expression = new RegExp(words.join(String.raw`\s{1,40}`), "giu");
    for (const { index } of [...text.matchAll(expression)].slice(0, maxMatches)) {
      const passage = passages.findLastIndex(({ from }) => from <= index);
      if (passage >= 0)
        found.push({ passage, key: phrase, closeness: 1, isLine: false, why: `contains the text "${phrase}"` });
    }
  }
  const wanted = new Set(symbols);
  const identifiers = [...terms.values()].filter(({ isName, surface }) => isName && wanted.has(surface));
  passages.forEach(({ from, to, times }, passage) => {
    const here = identifiers.filter(({ term }) => times.has(term));
    if (here.length === 0) return;
    const defined = new Set(definedNames(text.slice(from, to), format));
    for (const { surface } of here)
      if (defined.has(surface))
        found.push({ passage, key: surface, closeness: 1, isLine: false, why: `defines "${surface}"` });
  });
  return found;
}

/** Number of equal segments at the end; 0 unless the file names are equal. */
function sameSegments(path: string, other: string): number {
  const left = path.split("/").toReversed();
  const right = other.split("/").toReversed();
  const differs = left.findIndex((segment, at) => segment !== right[at]);
  return differs === -1 ? left.length : differs;
}
