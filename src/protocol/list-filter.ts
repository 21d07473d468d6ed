/** The filter of a list request, if the client declared the extension. Otherwise the member is unknown, and ignored. */
import { invalid } from "../errors.ts";
import { createListFilter, type ListFilter } from "../lib/list-filter.ts";
import type { ClientRequest } from "./client-request.ts";
import { declares, listFilters } from "./extensions.ts";
import { isJsonObject, member } from "./message.ts";

const maxPatterns = 20;
const maxLength = 512;
/** Each can keep a state of the automaton alive: with 40, matching takes at most some microseconds per character. */
const maxWildcards = 40;

/** Absent if everything is to be listed. Other members of the filter are ignored. */
export function filterOf(question: ClientRequest): { filter?: ListFilter } {
  const filter = declares(question, listFilters) ? member(question.params, "filter") : undefined;
  if (filter === undefined) return {};
  if (!isJsonObject(filter)) throw invalid('"filter" must be an object');
  const namePatterns = patternsOf(filter, "namePatterns");
  const uriPatterns = patternsOf(filter, "uriPatterns");
  return namePatterns.length + uriPatterns.length === 0 ? {} : { filter: { namePatterns, uriPatterns } };
}

/** For lists whose items have no URI. */
export function nameFilterOf(question: ClientRequest): (item: { readonly name: string }) => boolean {
  const { namePatterns } = filterOf(question).filter ?? {};
  const matches = createListFilter({ namePatterns });
  return ({ name }) => matches(name, "");
}

function patternsOf(filter: object, field: keyof ListFilter): string[] {
  const patterns = member(filter, field) ?? [];
  if (!Array.isArray(patterns)) throw invalid(`"${field}" must be a list of patterns`);
  if (patterns.length > maxPatterns)
    throw invalid(`too many patterns: ${patterns.length} exceeds the maximum of ${maxPatterns} in ${field}`);
  if (!patterns.every((pattern) => typeof pattern === "string"))
    throw invalid(`invalid pattern in ${field}: it must be a string`);
  const all = patterns.join("");
  if (all.length > maxLength) throw invalid(`the patterns in ${field} have more than ${maxLength} characters together`);
  if (all.replaceAll(/[^*?]/g, "").length > maxWildcards)
    throw invalid(`the patterns in ${field} have more than ${maxWildcards} wildcards together`);
  return patterns;
}
