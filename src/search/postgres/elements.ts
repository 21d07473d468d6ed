/** Elements of a passage: its terms, each with the fields in which it occurs and a level that says how strongly. The GIN index is over elements. */
import { lengthNorm } from "../bm25.ts";
import { body, headingField, path, title } from "../lists.ts";
import { longLength } from "../segments.ts";
import { searchWeights } from "../weights.ts";

/** The title or the path of the document contains the term, and this is not its first passage. */
export const inherited = 4;
export const inName = (1 << title) | (1 << path) | (1 << inherited);
export const inNameOrHeading = inName | (1 << headingField);
export const topLevel = 7;
const levelShift = 5;
const codeBits = 8;
/** Terms beyond this number have no element. */
export const maxTermId = 2 ** (32 - codeBits) - 1;

/** Saturation at which each level after the first begins. */
const levelStarts = [0.3, 0.45, 0.58, 0.7, 0.8, 0.88, 0.95];
/** Levels must not change when the index grows, so they use this in place of the mean length of passages. */
const usualLength = 128;

const norms = Float64Array.from({ length: 256 }, (_, short) =>
  lengthNorm({ k1: 1, b: searchWeights.b }, longLength(short), usualLength),
);

/** `times` in the body, the heading, the title and the path; `shortLength` of the passage. */
export function codeOf(times: ArrayLike<number>, isInherited: boolean, shortLength: number): number {
  let fields = isInherited ? 1 << inherited : 0;
  let strength = isInherited ? searchWeights.path / 2 : 0;
  for (let field = 0; field < inherited; field += 1) {
    const count = times[field]!;
    if (count === 0) continue;
    fields |= 1 << field;
    if (field === body) strength += count / (count + norms[shortLength]!);
    else {
      const weight = field === headingField ? "heading" : field === title ? "title" : "path";
      strength += (searchWeights[weight] * count) / (count + 1);
    }
  }
  let level = 0;
  while (level < topLevel && strength >= levelStarts[level]!) level += 1;
  return (level << levelShift) | fields;
}

export function elementOf(term: number, code: number): number {
  return (term << codeBits) | code;
}

export function firstElementOf(term: number): number {
  return term << codeBits;
}

export function lastElementOf(term: number): number {
  return (term << codeBits) | ((1 << codeBits) - 1);
}

export function levelOf(element: number): number {
  return (element >> levelShift) & topLevel;
}

export function hasField(element: number, fields: number): boolean {
  return (element & fields) !== 0;
}
