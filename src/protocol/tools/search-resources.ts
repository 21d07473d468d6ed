/** The tool `search_resources`: finds passages by words. */
import { quote, ResourceError } from "../../errors.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { sayFailures } from "../../lib/say-failures.ts";
import { splitHits } from "../../lib/split-hits.ts";
import type { MountFailure, Hit, SearchResult } from "../../resources.ts";
import { countArgument, flagArgument, neededText, readArguments, textArgument } from "./arguments.ts";
import { pathBelowMount, trimSlash } from "./mounts.ts";
import type { ReadingTool } from "./reading-tools.ts";
import { withSuggestions } from "./suggest.ts";

const maxQueryLength = 2000;
const maxUriLength = 16 * 1024;
const maxSnippetLength = 600;
const maxTextBytes = 48 * 1024;
const limits = { initial: 10, most: 50 };

/** How complete a search was, in the output of every tool that searches. */
export const searchStatusSchema = {
  ready: { type: "number", description: "Share of the index that was ready, from 0 to 1" },
  failures: {
    type: "array",
    description: "Mounts that could not be searched completely, and why",
    items: {
      type: "object",
      properties: { mount: { type: "string" }, message: { type: "string" } },
      required: ["mount", "message"],
    },
  },
} as const;

export const searchResources: ReadingTool = {
  name: "search_resources",
  title: "Search resources",

  describe: ({ server, mounts, offers }) =>
    [
      `Search before you answer questions about ${mounts}: what is there may be newer than what you know, or differ from it.`,
      `Finds the passages of everything that the server ${server} holds, in any language, the best matches first and then similar ones. Each comes with its URI, its lines, and the text with what matched between « and ».`,
      'Use the words that the text would use, a few of them; "quotes" find a phrase and -word leaves out.',
      ...(offers("read_resource") ? ["Then read more with read_resource, with the uri and lines of the result."] : []),
    ].join(" "),

  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words to search for, in the language of the texts" },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: limits.most,
        description: `Maximum number of results. Default: ${limits.initial}`,
      },
      within: { type: "string", description: "URI of a directory to search in" },
      typing: { type: "boolean", description: "Whether the last word may be incomplete. Default: false" },
    },
    required: ["query"],
    additionalProperties: false,
  },

  outputSchema: {
    type: "object",
    properties: {
      ...searchStatusSchema,
      results: {
        type: "array",
        items: {
          type: "object",
          properties: {
            uri: { type: "string" },
            name: { type: "string" },
            title: { type: "string" },
            mimeType: { type: "string" },
            lines: { type: "string", description: "Range for read_resource" },
            snippet: { type: "string", description: "Text with matches between « and »" },
            marks: {
              type: "array",
              description: "Matches as [from, to) in the snippet without the « and » that were added",
              items: { type: "array", items: { type: "integer" } },
            },
            offset: { type: "integer", description: "Position of that snippet in the text, in UTF-16 code units" },
            isMatch: {
              type: "boolean",
              description: "False if it is only similar to the query. Absent if that is not known",
            },
          },
          required: ["uri", "name"],
        },
      },
    },
    required: ["ready", "results"],
  },

  async call(args, { resources, mounts, offers }, call) {
    const { query, limit, within, typing } = readArguments({
      query: () => neededText(args, "query", maxQueryLength),
      limit: () => countArgument(args, "limit", limits),
      within: () => trimSlash(textArgument(args, "within", maxUriLength), mounts),
      typing: () => flagArgument(args, "typing"),
    });
    const listing = offers("list_resources")
      ? "list_resources lists all resources"
      : "resources/list lists all resources";
    const found = await resources
      .search({ text: query, limit, within, ...(typing && { typing }) }, call)
      .catch(async (cause: unknown) => {
        if (cause instanceof ResourceError && cause.kind === "unsupported")
          throw new ResourceError("unsupported", `nothing here can be searched; ${listing}`, { cause });
        throw within === undefined
          ? cause
          : await withSuggestions(cause, within, { resources, mounts, advice: listing }, call);
      });

    const { matches, similar } = splitHits(found.hits.slice(0, limit));
    const shown = bounded([...matches, ...similar]);
    const ready = Math.min(1, Math.max(0, found.ready));
    const { failures = [] } = found;
    const lines = shown.map(({ hit, snippet }, index) => {
      const path = pathBelowMount(mounts, hit.resource.uri) ?? hit.resource.name;
      const own = ownTitle(hit.resource);
      const title = own === undefined ? "" : ` (${own})`;
      const where = hit.lines ? `, lines ${hit.lines[0]}-${hit.lines[1]}` : "";
      const line = `${index + 1}. ${oneLine(path + title)}${where}\n${hit.resource.uri}${snippet ? `\n${oneLine(snippet)}` : ""}`;
      const isFirstSimilar = index > 0 && index === matches.length;
      return isFirstSimilar ? `These do not match, but are similar:\n\n${line}` : line;
    });
    return {
      content: [
        { type: "text", text: [sayFound(query, shown, found, listing), ...lines].join("\n\n") },
        ...shown.map(({ hit }) => ({ type: "link" as const, resource: hit.resource, isSaid: true })),
      ],
      structuredContent: { ready, ...(failures.length > 0 && { failures }), results: shown.map(toResult) },
    };
  },
};

interface Shown extends Partial<Marked> {
  readonly hit: Hit;
}

interface Marked {
  /** Matches are between « and ». */
  readonly snippet: string;
  /** In the snippet without what was added to it. */
  readonly marks: Marks;
  readonly offset?: number;
}

/** The best results, as many as fit. */
function bounded(hits: readonly Hit[]): readonly Shown[] {
  const shown: Shown[] = [];
  let room = maxTextBytes;
  for (const hit of hits) {
    const marked = hit.snippet === undefined ? undefined : mark(clip(hit.snippet, hit));
    const { uri, name, title = "", description = "" } = hit.resource;
    const said = `${uri}${name}${title}${description}${marked ? marked.snippet + JSON.stringify(marked.marks) : ""}`;
    room -= Buffer.byteLength(said) + 64;
    if (room < 0 && shown.length > 0) break;
    shown.push({ hit, ...marked });
  }
  return shown;
}

function sayFound(query: string, shown: readonly Shown[], found: SearchResult, listing: string): string {
  const { hits, ready, failures = [] } = found;
  if (shown.length === 0 && ready <= 0 && failures.length > 0)
    return `Nothing could be searched for ${quote(query)}. ${sayProblems(failures)}`;
  const index = sayMissing(ready, failures);
  const left = hits.length - shown.length;
  const more = left > 0 ? ` ${left} more are left out because of their length; use a smaller limit.` : "";
  const matches = shown.filter(({ hit }) => hit.isMatch !== false).length;
  if (matches > 0) return `${matches} ${matches === 1 ? "result" : "results"} for ${quote(query)}.${index}${more}`;
  const advice = ready >= 1 ? ` Try other words, or fewer; ${listing}.` : "";
  return shown.length > 0
    ? `No match for ${quote(query)}; these are similar.${index}${advice}${more}`
    : `Nothing found for ${quote(query)}.${index}${advice}`;
}

/** Why there may be more results. */
function sayMissing(ready: number, failures: readonly MountFailure[]): string {
  if (failures.length > 0) return ` Not everything was searched, so there may be more. ${sayProblems(failures)}`;
  if (ready >= 1) return "";
  return ` Only ${Math.max(0, Math.floor(ready * 100))}% of the index is ready, so there may be more: search again in a moment.`;
}

function sayProblems(failures: readonly MountFailure[]): string {
  return sayFailures(failures)
    .map((problem) => `${problem}.`)
    .join(" ");
}

function toResult({ hit: { resource, lines, isMatch }, ...marked }: Shown): Record<string, unknown> {
  const { uri, name, title, mimeType } = resource;
  return { uri, name, title, mimeType, lines: lines && `${lines[0]}-${lines[1]}`, ...marked, isMatch };
}

type Marks = NonNullable<Hit["marks"]>;

interface Clipped {
  readonly text: string;
  readonly marks: Marks;
  readonly offset: number | undefined;
}

/** The piece of a long snippet that begins shortly before the first match. */
function clip(text: string, { marks = [], offset }: Hit, maxLength = maxSnippetLength): Clipped {
  if (text.length <= maxLength) return { text, marks, offset };
  const wanted = Math.max(0, Math.min((marks[0]?.[0] ?? 0) - Math.floor(maxLength / 4), text.length - maxLength));
  const from = wanted + (isSecondHalf(text, wanted) ? 1 : 0);
  const end = from + maxLength;
  const to = end - (isSecondHalf(text, end) ? 1 : 0);
  const inside = marks
    .filter(([first, last]) => last > from && first < to)
    .map(([first, last]) => [Math.max(first, from) - from, Math.min(last, to) - from] as const);
  return { text: text.slice(from, to), marks: inside, offset: offset === undefined ? undefined : offset + from };
}

function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

function mark({ text, marks, offset }: Clipped): Marked {
  const shown: Marks[number][] = [];
  let snippet = "";
  let at = 0;
  for (const [from, to] of marks) {
    if (from < at || to <= from || to > text.length) continue;
    snippet += `${text.slice(at, from)}«${text.slice(from, to)}»`;
    shown.push([from, to]);
    at = to;
  }
  return { snippet: snippet + text.slice(at), marks: shown, ...(offset !== undefined && { offset }) };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}
