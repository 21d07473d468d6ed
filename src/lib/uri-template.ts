/** URI templates (RFC 6570, level 4): expands values into a URI, and matches a URI back into values in one bounded pass. */
import { expandPieces, type TemplateValue } from "./uri-template-expand.ts";
import { createTemplateMatcher } from "./uri-template-match.ts";
import { splitTemplate } from "./uri-template-syntax.ts";

export type { TemplateValue } from "./uri-template-expand.ts";
export { maxUriLength } from "./uri-template-match.ts";
export { maxTemplateLength, maxVariables } from "./uri-template-syntax.ts";

/**
 * The decoded values of a template's variables: an array for an exploded variable, a string for any other. Missing variables are absent,
 * and so is an empty `{a}` or `{+a}`. A Map, so that `__proto__` is an ordinary name.
 */
export type TemplateMatch = ReadonlyMap<string, string | readonly string[]>;

/**
 * Characters allowed in the value of a variable, besides escapes and characters beyond ASCII:
 * - `{a}` `{.a}`: letters, digits, `-._~`;
 * - `{/a}` `{;a}`: those of a path segment, in `{;a}` without ";";
 * - `{?a}` `{&a}`: those of a query without "&";
 * - `{+a}` `{#a}`: all of a URI, but "?" and "#" only if nothing later in the template contains them.
 *
 * If several interpretations match, from left to right: a variable takes as little as possible; one with a leading character
 * (`{/a}`, `{.a}`, `{#a}`, and `b` in `{a,b}`) is present whenever it can be; `{?a,b}`, `{&a,b}` and `{;a,b}` take all known
 * parameters, in any order. A variable that occurs twice must have equal values in that interpretation.
 */
export interface UriTemplate {
  readonly template: string;
  /** Every name once, in template order. */
  readonly variables: readonly string[];
  /** Throws if a value cannot be written: half of a surrogate pair, or a list for a variable with a length. */
  expand(values: Readonly<Record<string, TemplateValue | undefined>>): string;
  /** A URI that is malformed or longer than `maxUriLength` matches nothing. `meter` receives the number of characters read. */
  match(uri: string, meter?: { visits: number }): TemplateMatch | undefined;
}

export function parseTemplate(template: string): UriTemplate {
  const pieces = splitTemplate(template);
  const slots = pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.slots));
  const variables = [...new Set(slots.map(({ name }) => name))];
  return {
    template,
    variables,
    expand: expandPieces(pieces),
    match: createTemplateMatcher(pieces, slots, variables.length < slots.length),
  };
}
