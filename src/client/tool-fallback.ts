/** Uses tools of the server for what the protocol has no method for. */
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Call, Hit, Page, PageRequest, Resource, SearchResult, SearchRequest } from "../resources.ts";
import { answerIn } from "./remote-error.ts";
import { isRemoteObject } from "./is-remote-object.ts";
import { isFailure, toResources } from "./from-wire.ts";
import { type CallToolOptions, noTool, type RemoteTools } from "./remote-tools.ts";

const mostHits = 50;
const paramsCode = -32602;

/** The result of a tool. */
export interface ToolSaid {
  readonly texts: readonly string[];
  /** Resources that the result names, with their metadata. */
  readonly links: readonly Resource[];
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** Access to the server's tools. */
export interface ToolUse {
  /** The names of the server's tools. */
  tools(call: Call): Promise<readonly string[]>;
  /** Throws "unsupported" if there is no such tool, and "invalid" with its message if it failed. */
  useTool(name: string, args: Readonly<Record<string, unknown>>, call: Call): Promise<ToolSaid>;
}

export async function searchByTool(
  tools: RemoteTools,
  { text, limit, within, typing }: SearchRequest,
  call: Call,
): Promise<SearchResult> {
  const args = {
    query: text,
    limit: Math.max(1, Math.min(limit, mostHits)),
    within,
    ...(typing && { typing }),
  };
  const { structured, links } = await useTool(tools, "search_resources", args, call, {
    mayRepeat: true,
    mustBeListed: true,
    uri: within,
  });
  const found = Array.isArray(structured?.["results"]) ? structured["results"].filter(isRemoteObject) : undefined;
  if (!found) throw noTool("search_resources");
  const described = new Map(links.map((link) => [link.uri, link]));
  const hits = found
    .map((each, index) => toHit(each, 1 / (index + 1)))
    .filter((hit) => hit !== undefined)
    .map((hit) => ({ ...hit, resource: { ...described.get(hit.resource.uri), ...hit.resource } }));
  const reported = structured?.["failures"];
  const failures = Array.isArray(reported) ? reported.filter(isFailure) : [];
  return {
    hits,
    ready: typeof structured?.["ready"] === "number" ? structured["ready"] : 1,
    ...(failures.length > 0 && { failures }),
  };
}

/** Undefined if the tool returns only text for models. */
export async function childrenByTool(
  tools: RemoteTools,
  uri: string,
  { cursor }: PageRequest,
  call: Call,
): Promise<Page<Resource> | undefined> {
  const args = { within: uri, limit: 500, cursor };
  const { structured } = await useTool(tools, "list_resources", args, call, {
    mayRepeat: true,
    mustBeListed: true,
    uri,
  });
  if (!Array.isArray(structured?.["resources"])) return undefined;
  const next = structured["cursor"];
  return { items: toResources(structured["resources"]), ...(typeof next === "string" && { next }) };
}

export async function useTool(
  { callTool }: RemoteTools,
  name: string,
  args: Readonly<Record<string, unknown>>,
  call: Call,
  options?: CallToolOptions,
): Promise<ToolSaid> {
  const result = await callTool(name, args, call, options).catch((cause: unknown) => {
    // The only parameter that can be wrong before a tool runs is its name.
    const isUnknown = cause instanceof ResourceError && answerIn(cause.cause)?.code === paramsCode;
    throw isUnknown ? noTool(name, cause) : cause;
  });
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const { structuredContent: structured } = result;
  if (!result.isError) {
    const links = toResources(result.content.filter(({ type }) => type === "resource_link"));
    return { texts, links, ...(isRemoteObject(structured) && { structured }) };
  }
  const [message = "the tool failed"] = texts;
  // Some servers report a missing tool as a failed call.
  if (/unknown tool|tool .{0,200}not found|(?:nothing here|no mount) can be searched/i.test(message))
    throw noTool(name);
  const uri = options?.uri;
  throw uri !== undefined && /no resource|not found|no directory/i.test(message) ? notFound(uri) : invalid(message);
}

function toHit(hit: Readonly<Record<string, unknown>>, score: number): Hit | undefined {
  const { uri, name, title, mimeType, lines, snippet, marks, offset, isMatch } = hit;
  if (typeof uri !== "string") return undefined;
  const range = typeof lines === "string" ? /^(\d+)-(\d+)$/.exec(lines) : undefined;
  return {
    resource: {
      uri,
      name: typeof name === "string" ? name : uri,
      ...(typeof title === "string" && { title }),
      ...(typeof mimeType === "string" && { mimeType }),
    },
    score,
    ...(typeof snippet === "string" && (toPassage(snippet, marks, offset) ?? unmark(snippet))),
    ...(range && { lines: [Number(range[1]), Number(range[2])] as const }),
    ...(typeof isMatch === "boolean" && { isMatch }),
  };
}

type Passage = Pick<Hit, "snippet" | "marks" | "offset">;

/** Removes the « and » that the server added at the marks. Undefined if they are not there. */
function toPassage(marked: string, marks: unknown, offset: unknown): Passage | undefined {
  if (!Array.isArray(marks)) return undefined;
  const valid: [number, number][] = [];
  let snippet = "";
  let at = 0;
  for (const mark of marks as readonly unknown[]) {
    const [from, to] = Array.isArray(mark) ? (mark as readonly unknown[]) : [];
    if (typeof from !== "number" || typeof to !== "number" || from < snippet.length || to <= from) return undefined;
    const opening = at + from - snippet.length;
    const closing = opening + 1 + to - from;
    if (marked[opening] !== "«" || marked[closing] !== "»") return undefined;
    snippet += marked.slice(at, opening) + marked.slice(opening + 1, closing);
    at = closing + 1;
    valid.push([from, to]);
  }
  const isPosition = typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0;
  return { snippet: snippet + marked.slice(at), marks: valid, ...(isPosition && { offset }) };
}

/** For servers that send no marks: there, « and » of the text itself cannot be told from those that were added. */
function unmark(marked: string): Passage {
  const marks: [number, number][] = [];
  let snippet = "";
  let from: number | undefined;
  for (const character of marked) {
    if (character === "«" && from === undefined) from = snippet.length;
    else if (character === "»" && from !== undefined) {
      marks.push([from, snippet.length]);
      from = undefined;
    } else snippet += character;
  }
  return { snippet, marks };
}
