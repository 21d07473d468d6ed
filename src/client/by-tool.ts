/** What the protocol has no method for, and a tool of the server may do. */
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Hit, Page, PageAsk, Resource, SearchAnswer, SearchAsk } from "../resources.ts";
import { isRecord } from "./failure.ts";
import { toResources } from "./from-wire.ts";

type Loose = Readonly<Record<string, unknown>>;

const mostHits = 50;
const paramsCode = -32602;

export async function searchByTool(
  client: Client,
  { text, limit, within }: SearchAsk,
  options: RequestOptions,
): Promise<SearchAnswer> {
  const args = { query: text, limit: Math.max(1, Math.min(limit, mostHits)), ...(within !== undefined && { within }) };
  const said = await callTool(client, "search_resources", args, options, within);
  const found = said && Array.isArray(said["results"]) ? said["results"].filter(isRecord) : undefined;
  if (!found) throw unsupported("search_resources");
  const hits = found.map((each, index) => toHit(each, 1 / (index + 1))).filter((hit) => hit !== undefined);
  return { hits, ready: typeof said?.["ready"] === "number" ? said["ready"] : 1 };
}

/** Undefined where the tool gives text for models alone. */
export async function childrenByTool(
  client: Client,
  uri: string,
  { cursor }: PageAsk,
  options: RequestOptions,
): Promise<Page<Resource> | undefined> {
  const args = { within: uri, limit: 500, ...(cursor !== undefined && { cursor }) };
  const said = await callTool(client, "list_resources", args, options, uri);
  if (!said || !Array.isArray(said["resources"])) return undefined;
  const next = said["cursor"];
  return { items: toResources(said["resources"]), ...(typeof next === "string" && { next }) };
}

async function callTool(
  client: Client,
  name: string,
  args: Loose,
  options: RequestOptions,
  uri: string | undefined,
): Promise<Loose | undefined> {
  if (!client.getServerCapabilities()?.tools) throw unsupported(name);
  const result = await client.callTool({ name, arguments: { ...args } }, options).catch((cause: unknown) => {
    // The only parameter that can be wrong before a tool is asked is its name.
    throw (cause as { readonly code?: unknown }).code === paramsCode ? unsupported(name, cause) : cause;
  });
  if (!result.isError) return isRecord(result.structuredContent) ? result.structuredContent : undefined;
  const [said] = result.content;
  const message = said?.type === "text" ? said.text : "the tool failed";
  // So say those who take the lack of a tool for a failure of it.
  if (/unknown tool|tool .*not found|nothing here can be searched/i.test(message)) throw unsupported(name);
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
