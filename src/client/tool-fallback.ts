/** What the protocol has no method for, and a tool of the server may do. */
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Call, Hit, Page, PageRequest, Resource, SearchResult, SearchRequest } from "../resources.ts";
import { isRemoteObject } from "./remote-error.ts";
import { isFailure, toResources } from "./from-wire.ts";

type Loose = Readonly<Record<string, unknown>>;

const mostHits = 50;
const paramsCode = -32602;
/** A server with more tools than this has them from others, too. */
const maxToolPages = 20;

/** What a tool said. */
export interface ToolSaid {
  readonly texts: readonly string[];
  /** What the answer names, with all that is known of it. */
  readonly links: readonly Resource[];
  readonly structured?: Loose;
}

/** For what is no question about resources, and what other servers may not offer. */
export interface ToolUse {
  /** The names of the server's tools. */
  tools(call: Call): Promise<readonly string[]>;
  /** Throws "unsupported" where there is no such tool, and "invalid" with what it said where it failed. May ask twice where an answer was lost. */
  useTool(name: string, args: Loose, call: Call): Promise<ToolSaid>;
}

export async function searchByTool(
  client: Client,
  { text, limit, within, typing }: SearchRequest,
  options: RequestOptions,
): Promise<SearchResult> {
  const args = {
    query: text,
    limit: Math.max(1, Math.min(limit, mostHits)),
    ...(within !== undefined && { within }),
    ...(typing && { typing }),
  };
  const { structured, links } = await callTool(client, "search_resources", args, options, within);
  const found = Array.isArray(structured?.["results"]) ? structured["results"].filter(isRemoteObject) : undefined;
  if (!found) throw unsupported("search_resources");
  const described = new Map(links.map((link) => [link.uri, link]));
  const hits = found
    .map((each, index) => toHit(each, 1 / (index + 1)))
    .filter((hit) => hit !== undefined)
    .map((hit) => ({ ...hit, resource: { ...described.get(hit.resource.uri), ...hit.resource } }));
  const told = structured?.["failures"];
  const failures = Array.isArray(told) ? told.filter(isFailure) : [];
  return {
    hits,
    ready: typeof structured?.["ready"] === "number" ? structured["ready"] : 1,
    ...(failures.length > 0 && { failures }),
  };
}

/** Undefined where the tool gives text for models alone. */
export async function childrenByTool(
  client: Client,
  uri: string,
  { cursor }: PageRequest,
  options: RequestOptions,
): Promise<Page<Resource> | undefined> {
  const args = { within: uri, limit: 500, ...(cursor !== undefined && { cursor }) };
  const { structured } = await callTool(client, "list_resources", args, options, uri);
  if (!Array.isArray(structured?.["resources"])) return undefined;
  const next = structured["cursor"];
  return { items: toResources(structured["resources"]), ...(typeof next === "string" && { next }) };
}

/** Empty where the server has none. */
export async function toolNames(client: Client, options: RequestOptions): Promise<readonly string[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const names: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxToolPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, options);
    names.push(...tools.map(({ name }) => name));
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return names;
}

export async function callTool(
  client: Client,
  name: string,
  args: Loose,
  options: RequestOptions,
  uri?: string,
): Promise<ToolSaid> {
  if (!client.getServerCapabilities()?.tools) throw unsupported(name);
  const result = await client.callTool({ name, arguments: { ...args } }, options).catch((cause: unknown) => {
    // The only parameter that can be wrong before a tool is asked is its name.
    throw (cause as { readonly code?: unknown }).code === paramsCode ? unsupported(name, cause) : cause;
  });
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const { structuredContent: structured } = result;
  if (!result.isError) {
    const links = toResources(result.content.filter(({ type }) => type === "resource_link"));
    return { texts, links, ...(isRemoteObject(structured) && { structured }) };
  }
  const [message = "the tool failed"] = texts;
  // So say those who take the lack of a tool for a failure of it.
  if (/unknown tool|tool .{0,200}not found|(?:nothing here|no mount) can be searched/i.test(message)) throw unsupported(name);
  throw uri !== undefined && /no resource|not found|no directory/i.test(message) ? notFound(uri) : invalid(message);
}

function unsupported(name: string, cause?: unknown): ResourceError {
  return new ResourceError("unsupported", `the server has no tool ${name} to ask for this`, { cause });
}

function toHit(said: Loose, score: number): Hit | undefined {
  const { uri, name, title, mimeType, lines, snippet } = said;
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
    ...(typeof snippet === "string" && unmark(snippet)),
    ...(range && { lines: [Number(range[1]), Number(range[2])] as const }),
  };
}

/** What matched stands between « and » in a text that is made for models. */
function unmark(marked: string): Pick<Hit, "snippet" | "marks"> {
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
