/** A URI template of a source: matches addresses, and makes addresses of values. */
import { invalid, quote } from "../errors.ts";
import { parseTemplate, type TemplateMatch, type TemplateValue } from "../lib/uri-template.ts";
import { splitTemplate } from "../lib/uri-template-syntax.ts";
import { type Address, pathOf, segmentsOf } from "../source.ts";

export interface AddressTemplate {
  /** The values that lead to this address; undefined if none do. */
  match(at: Address): TemplateMatch | undefined;
  /** The address that these values lead to. Throws "invalid" if no URI can contain one of them. */
  toAddress(values: Readonly<Record<string, TemplateValue | undefined>>): Address;
}

/** Throws if the template is malformed. */
export function parseAddressTemplate(template: string): AddressTemplate {
  const parsed = parseTemplate(escapeLiterals(template));
  const expressions = splitTemplate(template).filter((piece) => typeof piece !== "string");
  const reserved = new Set(
    expressions.flatMap(({ operator, slots }) => (operator === "+" ? slots.map(({ name }) => name) : [])),
  );

  return {
    match(at) {
      const uri = toRelativeUri(at);
      return uri === undefined ? undefined : parsed.match(uri);
    },

    toAddress(values) {
      const prepared = Object.entries(values).map(([name, value]) => [
        name,
        // `{+a}` would keep these, and the URI would mean something else.
        typeof value === "string" && reserved.has(name) ? value.replace(/[%?#]/g, encodeURIComponent) : value,
      ]);
      const uri = expandOrRefuse(() => parsed.expand(Object.fromEntries(prepared)), template);
      const mind = uri.indexOf("?");
      const segments = (mind < 0 ? uri : uri.slice(0, mind)).split("/").map(decodeURIComponent);
      if (segments.some((segment) => segment === "." || segment === ".."))
        throw invalid(`the values for ${quote(template)} contain a segment "." or "..", which no URI can contain`);
      if (uri.includes("%00")) throw invalid(`the values for ${quote(template)} contain NUL, which no URI can contain`);
      const path = pathOf(segments);
      if (mind < 0) return { path };
      const pairs = uri
        .slice(mind + 1)
        .split("&")
        .map((pair) => pair.split("=").map(decodeURIComponent));
      return { path, query: Object.fromEntries(pairs.map(([name = "", value = ""]) => [name, value])) };
    },
  };
}

function expandOrRefuse(expand: () => string, template: string): string {
  try {
    return expand();
  } catch (cause) {
    throw invalid(`the template ${quote(template)} cannot be expanded: ${(cause as Error).message}`);
  }
}

/** The address as a relative URI; undefined for a name that a URI cannot contain. */
function toRelativeUri({ path, query = {} }: Address): string | undefined {
  try {
    const pairs = Object.entries(query).map((pair) => pair.map(escapeFully).join("="));
    const encoded = segmentsOf(path).map(escapeFully).join("/");
    return pairs.length > 0 ? `${encoded}?${pairs.join("&")}` : encoded;
  } catch {
    return undefined;
  }
}

/** Escapes all but the unreserved characters: an address does not tell which of the others were escaped in its URI. */
function escapeFully(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, escapeReserved);
}

/** Escapes the literals of a template as `toRelativeUri` does, so that the two can be compared. */
function escapeLiterals(template: string): string {
  let isQuery = false;
  return template
    .split(/(\{[^{}]*\})/)
    .map((piece) => {
      if (piece.startsWith("{")) {
        isQuery ||= piece.startsWith("{?");
        return piece;
      }
      const mind = isQuery ? 0 : piece.indexOf("?");
      const path = mind < 0 ? piece : piece.slice(0, mind);
      isQuery ||= mind >= 0;
      return (
        path.replace(/[!$&'()*+,;=:@]/g, escapeReserved) +
        piece.slice(path.length).replace(/[!$'()*+,;:@]/g, escapeReserved)
      );
    })
    .join("");
}

function escapeReserved(found: string): string {
  return `%${found.charCodeAt(0).toString(16).toUpperCase()}`;
}
