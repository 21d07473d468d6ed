/** Uses tools of the server for what the protocol has no method for. */
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Call, Hit, Page, PageRequest, Resource, SearchResult, SearchRequest } from "../resources.ts";
import { isRemoteObject } from "./remote-error.ts";
import { isFailure, toResources } from "./from-wire.ts";

type Loose = Readonly<Record<string, unknown>>;

const mostHits = 50;
const paramsCode = -32602;
/** Limit on pages of tools; a gateway may have many. */
const maxToolPages = 20;

/** The result of a tool. */
export interface ToolSaid {
  readonly texts: readonly string[];
  /** Resources that the result names, with their metadata. */
  readonly links: readonly Resource[];
  readonly structured?: Loose;
}

/** Access to the server's tools. */
export interface ToolUse {
  /** The names of the server's tools. */
  tools(call: Call): Promise<readonly string[]>;
  /** Throws "unsupported" if there is no such tool, and "invalid" with its message if it failed. May call twice if a response was lost. */
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
    within,
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
  client: Client,
  uri: string,
  { cursor }: PageRequest,
  options: RequestOptions,
): Promise<Page<Resource> | undefined> {
  const args = { within: uri, limit: 500, cursor };
  const { structured } = await callTool(client, "list_resources", args, options, uri);
  if (!Array.isArray(structured?.["resources"])) return undefined;
  const next = structured["cursor"];
  return { items: toResources(structured["resources"]), ...(typeof next === "string" && { next }) };
}

/** Empty if the server has no tools. */
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
    // The only parameter that can be wrong before a tool runs is its name.
    throw (cause as { readonly code?: unknown }).code === paramsCode ? unsupported(name, cause) : cause;
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
    throw unsupported(name);
  throw uri !== undefined && /no resource|not found|no directory/i.test(message) ? notFound(uri) : invalid(message);
}

function unsupported(name: string, cause?: unknown): ResourceError {
  return new ResourceError("unsupported", `the server has no tool ${name}`, { cause });
}

function toHit(hit: Loose, score: number): Hit | undefined {
  const { uri, name, title, mimeType, lines, snippet } = hit;
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

/** In text for models, matches stand between « and ». */
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
