/** Expands URI templates (RFC 6570, level 4); without the matcher, which a web page does not need. */
import { StdUriTemplate } from "@std-uritemplate/std-uritemplate";
import { type Expression, firstChars, isListValue, quoteCharacter, splitTemplate } from "./uri-template-syntax.ts";

export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

type TemplateValues = Readonly<Record<string, TemplateValue | undefined>>;

/** Throws for an invalid template, or if a value cannot be written: see `UriTemplate.expand`. */
export function expandTemplate(template: string, values: TemplateValues): string {
  return expandPieces(splitTemplate(template))(values);
}

export function expandPieces(pieces: readonly (string | Expression)[]): (values: TemplateValues) => string {
  const written = pieces.map((piece) => (typeof piece === "string" ? escapeBeyondAscii(piece) : piece));
  return (values) =>
    written.map((piece) => (typeof piece === "string" ? piece : expandExpression(piece, values))).join("");
}

function expandExpression({ operator, slots }: Expression, values: TemplateValues): string {
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
