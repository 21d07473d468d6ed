/** URI templates (RFC 6570, level 4): expands values into a URI, and matches a URI back into values in one bounded pass. */
import { StdUriTemplate } from "@std-uritemplate/std-uritemplate";
import { createTemplateMatcher } from "./uri-template-match.ts";
import { type Expression, firstChars, isListValue, quoteCharacter, splitTemplate } from "./uri-template-syntax.ts";

export { maxUriLength } from "./uri-template-match.ts";
export { maxTemplateLength, maxVariables } from "./uri-template-syntax.ts";

export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

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
  const written = pieces.map((piece) => (typeof piece === "string" ? escapeBeyondAscii(piece) : piece));
  const slots = pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.slots));
  const variables = [...new Set(slots.map(({ name }) => name))];
  return {
    template,
    variables,
    expand: (values) =>
      written.map((piece) => (typeof piece === "string" ? piece : expandExpression(piece, values))).join(""),
    match: createTemplateMatcher(pieces, slots, variables.length < slots.length),
  };
}

function expandExpression(
  { operator, slots }: Expression,
  values: Readonly<Record<string, TemplateValue | undefined>>,
): string {
  const keepsReserved = operator === "+" || operator === "#";
  const given: Record<string, TemplateValue> = Object.create(null);
  const specs = slots.map(({ name, maxChars, exploded }, index) => {
    // If names are not written, each occurrence gets its own key: the same variable may be cut to two lengths.
    const key = keepsReserved ? `v${index}` : name;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) {
      if (maxChars !== Infinity && typeof value !== "string")
        throw new Error(
          `the variable ${quoteCharacter(name)} is cut to ${maxChars} characters, so its value must be a single text`,
        );
      given[key] = mapTexts(value, (text) => {
        if (!text.isWellFormed())
          throw new Error(
            `the value of ${quoteCharacter(name)} contains half of a surrogate pair, which is not valid in a URI`,
          );
        return keepsReserved ? keepReserved(firstChars(text, maxChars)) : text;
      });
    }
    return `${key}${exploded ? "*" : maxChars === Infinity || keepsReserved ? "" : `:${maxChars}`}`;
  });
  const expanded = StdUriTemplate.expand(
    `{${operator}${specs.join(",")}}`,
    given as Parameters<typeof StdUriTemplate.expand>[1],
  );
  if (keepsReserved) return expanded.replaceAll('"', "%");
  // The library does not escape these four reserved characters, and keeps "=" after a name of `{;a*}` without a value.
  const escapedFully = expanded.replace(/['()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
  return operator === ";" ? escapedFully.replace(/=(?=;|$)/g, "") : escapedFully;
}

/**
 * Escapes what is not allowed in `{+a}`, with `"` for "%": the library would escape the escapes of characters beyond ASCII again and lose
 * the first of two "%", but passes `"` on.
 */
function keepReserved(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^\w\-.~!$&'()*+,;=:@/?#[\]]/gu, (found) =>
    (found.length === 3 ? found : encodeURIComponent(found)).replaceAll("%", '"'),
  );
}

function mapTexts(value: TemplateValue, change: (text: string) => string): TemplateValue {
  if (typeof value === "string") return change(value);
  if (isListValue(value)) return value.map(change);
  const changed: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(value)) changed[change(key)] = change(text);
  return changed;
}

function escapeBeyondAscii(literal: string): string {
  return literal.replace(/[^\0-\x7f]+/g, encodeURIComponent);
}
